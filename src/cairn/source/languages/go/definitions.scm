(function_declaration name: (identifier) @name) @definition.function

(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (generic_type type: (type_identifier) @receiver)
    (pointer_type (type_identifier) @receiver)
    (pointer_type (generic_type type: (type_identifier) @receiver))
    (parenthesized_type (type_identifier) @receiver)
    (parenthesized_type (pointer_type (type_identifier) @receiver))]))
  name: (field_identifier) @name) @definition.method
(method_elem name: (field_identifier) @name) @definition.method

; In `type (...)`, `const (...)` and `var (...)` each line is a definition, else the declaration with its keyword is.
(type_declaration "(" (type_spec
  name: (type_identifier) @name
  type: (struct_type (field_declaration_list) @body)) @definition.struct)
(type_declaration "(" (type_spec
  name: (type_identifier) @name
  type: (interface_type "{" @body)) @definition.interface)
(type_declaration "(" [
  (type_spec name: (type_identifier) @name)
  (type_alias name: (type_identifier) @name)] @definition.type)
((type_declaration (type_spec
    name: (type_identifier) @name
    type: (struct_type (field_declaration_list) @body))) @definition.struct
  (#not-match? @definition.struct "^type\\s*\\("))
((type_declaration (type_spec
    name: (type_identifier) @name
    type: (interface_type "{" @body))) @definition.interface
  (#not-match? @definition.interface "^type\\s*\\("))
((type_declaration [
    (type_spec name: (type_identifier) @name)
    (type_alias name: (type_identifier) @name)]) @definition.type
  (#not-match? @definition.type "^type\\s*\\("))

; `_` stands for no name. The field `name` of `const A, B = 1, 2` finds only the first name.
(source_file (const_declaration "(" (const_spec (identifier) @name) @definition.constant)
  (#not-eq? @name "_"))
(source_file (const_declaration (const_spec (identifier) @name)) @definition.constant
  (#not-match? @definition.constant "^const\\s*\\(") (#not-eq? @name "_"))

(source_file (var_declaration (var_spec_list (var_spec
  name: (identifier) @name
  value: (expression_list . (func_literal body: (_) @body) .)) @definition.function)))
(source_file (var_declaration (var_spec
  name: (identifier) @name
  value: (expression_list . (func_literal body: (_) @body) .))) @definition.function)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable))
  (#not-eq? @name "_"))
(source_file (var_declaration (var_spec name: (identifier) @name)) @definition.variable
  (#not-eq? @name "_"))
