(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @construct)
(base_list (_) @inherit)
(attribute name: (_) @decorate)
(using_directive) @import
(file_scoped_namespace_declaration name: (_) @package)

(variable_declaration type: (_) @type (variable_declarator name: (identifier) @var))
(variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @var [
  (invocation_expression) (object_creation_expression) (identifier) (member_access_expression) (await_expression)
  (conditional_expression) (cast_expression) (as_expression) (binary_expression) (switch_expression)
  (postfix_unary_expression) (parenthesized_expression)] @value))
(assignment_expression left: [(identifier) (member_access_expression)] @var right: [
  (invocation_expression) (object_creation_expression) (identifier) (await_expression) (conditional_expression)
  (cast_expression) (as_expression) (binary_expression)] @value)
(foreach_statement type: (_) @type left: (identifier) @var)
(foreach_statement type: (implicit_type) left: (identifier) @item right: (_) @value)
(declaration_pattern type: (_) @type name: (identifier) @var)
(recursive_pattern type: (_) @type name: (identifier) @var)
(declaration_expression type: (_) @type name: (identifier) @var)
(catch_declaration type: (_) @type name: (identifier) @var)

(argument [(identifier) @use (member_access_expression) @given])
(parameter type: (identifier) @use)
(typeof_expression type: (identifier) @use)
(assignment_expression right: [(identifier) @use (member_access_expression) @given])
(return_statement [
  (invocation_expression) (object_creation_expression) (conditional_expression) (cast_expression) (as_expression)
  (binary_expression)] @result)
; What a variable is found to be.
(is_pattern_expression expression: (identifier) @cast pattern: (constant_pattern (identifier) @type))
; A call behind a statement that is half typed, as in `var y = tot` before a line with `Save(3);`.
(ERROR (implicit_parameter) @call . "(")
(ERROR (ERROR . (identifier) @call .) . [(parameter_list) "("])
(ERROR (ERROR . (identifier) @call . "("))
