(apply function: (variable) @call)
(infix (variable) @call)
; Functions passed as values.
(apply argument: (variable) @use)
(patterns (variable) @bound)
