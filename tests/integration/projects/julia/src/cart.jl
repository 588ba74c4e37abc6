struct Cart
    purse::Purse
    prices::Vector{Int}
end

function checkout(cart::Cart)
    total = sum(fee.(cart.prices))
    return pay(cart.purse, total)
end

function norm_of(prices)
    norm(prices)
end
