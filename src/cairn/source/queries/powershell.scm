; The parameters are inside the braces, so a signature ends where the statements begin.
(function_statement (function_name) @name (script_block script_block_body: (_) @body)) @definition.function
(function_statement (function_name) @name) @definition.function

(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.enum
(class_statement . (simple_name) @_class
  (class_method_definition (simple_name) @name (script_block)? @body) @definition.constructor
  (#eq? @name @_class))
(class_method_definition (simple_name) @name (script_block)? @body) @definition.method
(class_property_definition (variable) @name) @definition.property

(program (statement_list (pipeline (assignment_expression
  (left_assignment_expression) @name) @definition.variable)) (#match? @name "^\\$[A-Za-z0-9_:]+$"))
