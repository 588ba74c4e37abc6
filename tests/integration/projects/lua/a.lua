function greet_all(x)
  say_hello(x)
end

function say_hello(x) end
