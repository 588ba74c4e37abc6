(call_expression . [(identifier) (navigation_expression)] @call)
(call_expression . (unary_expression argument: (identifier) @call)) ; `!name(x)`, read as a call of `!name`
; The grammar takes `name<Type>(x)` for two comparisons.
(binary_expression
  left: (binary_expression left: [(identifier) (navigation_expression)] @call operator: "<")
  operator: ">"
  right: [(parenthesized_expression) (lambda_literal)])
(delegation_specifier [
  (constructor_invocation (user_type) @inherit) (user_type) @inherit (explicit_delegation . (user_type) @inherit)])
(annotation [(user_type) @decorate (constructor_invocation (user_type) @decorate)])
(import) @import
(package_header (qualified_identifier) @package)

(property_declaration (variable_declaration . (identifier) @var . (_)? @type) [
  (call_expression) (identifier) (navigation_expression) (as_expression) (if_expression) (when_expression)
  (try_expression) (binary_expression) (unary_expression) (parenthesized_expression) (index_expression)
  (getter)]? @value)
(assignment . (_) @var right: [
  (call_expression) (identifier) (navigation_expression) (as_expression) (if_expression) (when_expression)
  (binary_expression) (unary_expression)] @value)
(for_statement (variable_declaration . (identifier) @item) . (_) @value)
(for_statement (variable_declaration . (identifier) @var (_) @type))

(lambda_literal) @closure
(callable_reference (identifier) @given)
(value_argument [(identifier) (navigation_expression)] @use .)
(parameter (user_type (identifier) @use))
(return_expression [(call_expression) (as_expression) (if_expression) (when_expression) (binary_expression)] @result)
(function_body [
  (call_expression) (identifier) (as_expression) (if_expression) (when_expression) (binary_expression)
  (unary_expression)] @result)
; What a variable is found to be.
(is_expression left: [(identifier) (this_expression)] @cast right: (_) @type)
(when_expression (when_subject [(identifier) (this_expression)] @cast) (when_entry condition: (type_test (_) @type)))
