; Annotations and modifiers are part of the declaration's node, so a span starts at `@...` where there is one.
(class_declaration
  (modifiers (_ "enum"))
  name: (identifier) @name
  (enum_class_body)? @body) @definition.enum
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration "class" name: (identifier) @name [(class_body) (enum_class_body)]? @body) @definition.class
; An unnamed companion is left out: its members are called, and listed, as the class's own.
(object_declaration name: (identifier) @name (class_body)? @body) @definition.object
(companion_object name: (identifier) @name (class_body)? @body) @definition.object
(type_alias type: (identifier) @name) @definition.type

; An extension function belongs to the type it extends: `fun <T> List<T>.second()`.
(function_declaration
  [(user_type (identifier) @receiver . (type_arguments)? .)
   (nullable_type (_ (identifier) @receiver . (type_arguments)? .))]
  . name: (identifier) @name
  (function_body)? @body) @definition.method
(object_literal (_ (_ "fun" name: (identifier) @name (function_body)? @body) @definition.method))
(function_declaration name: (identifier) @name (function_body)? @body) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.constructor

; `val` and `var` parameters of a primary constructor are properties.
(class_parameter ["val" "var"] . (identifier) @name) @definition.property
(property_declaration (modifiers (_ "const")) "val" . (_ . (identifier) @name)) @definition.constant
(source_file (_
  (user_type (identifier) @receiver . (type_arguments)? .)
  . (variable_declaration . (identifier) @name)) @definition.property)
(source_file (_ (variable_declaration . (identifier) @name)) @definition.property)
(source_file (_
  (multi_variable_declaration (_ . (identifier) @name))) @definition.property)
(class_body (_ (variable_declaration . (identifier) @name)) @definition.property)
(enum_class_body (_ (variable_declaration . (identifier) @name)) @definition.property)

; The grammar gives up on whole files now and then, such as those with a lambda that begins with `+"..."`; their names remain.
(ERROR ["class" "interface" "object"] . (identifier) @name @definition.class)
