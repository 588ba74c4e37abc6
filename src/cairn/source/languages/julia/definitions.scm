; A text directly above a definition documents it.
(source_file (string_literal) @wrapper @doc . (_) @wrapped)
(module_definition (string_literal) @wrapper @doc . (_) @wrapped)
; A macro such as `@inline` in front of a definition belongs to it.
(macrocall_expression (macro_argument_list [
  (function_definition)
  (struct_definition)
  (assignment)] @wrapped)) @wrapper

(module_definition name: (identifier) @name) @definition.module

; `Name`, `Name{T}`, either with `<: Above`.
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . (identifier) @name)
  (binary_expression . (parametrized_type_expression . (identifier) @name))])) @definition.struct
([(abstract_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (identifier) @name))]))
  (primitive_definition (type_head [
    (identifier) @name
    (binary_expression . (identifier) @name)]))] @definition.type)
(macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])
  (#eq? @_macro "enum")) @definition.enum

; What bears the name of the type around it gives an instance.
(struct_definition (function_definition (signature [
  (call_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
  (where_expression . (call_expression . [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)]))])) @definition.constructor)
(struct_definition (assignment . [
  (call_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
  (where_expression . (call_expression . [
    (identifier) @name
    (parametrized_type_expression . (identifier) @name)]))]) @definition.constructor)

; `name(...)`, `Module.name(...)`, `Name{T}(...)`, with a type of the result and `where`.
(function_definition (signature [
  (call_expression . [(identifier) (field_expression) (operator)] @name)
  (call_expression . (parametrized_type_expression . (identifier) @name))
  (typed_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
  (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
  (where_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
  (where_expression . (typed_expression . (call_expression . [(identifier) (field_expression) (operator)] @name)))
  (identifier) @name])) @definition.function
(assignment . [
  (call_expression . [(identifier) (field_expression)] @name)
  (call_expression . (parametrized_type_expression . (identifier) @name))
  (typed_expression . (call_expression . [(identifier) (field_expression)] @name))
  (where_expression . (call_expression . [(identifier) (field_expression)] @name))
  (where_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
  (where_expression . (typed_expression . (call_expression . [(identifier) (field_expression)] @name)))
  ]) @definition.function
(macro_definition (signature (call_expression . (identifier) @name))) @definition.macro

(macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . (string_literal (content) @name))
  (#eq? @_macro "testset")) @definition.test

; Names bound at the top of a file or module.
(source_file (assignment . (identifier) @name . (_) . (arrow_function_expression)) @definition.function)
(module_definition (assignment . (identifier) @name . (_) . (arrow_function_expression)) @definition.function)
(source_file (const_statement (assignment . [
  (identifier) @name
  (typed_expression . (identifier) @name)])) @definition.constant)
(module_definition (const_statement (assignment . [
  (identifier) @name
  (typed_expression . (identifier) @name)])) @definition.constant)
(source_file (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
(module_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
