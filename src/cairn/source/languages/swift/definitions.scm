; Attributes and modifiers are part of the declaration's node, so a span starts at `@...` where there is one.
(class_declaration declaration_kind: _ @keyword name: (type_identifier) @name
  (#set! kinds "@definition.class class actor @definition.struct struct @definition.enum enum")) @definition
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

(property_declaration
  name: (_ bound_identifier: (simple_identifier) @name)
  (#set! inside "class_body enum_class_body")) @definition.property
(protocol_property_declaration name: (_ bound_identifier: (simple_identifier) @name)) @definition.property
(property_declaration
  name: (_ bound_identifier: (simple_identifier) @name)
  (#set! inside "source_file")) @definition.variable
(property_declaration
  name: (_ (pattern . (simple_identifier) @name .))
  (#set! inside "source_file")) @definition.variable

(macro_declaration "macro" . (simple_identifier) @name) @definition.macro
(operator_declaration . (_) @name) @definition.operator
(precedence_group_declaration . (simple_identifier) @name) @definition.operator
