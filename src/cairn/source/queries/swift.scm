; Attributes and modifiers are part of the declaration's node, so a span starts at `@...` where there is one.
(class_declaration "class" name: (type_identifier) @name) @definition.class
(class_declaration "actor" name: (type_identifier) @name) @definition.class
(class_declaration "struct" name: (type_identifier) @name) @definition.struct
(class_declaration "enum" name: (type_identifier) @name) @definition.enum
(class_declaration "extension" name: (_) @name) @definition.extension
(protocol_declaration name: (type_identifier) @name) @definition.protocol
(typealias_declaration "typealias" . name: _ @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

; The field `name` also holds the return type, hence the `func` before it.
(function_declaration "func" . name: _ @name) @definition.function
(protocol_function_declaration "func" . name: _ @name) @definition.method
(init_declaration name: "init" @name) @definition.constructor
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method
(subscript_declaration "subscript" @name) @definition.method

(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property)? @body) @definition.property)
(enum_class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property)? @body) @definition.property)
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.property
(source_file (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (computed_property)? @body) @definition.variable)
(source_file (property_declaration
  name: (pattern (pattern (simple_identifier) @name))) @definition.variable)

(macro_declaration "macro" . (simple_identifier) @name) @definition.macro
(operator_declaration . (_) @name) @definition.operator
(precedence_group_declaration . (simple_identifier) @name) @definition.operator
