; Appending and values for a single target define nothing. Without spaces, `A+=b` comes as a name that ends in a plus.
((variable_assignment !target_or_pattern name: (word) @name ["=" ":=" "::=" "?="]) @definition.variable
  (#not-match? @name "\\+$"))
(shell_assignment name: (word) @name) @definition.variable
(define_directive name: (word) @name) @definition.macro
((rule (targets [(word) (concatenation) (variable_reference)] @name)) @definition.target
  (#not-match? @name "^\\.[A-Z_]+$"))
