greet_all(1)
