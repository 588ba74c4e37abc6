; `function M.foo()` and `function M:foo()` belong to M; the name is split.
(function_declaration name: (_) @name) @definition.function

; Values of the file itself: functions by any name, other local names, and fields of a module table.
(chunk [
  (variable_declaration (assignment_statement
    (variable_list . name: (identifier) @name .)
    (expression_list . value: (function_definition) .)))
  (assignment_statement
    (variable_list . name: [(identifier) (dot_index_expression)] @name .)
    (expression_list . value: (function_definition) .))
  (assignment_statement
    (variable_list . name: (bracket_index_expression table: (_) @receiver field: (string content: (_) @name)) .)
    (expression_list . value: (function_definition) .))] @definition.function)
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable
  (#not-match? @definition.variable "= *require\\b"))
(chunk (assignment_statement (variable_list name: [(identifier) (dot_index_expression)] @name)) @definition.variable)

; The functions of a table that is a value of the file: `M = { run = function() end }`, `return { ... }`.
(chunk (variable_declaration (assignment_statement (expression_list (table_constructor
  (field name: [(identifier) @name (string content: (_) @name)] value: (function_definition)) @definition.method)))))
(chunk (assignment_statement (expression_list (table_constructor
  (field name: [(identifier) @name (string content: (_) @name)] value: (function_definition)) @definition.method))))
(chunk (return_statement (expression_list (table_constructor
  (field name: [(identifier) @name (string content: (_) @name)] value: (function_definition)) @definition.function))))
