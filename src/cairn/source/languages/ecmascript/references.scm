; JavaScript, TypeScript and TSX.
(call_expression function: (_) @call)
; `x.m.call(…)` calls `m`, `x.m.bind(…)` passes it on. A type may have a method `call` itself.
(call_expression function: (member_expression object: (member_expression) @call property: (_) @_calls)
  (#any-of? @_calls "call" "apply"))
(call_expression function: (member_expression object: (identifier) @call property: (_) @_calls)
  (#match? @call "^[^A-Z]") (#any-of? @_calls "call" "apply"))
(call_expression function: (member_expression object: (identifier) @call property: (_) @_calls) arguments: (_ . (this))
  (#match? @call "^[A-Z]") (#any-of? @_calls "call" "apply"))
(call_expression function: (member_expression object: [(identifier) @use (member_expression) @given] property: (_) @_binds)
  (#eq? @_binds "bind"))
(new_expression constructor: (_) @construct)
(decorator (_) @decorate)
[(import_statement) (export_statement source: (_)) (export_statement (export_clause))] @import
(call_expression function: (import)) @import
((call_expression function: (member_expression object: (meta_property) property: (_) @_glob)) @import
  (#any-of? @_glob "glob" "globEager"))
((call_expression function: (identifier) @_require) @import
  (#eq? @_require "require"))
((variable_declarator value: (call_expression function: (identifier) @_require)) @import
  (#eq? @_require "require"))
(export_statement "default" declaration: (_ name: (_) @default))
(export_statement "default" value: (identifier) @default)
(assignment_expression left: (member_expression) @_exports right: (identifier) @default
  (#eq? @_exports "module.exports"))

(variable_declarator name: (identifier) @var value: [
  (call_expression) (new_expression) (await_expression) (identifier) (member_expression) (ternary_expression)
  (binary_expression) (parenthesized_expression) (assignment_expression)] @value)
(assignment_expression left: [(identifier) (member_expression)] @var right: [
  (call_expression) (new_expression) (await_expression) (identifier) (member_expression) (ternary_expression)
  (binary_expression) (parenthesized_expression)] @value)
(for_in_statement left: (identifier) @item operator: "of" right: (_) @value)
(object_pattern) @pattern

(arguments [(arrow_function) (function_expression)] @closure)

; Names passed as values.
(arguments [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(pair value: [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(array [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(return_statement [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(arrow_function body: [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(assignment_expression right: [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(assignment_pattern right: (identifier) @use)
(object_assignment_pattern right: (identifier) @use)
(binary_expression operator: ["||" "&&" "??"] (identifier) @use)
(ternary_expression [consequence: (identifier) alternative: (identifier)] @use)
(variable_declarator value: [(identifier) @use (member_expression object: [(identifier) (this) (member_expression)]) @given])
(shorthand_property_identifier) @use

(return_statement [
  (call_expression) (new_expression) (await_expression) (identifier) (member_expression) (ternary_expression)
  (binary_expression) (parenthesized_expression)] @result)
(arrow_function body: [(call_expression) (new_expression)] @result)
; What a variable is found to be.
(binary_expression left: (identifier) @cast operator: "instanceof" right: (identifier) @type)
