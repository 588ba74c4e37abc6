abstract type Account end

struct Purse <: Account
    coins::Int
    Purse(coins) = new(checked(coins))
end

checked(coins) = coins < 0 ? error("debt") : coins

function pay(purse::Purse, coins::Int)::Purse
    return Purse(purse.coins - coins - fee(coins))
end

fee(coins) = norm([coins])
