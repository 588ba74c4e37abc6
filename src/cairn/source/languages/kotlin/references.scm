(call_expression . [(identifier) (navigation_expression)] @call)
(call_expression . (unary_expression argument: (identifier) @call)) ; `!name(x)`, read as a call of `!name`
; The grammar takes `name<Type>(x)` for two comparisons.
(binary_expression
  left: (binary_expression left: [(identifier) (navigation_expression)] @call operator: "<")
  operator: ">"
  right: [(parenthesized_expression) (lambda_literal)])
(delegation_specifier [(constructor_invocation (user_type) @inherit) (user_type) @inherit])
(annotation [(user_type) @decorate (constructor_invocation (user_type) @decorate)])
(import) @import
(package_header (qualified_identifier) @package)

(property_declaration (variable_declaration . (identifier) @var . (_)? @type) [
  (call_expression) (identifier) (navigation_expression)]? @value)
(assignment . (_) @var [(call_expression) (identifier)] @value)

(callable_reference (identifier) @use)
(value_argument [(identifier) (navigation_expression)] @use .)
(parameter (user_type (identifier) @use))
(return_expression (call_expression) @result)
(function_body [(call_expression) (identifier)] @result)
