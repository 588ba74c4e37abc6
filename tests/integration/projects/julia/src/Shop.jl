module Shop

using LinearAlgebra: norm
include("money.jl")
include("cart.jl")
export Purse, pay, checkout

end
