(extends_clause value: (_) @inherit)
(extends_type_clause type: [(type_identifier) (nested_type_identifier) (generic_type name: (_))] @inherit)
(implements_clause [(type_identifier) (nested_type_identifier) (generic_type)] @implement)
(import_alias) @import
(variable_declarator name: (identifier) @var type: (type_annotation) @type)

(type_annotation (type_identifier) @use)
(type_arguments (type_identifier) @use)
