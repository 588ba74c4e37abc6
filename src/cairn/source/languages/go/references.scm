(call_expression function: (_) @call)
(type_conversion_expression type: (generic_type type: (_) @call))
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @construct)
(import_spec) @import
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @inherit))))
(type_spec type: (interface_type (type_elem (type_identifier) @inherit)))

(field_declaration name: (field_identifier) @var type: (_) @type)
(var_spec name: (identifier) @var type: (_) @type)
(short_var_declaration left: (expression_list . (identifier) @var) right: (expression_list . [
  (call_expression) (identifier) (selector_expression) (composite_literal) (unary_expression)] @value))
(var_spec name: (identifier) @var value: (expression_list . [
  (call_expression) (composite_literal) (unary_expression)] @value))
(short_var_declaration left: (expression_list . (identifier) @var) right: (expression_list . (type_assertion_expression type: (_) @type)))
(func_literal parameters: (parameter_list (parameter_declaration name: (identifier) @var type: (_) @type)))
(range_clause left: (expression_list) right: (call_expression function: (_) @call))

; Functions passed as values; any file of the folder may define them.
(argument_list [(identifier) (selector_expression)] @given)
(keyed_element value: (literal_element [(identifier) (selector_expression)] @given))
(literal_value (literal_element [(identifier) (selector_expression)] @given))
(return_statement (expression_list [(identifier) (selector_expression)] @given))
(assignment_statement right: (expression_list [(identifier) (selector_expression)] @given))
(short_var_declaration right: (expression_list [(identifier) (selector_expression)] @given))
(var_spec value: (expression_list [(identifier) (selector_expression)] @given))
(send_statement value: [(identifier) (selector_expression)] @given)
(parenthesized_expression (identifier) @given)
(parameter_declaration name: (identifier) @bound)
(variadic_parameter_declaration name: (identifier) @bound)
(short_var_declaration left: (expression_list (identifier) @bound))
(range_clause left: (expression_list (identifier) @bound))
(var_spec name: (identifier) @bound)
(const_spec name: (identifier) @bound)
(parameter_declaration type: [(type_identifier) @use (pointer_type (type_identifier) @use)])
