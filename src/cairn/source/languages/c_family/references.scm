; C and C++.
(call_expression function: (_) @call)
(preproc_include path: (_)) @import
; Functions passed as values.
(argument_list [(identifier) (pointer_expression argument: (identifier))] @use)
(initializer_list (identifier) @use)
(initializer_pair value: (identifier) @use)
(assignment_expression right: (identifier) @use)
(init_declarator value: (identifier) @use)
