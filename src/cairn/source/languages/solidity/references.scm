(call_expression function: (_) @call)
(inheritance_specifier ancestor: (_) @inherit)
(import_directive) @import
