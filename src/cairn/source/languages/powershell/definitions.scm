; The parameters are inside the braces, so a signature ends where the statements begin. Help may be the first thing inside.
(function_statement (function_name) @name . (comment) @doc (script_block)? @body) @definition.function
(function_statement (function_name) @name (script_block script_block_body: (_) @body)) @definition.function
(function_statement (function_name) @name) @definition.function

(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.enum
(class_statement . (simple_name) @_class
  (class_method_definition (simple_name) @name (script_block)? @body) @definition.constructor
  (#eq? @name @_class))
(class_method_definition (simple_name) @name (script_block)? @body) @definition.method
(class_property_definition (variable) @name) @definition.property

; Any expression may be assigned to; a variable, with its type or without, is at the bottom of this chain.
(program (statement_list (pipeline (assignment_expression (left_assignment_expression
  (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
    (format_expression (range_expression (array_literal_expression (unary_expression [
      (variable) @name
      (expression_with_unary_operator (cast_expression (unary_expression (variable) @name)))
    ]))))))))))) @definition.variable)))
