(call_expression function: (_) @call)
(instance_expression . (_) @construct)
(extends_clause type: (_) @inherit)
(import_declaration) @import
(package_clause name: (_) @package)
(val_definition pattern: (identifier) @var type: (_)? @type value: (_)? @value)
(arguments (identifier) @use)
(annotation name: (_) @decorate)
