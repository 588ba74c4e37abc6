(function_declaration name: (_) @name) @definition.function
(test_declaration [(string (string_content) @name) (identifier) @name] (block) @body) @definition.test

; A type is a value: `const Point = struct { ... };`
(variable_declaration . (identifier) @name (struct_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration "{" @body)) @definition.enum
(variable_declaration . (identifier) @name (union_declaration "{" @body)) @definition.union
(variable_declaration . (identifier) @name (opaque_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (error_set_declaration "{" @body)) @definition.enum
; The names of an enum's values have no type.
(container_field name: (identifier) @name type: (_)) @definition.field

; Values of the file or of a type. Imports, and the name that a type gives itself, define nothing.
([(source_file (variable_declaration "const" . (identifier) @name) @definition.constant)
  (struct_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (enum_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
  (union_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)]
  (#not-match? @definition.constant "^(pub +)?const [^=]+= *@(import|cImport|This)\\b"))
(source_file (variable_declaration "var" . (identifier) @name) @definition.variable)
(struct_declaration (variable_declaration "var" . (identifier) @name) @definition.variable)
