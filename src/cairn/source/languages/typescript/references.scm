(extends_clause value: (_) @inherit)
(extends_type_clause type: [(type_identifier) (nested_type_identifier) (generic_type name: (_))] @inherit)
(implements_clause [(type_identifier) (nested_type_identifier) (generic_type)] @implement)
(import_alias) @import
(variable_declarator name: (identifier) @var type: (type_annotation) @type)
(variable_declarator name: (identifier) @var value: [
  (as_expression) (non_null_expression) (satisfies_expression)] @value)
(assignment_expression left: [(identifier) (member_expression)] @var right: [
  (as_expression) (non_null_expression)] @value)
(return_statement [(as_expression) (non_null_expression)] @result)

(type_annotation (type_identifier) @use)
(type_arguments (type_identifier) @use)
(required_parameter value: (identifier) @use)
(optional_parameter value: (identifier) @use)
(public_field_definition value: (identifier) @use)
