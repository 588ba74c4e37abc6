"""
What customers pay.
"""
module Shop

using LinearAlgebra: norm, dot
import Base: show
include("money.jl")
export pay, Purse

const LIMIT = 10
const RATE::Float64 = 0.5
open_shops = 0
double = x -> 2x

"Whatever holds money."
abstract type Account <: Any end
primitive type Word 16 end

"""
    Purse(owner)

A purse, and whose it is.
"""
mutable struct Purse{T<:Real} <: Account
    owner::String
    coins::T
    function Purse(owner)
        new{Int}(owner, 0)
    end
    Purse() = new{Int}("", 0)
    Purse{T}(coins) where {T} = new{T}("", coins)
end

Base.@kwdef struct Point
    x = 0
    y = 0
end

@enum Color red green blue

# Takes coins out of a purse.
function pay(purse::Purse, coins::Int; fee=1)::Int
    purse.coins -= coins + fee
    local_rate = RATE
    halved(n) = n * local_rate
    return check(halved(purse.coins))
end

function Base.show(io::IO, purse::Purse{T}) where {T}
    print(io, purse.owner)
end

function +(one::Purse, other::Purse)
    one.coins + other.coins
end

area(radius) = pi * radius^2
@inline side(surface::T)::T where {T<:Real} = sqrt(surface)
Base.length(purse::Purse) = purse.coins
function check end

macro twice(expression)
    quote
        $expression
        $expression
    end
end

@testset "purses are paid from" begin
    @test pay(Purse("a"), 1) == 3
end

end
