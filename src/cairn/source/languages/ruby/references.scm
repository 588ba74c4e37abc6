(call receiver: (_)? @receiver method: [(identifier) (constant)] @call)
(superclass (_) @inherit)
((call !receiver method: (identifier) @_mixin arguments: (argument_list [(constant) (scope_resolution)] @implement))
  (#any-of? @_mixin "include" "extend" "prepend"))
((call !receiver method: (identifier) @_require arguments: (argument_list . (string))) @import
  (#any-of? @_require "require" "require_relative" "load"))

(assignment left: [(identifier) (instance_variable)] @var right: [
  (call) (identifier) (constant) (scope_resolution) (instance_variable)] @value)
(operator_assignment left: [(identifier) (instance_variable)] @var right: (call) @value)

; A name by itself may be a method without arguments.
(body_statement (identifier) @call)
(then (identifier) @call)
(else (identifier) @call)
(argument_list (identifier) @call)
(assignment right: (identifier) @call)
(call receiver: (identifier) @call)
(if condition: (identifier) @call)
(unless condition: (identifier) @call)
(if_modifier condition: (identifier) @call)
(unless_modifier condition: (identifier) @call)
(binary (identifier) @call)
(unary (identifier) @call)
(interpolation (identifier) @call)
(return (argument_list [(call) (identifier)] @result))
(method body: (body_statement [(call) (identifier)] @result .))
(block_argument (simple_symbol)) @use
(argument_list [(constant) (scope_resolution)] @use)
(call receiver: [(constant) (scope_resolution)] @use)
