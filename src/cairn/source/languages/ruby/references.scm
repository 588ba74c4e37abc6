(call receiver: (_)? @receiver method: [(identifier) (constant)] @call)
(super) @call
(superclass (_) @inherit)
((call !receiver method: (identifier) @_mixin arguments: (argument_list [(constant) (scope_resolution)] @implement))
  (#any-of? @_mixin "include" "extend" "prepend"))
((call !receiver method: (identifier) @_require arguments: (argument_list . (string))) @import
  (#any-of? @_require "require" "require_relative" "load" "require_dependency"))
((call !receiver method: (identifier) @_autoload arguments: (argument_list . (simple_symbol))) @import
  (#eq? @_autoload "autoload"))

(assignment left: [(identifier) (instance_variable) (class_variable)] @var right: (_) @value)
(operator_assignment left: [(identifier) (instance_variable) (class_variable)] @var operator: ["||=" "&&="] right: (_) @value)
(assignment left: (left_assignment_list) @parts right: (right_assignment_list) @value)
(optional_parameter name: (identifier) @var value: (_) @value)
(keyword_parameter name: (identifier) @var value: (_) @value)
; `let(:name) { value }` of RSpec.
(call !receiver method: (identifier) @_let arguments: (argument_list . (simple_symbol) @var) block: (_ body: (_) @value)
  (#any-of? @_let "let" "let!" "subject" "subject!"))
(call !receiver method: (identifier) @var !arguments block: (_ body: (_) @value)
  (#any-of? @var "subject" "subject!"))
(call !receiver method: (identifier) @_delegate arguments: (argument_list) @delegate
  (#any-of? @_delegate "delegate" "def_delegators" "def_delegator" "def_instance_delegators" "def_instance_delegator"
    "instance_delegate"))
; What a method runs its block on, and what it hands to it.
(call method: (identifier) @_evaluate arguments: (argument_list (block_argument) .)
  (#any-of? @_evaluate "instance_eval" "instance_exec")) @evaluated
(yield (argument_list) @yielded)
(call receiver: (identifier) @_block method: (identifier) @_call arguments: (argument_list) @yielded
  (#any-of? @_block "block" "blk")
  (#eq? @_call "call"))
[(block) (do_block)] @closure

(assignment left: (constant) @var right: [(constant) (scope_resolution)] @value)

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
(element_reference (identifier) @call)
(array (identifier) @call)
(pair value: (identifier) @call)
(if_modifier body: (identifier) @call)
(unless_modifier body: (identifier) @call)
(conditional (identifier) @call)
(operator_assignment right: (identifier) @call)
(right_assignment_list (identifier) @call)
(block_body (identifier) @call)
(splat_argument (identifier) @call)
(hash_splat_argument (identifier) @call)
(parenthesized_statements (identifier) @call)
(while condition: (identifier) @call)
(until condition: (identifier) @call)
(case value: (identifier) @call)
(range (identifier) @call)
(begin (identifier) @call)

; A local variable hides the method of its name.
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(destructured_parameter (identifier) @local)
(lambda_parameters [(identifier) @local (_ name: (identifier) @local)])
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)
(return (argument_list . (_) @result .))
(method body: (_) @result)
(singleton_method body: (_) @result)
(block_argument (simple_symbol)) @use
(argument_list [(constant) (scope_resolution)] @given)
(call receiver: [(constant) (scope_resolution)] @given)
; Callbacks of Rails.
(call !receiver method: (identifier) @_callback arguments: (argument_list (simple_symbol) @given)
  (#match? @_callback "^(?:(?:skip_|prepend_|append_)?(?:before|after|around)_[a-z_]+|validate|helper_method)$"))
; Other symbols that name a method: `if: :late?`, `rescue_from Error, with: :refuse`, `alias_method :new, :old`.
(call !receiver arguments: (argument_list (pair key: (hash_key_symbol) @_option value: [
    (simple_symbol) @given (array (simple_symbol) @given)]))
  (#any-of? @_option "if" "unless" "with"))
(call !receiver method: (identifier) @_hook arguments: (argument_list (simple_symbol) @given)
  (#any-of? @_hook "setup" "teardown" "layout"))
(call !receiver method: (identifier) @_alias arguments: (argument_list . (simple_symbol) . (simple_symbol) @given .)
  (#eq? @_alias "alias_method"))
(call !receiver method: (identifier) @_send arguments: (argument_list . (simple_symbol) @given)
  (#any-of? @_send "send" "__send__" "public_send" "method" "instance_method" "public_method"))
