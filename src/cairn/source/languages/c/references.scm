; What C and C++ share, apart from the names of types, is in c_family.scm.
(declaration type: [(type_identifier) (struct_specifier)] @type declarator: [
  (identifier) @var
  (pointer_declarator declarator: (identifier) @var)
  (init_declarator declarator: [(identifier) @var (pointer_declarator declarator: (identifier) @var)])])
(field_declaration type: [(type_identifier) (struct_specifier)] @type declarator: [
  (field_identifier) @var
  (pointer_declarator declarator: (field_identifier) @var)])
