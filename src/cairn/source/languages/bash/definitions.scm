(function_definition name: (_) @name) @definition.function

; Variables of the script itself; those of functions are mostly temporary.
(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (variable_assignments (variable_assignment name: (variable_name) @name) @definition.variable))
(program (declaration_command "readonly" (variable_assignment name: (variable_name) @name) @definition.constant) @signature)
(program (declaration_command (variable_assignment name: (variable_name) @name) @definition.variable) @signature)
