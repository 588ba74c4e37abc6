; To the grammar commands are names like any other, in upper or lower case.
(function_def (function_command (argument_list . (argument) @name)) (body) @body) @definition.function
(macro_def (macro_command (argument_list . (argument) @name)) (body) @body) @definition.macro

((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.target
  (#match? @_command "^(?i:add_(library|executable|custom_target))$"))
((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.option
  (#match? @_command "^(?i:(cmake_dependent_)?option)$"))
((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.project
  (#match? @_command "^(?i:project)$"))

; What a file sets at its outer levels; deeper ones are local.
(source_file ((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.variable
  (#match? @_command "^(?i:set)$")))
(source_file (if_condition (body
  ((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.variable
    (#match? @_command "^(?i:set)$")))))
