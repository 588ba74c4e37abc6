(call_expression . (_) @call)
(broadcast_call_expression . (_) @call)
; A definition begins like a call of itself.
(signature [
  (call_expression . (_) @head)
  (typed_expression . (call_expression . (_) @head))
  (where_expression . (call_expression . (_) @head))
  (where_expression . (typed_expression . (call_expression . (_) @head)))])
(assignment . [
  (call_expression . (_) @head)
  (typed_expression . (call_expression . (_) @head))
  (where_expression . (call_expression . (_) @head))
  (where_expression . (typed_expression . (call_expression . (_) @head)))])

(type_head (binary_expression (_) (operator) . (_) @inherit))
[(using_statement) (import_statement)] @import
((call_expression . (identifier) @_include) @import
  (#eq? @_include "include"))

(assignment . (identifier) @var . (_) . [(call_expression) (identifier) (field_expression)] @value)
(typed_expression . (identifier) @var . (_) @type)
(argument_list (identifier) @use)
(return_statement [(call_expression) (identifier)] @result)
