; Listed by outlines only: functions in tables, and functions assigned anywhere.
(field name: [(identifier) @name (string content: (_) @name)] value: (function_definition)) @definition.method
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) .))) @definition.function
((assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name .)
  (expression_list . value: (function_definition) .)) @definition.function
  (#set! inside "chunk block"))
