(call_expression . (_) @call)
(broadcast_call_expression . (_) @call)
; A definition begins like a call of itself.
(signature [
  (_ . (_) @head . (argument_list))
  (_ . (_ . (_) @head . (argument_list)))
  (_ . (_ . (_ . (_) @head . (argument_list))))])
(assignment . [
  (call_expression . (_) @head)
  (typed_expression . (_ . (_) @head . (argument_list)))
  (where_expression . (_ . (_) @head . (argument_list)))
  (where_expression . (_ . (_ . (_) @head . (argument_list))))])

(type_head (_ (_) (operator) . [(identifier) (field_expression)] @inherit))
(type_head (_ (_) (operator) . (parametrized_type_expression . (_) @inherit)))
[(using_statement) (import_statement)] @import
((call_expression . (identifier) @_include) @import
  (#eq? @_include "include"))

(assignment . (identifier) @var . (_) . [(call_expression) (identifier) (field_expression)] @value)
(typed_expression . (identifier) @var . (_) @type)
(argument_list (identifier) @use)
(return_statement [(call_expression) (identifier)] @result)
