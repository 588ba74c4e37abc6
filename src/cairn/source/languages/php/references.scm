(function_call_expression function: [(name) (qualified_name) (variable_name)] @call)
(member_call_expression object: (_) @receiver name: (name) @call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @call)
(scoped_call_expression scope: (_) @receiver name: (name) @call)
(object_creation_expression . [(name) (qualified_name) (relative_scope)] @construct)
(base_clause (_) @inherit)
(class_interface_clause (_) @implement)
(declaration_list (use_declaration [(name) (qualified_name)] @implement))
(attribute (_) @decorate)
(namespace_use_declaration) @import
[(require_once_expression) (require_expression) (include_expression) (include_once_expression)] @import
(namespace_definition name: (_) @package)

(assignment_expression left: [(variable_name) (member_access_expression)] @var right: [
  (object_creation_expression) (member_call_expression) (function_call_expression) (scoped_call_expression)
  (variable_name) (member_access_expression) (conditional_expression) (binary_expression) (match_expression)
  (clone_expression) (assignment_expression) (parenthesized_expression)] @value)
(foreach_statement . (_) @value . [(variable_name) @item (pair (_) (variable_name) @item)])
(comment) @doc
(anonymous_function parameters: (formal_parameters (simple_parameter type: (_) @type name: (_) @var)))
(arrow_function parameters: (formal_parameters (simple_parameter type: (_) @type name: (_) @var)))
(catch_clause type: (type_list . (_) @type .) name: (_) @var)

(class_constant_access_expression . [(name) (qualified_name)] @use)
(simple_parameter type: (named_type (_) @use))
(binary_expression right: (name) @use)
(return_statement [(object_creation_expression) (member_call_expression) (function_call_expression)
  (scoped_call_expression) (variable_name) (conditional_expression) (binary_expression) (match_expression)
  (clone_expression)] @result)
; What a variable is found to be.
(binary_expression left: (variable_name) @cast operator: "instanceof" right: [(name) (qualified_name)] @type)
