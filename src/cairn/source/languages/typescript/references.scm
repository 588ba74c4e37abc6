(extends_clause value: (_) @inherit)
(extends_type_clause type: [(type_identifier) (nested_type_identifier) (generic_type name: (_))] @inherit)
(implements_clause [(type_identifier) (nested_type_identifier) (generic_type)] @implement)
(import_alias) @import
(variable_declarator name: (identifier) @var type: (type_annotation) @type)
(variable_declarator name: (identifier) @var value: (as_expression (_) [(type_identifier) (generic_type) (nested_type_identifier)] @type))
(variable_declarator name: (identifier) @var value: (non_null_expression [(call_expression) (identifier) (member_expression)] @value))

(type_annotation (type_identifier) @use)
(type_arguments (type_identifier) @use)
