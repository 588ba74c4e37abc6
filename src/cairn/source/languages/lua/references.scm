(function_call name: (_) @call)
(arguments (identifier) @use)
(assignment_statement (variable_list . name: (_) @var) (expression_list . value: (function_call) @value))
