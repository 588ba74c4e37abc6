using Shop
using Shop: checkout
using Test

@testset "a cart is checked out" begin
    @test checkout(Cart(Purse(9), [1, 2])) isa Purse
    @test Shop.fee(1) == 1
end
