(apply function: (variable) @call)
(infix (variable) @call)
