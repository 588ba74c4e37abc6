(jsx_opening_element name: (_) @call)
(jsx_self_closing_element name: (_) @call)
(jsx_expression [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
