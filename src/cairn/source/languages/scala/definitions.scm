; Annotations and modifiers are part of the definition's node, so a span starts at `@...` where there is one.
(package_clause name: (_) @name body: (_)) @definition.namespace
(package_object name: (_) @name) @definition.object
(class_definition name: (_) @name) @definition.class
(trait_definition name: (_) @name) @definition.trait
(object_definition name: (_) @name) @definition.object
(enum_definition name: (_) @name) @definition.enum
(type_definition name: (_) @name) @definition.type
; A given without a name goes by its type.
(given_definition name: (_) @name) @definition.instance
(given_definition !name return_type: (_) @name body: (_)) @definition.instance

; A method of `extension (s: String)` belongs to the type it extends.
(extension_definition
  parameters: (_ (_ type: [(type_identifier) @receiver (_ type: (_) @receiver)]))
  (_ "def" name: (_) @name) @definition.method)
(function_definition name: (_) @name @keyword
  (#set! kinds "@definition.constructor this @definition.function *")) @definition
(function_declaration name: (_) @name) @definition.function

; Values of a type are its fields, those of a file are variables. Those of a block, or of an anonymous class, whose
; template is in no field, are left out.
(class_parameter ["val" "var"] name: (_) @name) @definition.field
(val_definition pattern: [(identifier) @name (operator_identifier) @name (_ (identifier) @name)]
  (#set! inside "class_definition trait_definition object_definition package_object given_definition enum_definition")
  (#set! within "template_body with_template_body enum_body")) @definition.field
(var_definition pattern: [(identifier) @name (operator_identifier) @name (_ (identifier) @name)]
  (#set! inside "class_definition trait_definition object_definition package_object given_definition enum_definition")
  (#set! within "template_body with_template_body enum_body")) @definition.field
([(val_declaration name: (_) @name) (var_declaration name: (_) @name)] @definition.field
  (#set! inside "template_body"))
(val_definition pattern: [(identifier) @name (operator_identifier) @name (_ (identifier) @name)]
  (#set! inside "compilation_unit")) @definition.variable
(var_definition pattern: [(identifier) (operator_identifier)] @name
  (#set! inside "compilation_unit")) @definition.variable
