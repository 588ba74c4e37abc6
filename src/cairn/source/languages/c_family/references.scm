; C and C++.
(call_expression function: (_) @call)
(preproc_include path: (_)) @import
; Functions passed as values; another file may define them.
(argument_list [(identifier) (pointer_expression operator: "&" argument: (identifier))] @given)
(initializer_list [(identifier) (pointer_expression operator: "&" argument: (identifier))] @given)
(initializer_pair value: [(identifier) (pointer_expression operator: "&" argument: (identifier))] @given)
(assignment_expression right: [(identifier) (pointer_expression operator: "&" argument: (identifier))] @given)
(init_declarator value: [(identifier) (pointer_expression operator: "&" argument: (identifier))] @given)
(return_statement (identifier) @given)
(cast_expression value: (identifier) @given)
(parameter_declaration declarator: (identifier) @bound)
(declaration declarator: (identifier) @bound)
(init_declarator declarator: (identifier) @bound)
(pointer_declarator declarator: (identifier) @bound)
(array_declarator declarator: (identifier) @bound)
; A variable that holds a function hides a function of its name: `int (*visit)(int) = 0;`.
(declaration type: (_) @type declarator: [
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @var)))
  (pointer_declarator (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (identifier) @var))))
  (init_declarator declarator: [
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @var)))
    (pointer_declarator (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (identifier) @var))))])])
