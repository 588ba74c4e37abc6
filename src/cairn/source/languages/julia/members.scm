; Listed by outlines only: fields of structs, and what an enum lists.
(struct_definition (identifier) @name @definition.field)
(struct_definition (typed_expression . (identifier) @name) @definition.field)
(struct_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.field)
(macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . (_) (identifier) @name @definition.enumerator)
  (#eq? @_macro "enum"))
