; Listed by outlines only: names assigned under `else`, `except`, `with` and loops, at any depth of a module or class.
; Those in functions are dropped: they are local.
(block (expression_statement (assignment left: (identifier) @name) @definition.variable))
(block (expression_statement (assignment left: (pattern_list (identifier) @name)) @definition.variable))
(expression_statement (assignment right: (assignment left: (identifier) @name)) @definition.variable)
(expression_statement (assignment
  right: (assignment right: (assignment left: (identifier) @name))) @definition.variable)
(expression_statement (assignment left: (tuple_pattern (identifier) @name)) @definition.variable)
; Where a syntax error leaves no more than the head of a definition.
(ERROR "def" . (identifier) @name @definition.function)
(ERROR "class" . (identifier) @name @definition.class)
