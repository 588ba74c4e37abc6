require_relative 'purse'

module Shop
  module Loud
    def shout_it; end
  end

  class App
    include Loud

    def initialize
      @purse = Purse.new(1)
    end

    def run_all
      @purse.pay(2)
      shout_it
    end
  end
end
