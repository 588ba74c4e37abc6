(call_expression . [(simple_identifier) (navigation_expression)] @call)
(inheritance_specifier inherits_from: (_) @inherit)
(value_argument value: (simple_identifier) @use)
(property_declaration name: (pattern bound_identifier: (simple_identifier) @var) (type_annotation (_) @type))
(property_declaration name: (pattern bound_identifier: (simple_identifier) @var) value: [
  (call_expression) @value (navigation_expression) @value
  (try_expression (call_expression) @value) (await_expression (call_expression) @value)
  (try_expression (await_expression (call_expression) @value))])
(attribute (user_type) @decorate)
