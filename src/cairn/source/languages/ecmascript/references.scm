; JavaScript, TypeScript and TSX.
(call_expression function: (_) @call)
(new_expression constructor: (_) @construct)
(decorator (_) @decorate)
[(import_statement) (export_statement source: (_)) (export_statement (export_clause))] @import
((variable_declarator value: (call_expression function: (identifier) @_require)) @import
  (#eq? @_require "require"))
(export_statement "default" declaration: (_ name: (_) @default))
(export_statement "default" value: (identifier) @default)
(assignment_expression left: (member_expression) @_exports right: (identifier) @default
  (#eq? @_exports "module.exports"))

(variable_declarator name: (identifier) @var value: [
  (call_expression) (new_expression) (await_expression) (identifier) (member_expression)] @value)
(variable_declarator name: (identifier) @var value: (binary_expression operator: ["??" "||"]
  [(call_expression) (new_expression) (identifier) (member_expression)] @value))
(assignment_expression left: [(identifier) (member_expression)] @var right: [
  (call_expression) (new_expression) (identifier) (member_expression)] @value)

; Names passed as values.
(arguments [(identifier) (member_expression object: [(identifier) (this)])] @use)
(pair value: (identifier) @use)
(array (identifier) @use)
(return_statement (identifier) @use)
(variable_declarator value: (identifier) @use)
(shorthand_property_identifier) @use

(return_statement [(call_expression) (new_expression) (identifier) (member_expression)] @result)
(arrow_function body: [(call_expression) (new_expression)] @result)
