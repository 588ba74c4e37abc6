(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @inherit)
(new_expression type: (_) @construct)
(compound_literal_expression type: (_) @construct)
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @construct) @made
(field_declaration type: [(type_identifier) (qualified_identifier) (template_type)] @construct
  default_value: (initializer_list)) @made
(field_declaration type: [(qualified_identifier) (template_type)] @type declarator: (reference_declarator (field_identifier) @var))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (identifier) @var value: [
  (call_expression) (new_expression)] @value))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @var)
  value: [(call_expression) (new_expression)] @value))
(declaration type: [(type_identifier) (qualified_identifier) (struct_specifier) (template_type)] @type declarator: [
  (identifier) @var
  (pointer_declarator declarator: (identifier) @var)
  (init_declarator declarator: [(identifier) @var (pointer_declarator declarator: (identifier) @var)])])
(field_declaration type: [(type_identifier) (qualified_identifier) (struct_specifier) (template_type)] @type declarator: [
  (field_identifier) @var
  (pointer_declarator declarator: (field_identifier) @var)])
; `Type x(y);` reads like a function.
(compound_statement (declaration type: [(type_identifier) (qualified_identifier) (template_type)] @type
  declarator: (function_declarator declarator: (identifier) @var)))
(field_initializer . (field_identifier) @construct)
(reference_declarator (identifier) @bound)
(for_range_loop declarator: (identifier) @bound)
(namespace_definition !name body: (_) @unnamed)
