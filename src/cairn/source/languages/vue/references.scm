; What the markup says, as `template_code.py` leaves it: a name alone is a component, or in a block a handler.
(program (expression_statement (identifier) @import))
(program (expression_statement [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given]))
(statement_block (expression_statement [
  (identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given]))
