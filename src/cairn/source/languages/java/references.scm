(method_invocation object: (_)? @receiver name: (identifier) @call)
(object_creation_expression type: (_) @construct)
(explicit_constructor_invocation constructor: (_) @call)
(superclass (_) @inherit)
(super_interfaces (type_list (_) @implement))
(extends_interfaces (type_list (_) @inherit))
[(annotation name: (_) @decorate) (marker_annotation name: (_) @decorate)]
(import_declaration) @import
(package_declaration (_) @package)

(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @var value: (_)? @value))
(enhanced_for_statement type: (_) @type name: (identifier) @var)
(enhanced_for_statement type: (type_identifier) @_var name: (identifier) @item value: (_) @value (#eq? @_var "var"))
(resource type: (_) @type name: (identifier) @var value: (_) @value)
(catch_formal_parameter (catch_type . (_) @type .) name: (identifier) @var)
(assignment_expression left: [(identifier) (field_access)] @var right: [
  (method_invocation) (object_creation_expression) (identifier) (ternary_expression) (cast_expression)] @value)

; Within an anonymous class, `this` is of the type that it extends.
(object_creation_expression type: (_) @type (class_body (method_declaration name: (_) @this)))

(method_reference) @given
(argument_list (identifier) @use)
(formal_parameter type: (type_identifier) @use)
(field_declaration type: (type_identifier) @use)
(class_literal (type_identifier) @use)
(return_statement [
  (method_invocation) (object_creation_expression) (ternary_expression) (cast_expression)] @result)
; What a variable is found to be.
(instanceof_expression left: (identifier) @cast right: (_) @type)
(instanceof_expression right: (_) @type name: (identifier) @var)
