module Shop
  class Purse
    def initialize(sum)
      @sum = sum
    end

    def pay(amount)
      check_funds amount
    end

    def check_funds(amount); end
  end
end
