(call target: [(identifier) (dot)] @call)
