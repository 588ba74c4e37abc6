(call_expression . [(simple_identifier) (navigation_expression)] @call)
; The grammar takes `!name(x)` and `a + name(x)` for calls of `!name` and `a + name`.
(call_expression . (prefix_expression operation: (bang) target: [(simple_identifier) (navigation_expression)] @call))
(call_expression . (_ rhs: [(simple_identifier) (navigation_expression)] @call))
(call_expression . (prefix_expression operation: "." target: (simple_identifier)) @implied)
(inheritance_specifier inherits_from: (_) @inherit)
(lambda_literal) @closure
(value_argument value: (simple_identifier) @use)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @var) (type_annotation (_) @type))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @var) value: [
  (call_expression) (navigation_expression) (try_expression) (await_expression) (as_expression) (ternary_expression)
  (nil_coalescing_expression) (if_statement) (tuple_expression)] @value)
(for_statement item: (pattern bound_identifier: (simple_identifier) @item) collection: (_) @value)
(attribute (user_type) @decorate)
(_ bound_identifier: (simple_identifier) @var . "=" . (_) @value)
(switch_pattern (pattern (value_binding_pattern) (pattern bound_identifier: (simple_identifier) @var) (user_type) @type))
