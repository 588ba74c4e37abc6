; A text directly above a definition documents it.
(source_file (string_literal) @wrapper @doc . (_) @wrapped)
(module_definition (string_literal) @wrapper @doc . (_) @wrapped)
; A macro such as `@inline` in front of a definition belongs to it.
(macrocall_expression (macro_argument_list [
  (function_definition)
  (struct_definition)
  (assignment)] @wrapped)) @wrapper

(module_definition name: (identifier) @name) @definition.module

; `Name`, `Name{T}`, either with `<: Above`. Here and below `_` matches inner nodes, since naming them is slow in this grammar.
(struct_definition (type_head [
  (identifier) @name
  (_ . (identifier) @name)
  (_ . (_ . (identifier) @name))])) @definition.struct
(abstract_definition (type_head [
  (identifier) @name
  (_ . (identifier) @name)
  (_ . (_ . (identifier) @name))])) @definition.type
(primitive_definition (type_head [
  (identifier) @name
  (_ . (identifier) @name)])) @definition.type
(macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])
  (#eq? @_macro "enum")) @definition.enum

; Functions inside a type make instances of it: `Name(...)`, `Name{T}(...)`, either with `where`.
(struct_definition (_ . (signature [
  (_ . (identifier) @name . (argument_list))
  (_ . (parametrized_type_expression . (identifier) @name) . (argument_list))
  (_ . (_ . (identifier) @name . (argument_list)))
  (_ . (_ . (parametrized_type_expression . (identifier) @name) . (argument_list)))])) @definition.constructor)
(struct_definition (assignment . [
  (_ . (identifier) @name . (argument_list))
  (_ . (parametrized_type_expression . (identifier) @name) . (argument_list))
  (where_expression . (_ . (identifier) @name . (argument_list)))
  (where_expression . (_ . (parametrized_type_expression . (identifier) @name) . (argument_list)))])
  @definition.constructor)

; `name(...)`, `Module.name(...)`, `Name{T}(...)`, with the type of the result and `where`.
(function_definition (signature [
  (identifier) @name
  (_ . [(identifier) (field_expression) (operator)] @name . (argument_list))
  (_ . (parametrized_type_expression . (identifier) @name) . (argument_list))
  (_ . (_ . [(identifier) (field_expression) (operator)] @name . (argument_list)))
  (_ . (_ . (parametrized_type_expression . (identifier) @name) . (argument_list)))
  (_ . (_ . (_ . [(identifier) (field_expression) (operator)] @name . (argument_list))))])) @definition.function
(assignment . [
  (call_expression . [(identifier) (field_expression)] @name)
  (call_expression . (parametrized_type_expression . (identifier) @name))
  (typed_expression . (_ . [(identifier) (field_expression)] @name . (argument_list)))
  (where_expression . [
    (_ . [(identifier) (field_expression)] @name . (argument_list))
    (_ . (parametrized_type_expression . (identifier) @name) . (argument_list))
    (_ . (_ . [(identifier) (field_expression)] @name . (argument_list)))])]) @definition.function
(macro_definition (signature (call_expression . (identifier) @name))) @definition.macro

(macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . (string_literal (content) @name))
  (#eq? @_macro "testset")) @definition.test

; Names bound at the top of a file or module.
(source_file (assignment . (identifier) @name . (_) . (arrow_function_expression)) @definition.function)
(module_definition (assignment . (identifier) @name . (_) . (arrow_function_expression)) @definition.function)
(const_statement (_ . [
  (identifier) @name
  (_ . (identifier) @name)])) @definition.constant
(source_file (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
(module_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
