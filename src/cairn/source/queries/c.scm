; Where a name can stand in a declarator: `name`, `*name`, `**name`, `name[]`, `(*name)(...)`.

(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name)))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name)))]) @definition.function @outer
; `TEST_IMPL(name) {...}` reads as a type and a name.
(function_definition declarator: (parenthesized_declarator (identifier) @name)) @definition.function @outer
; `EXPORT int (name)(...)` reads as a function that returns a function.
(function_definition declarator: (function_declarator declarator: (function_declarator
  parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name) .)))) @definition.function

; A struct, union or enum counts where it has a body. Without a name it goes by that of its typedef;
; a typedef that repeats the name is not listed again.
(struct_specifier name: (type_identifier) @name body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.union
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(type_definition
  type: (struct_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.struct
(type_definition
  type: (union_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.union
(type_definition
  type: (enum_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.enum
(type_definition
  type: [
    (struct_specifier name: (_) @tag body: (_))
    (union_specifier name: (_) @tag body: (_))
    (enum_specifier name: (_) @tag body: (_))]
  declarator: [
    (type_identifier) @name @definition.type
    (pointer_declarator declarator: (type_identifier) @name @definition.type)]
  (#not-eq? @tag @name))
(type_definition
  type: [
    (primitive_type)
    (sized_type_specifier)
    (type_identifier)
    (macro_type_specifier)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)]
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (_ declarator: (type_identifier) @name)
    (_ declarator: (_ declarator: (type_identifier) @name))
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))
    (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name))))]) @definition.type

; `#define NAME` without a value is a switch or a header guard.
(preproc_def name: (identifier) @name value: (_)) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro

; `TEST_CASE("what it does") {...}` reads as a call and a block.
((expression_statement (call_expression
    arguments: (argument_list . (string_literal (string_content) @name)))) @definition.test @outer
  . (compound_statement) @body)

; Prototypes and variables. In a function body `Type name(value);` reads as a prototype.
(declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (identifier) @name))
  (function_declarator declarator: (function_declarator
    parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name) .)))
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name)))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name)))]) @definition.function
  @outer
(declaration declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (_ declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: (identifier) @name)
  (init_declarator declarator: (_ declarator: (identifier) @name))
  (init_declarator declarator: (_ declarator: (_ declarator: (identifier) @name)))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (identifier) @name))))
  (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (identifier) @name))))]) @definition.variable
