(call_expression function: (_) @call)
(instance_expression . (_) @construct)
(extends_clause type: (_) @inherit)
(import_declaration) @import
(package_clause name: (_) @package)
(val_definition pattern: (identifier) @var type: (_)? @type value: (_)? @value)
; A method without arguments is called like a value is read.
(field_expression field: (identifier)) @given
[(block (identifier) @use)
 (template_body (identifier) @use)
 (function_definition body: (identifier) @use)
 (infix_expression left: (identifier) @use)
 (infix_expression right: (identifier) @use)
 (arguments (identifier) @use)]
(lambda_expression) @closure
(arguments (_) @closure (#match? @closure "^[-!]?_\\."))  ; `_.total`
(annotation name: (_) @decorate)
