; What TypeScript and TSX add to ecmascript.scm.

; A method's decorators stand beside it in the class body.
(class_body (decorator) @wrapper . (_ parameters: (_)) @wrapped)

(function_signature name: (identifier) @name) @definition.function
(abstract_class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name) @definition.enum
(internal_module name: (_) @name) @definition.namespace
(module name: (_) @name @form
  (#set! kinds "@definition.module string @definition.namespace *")) @definition

; Members of interfaces, and methods without a body.
(interface_body (_ name: (_) @name parameters: (_)) @definition.method)
(interface_body (_ !parameters name: [
  (property_identifier)
  (computed_property_name)
  (string)] @name) @definition.property)
(class_body (_ name: (_) @name @keyword parameters: (_) !body) @definition
  (#set! kinds "@definition.constructor constructor @definition.method *"))

; Fields.
(class_body (_
  name: [(property_identifier) (private_property_identifier)] @name
  value: (_ body: (_) @body)) @definition.method)
(class_body (_ !parameters name: [
  (property_identifier)
  (private_property_identifier)
  (computed_property_name)
  (string)] @name) @definition.field)

; Names bound where `declare` stands, or in a namespace. In `(_ "const" ...)` stands a declaration.
(ambient_declaration (_ "const" (_ name: (identifier) @name) @definition.constant))
(ambient_declaration (_ ["let" "var"] (_ name: (identifier) @name) @definition.variable))
(ambient_declaration (_ (_ "const" (_ name: (identifier) @name) @definition.constant)))
(ambient_declaration (_ (_ ["let" "var"] (_ name: (identifier) @name) @definition.variable)))
(internal_module body: (_ (_ "const" (_ name: (identifier) @name) @definition.constant)))
(internal_module body: (_ (_ ["let" "var"] (_ name: (identifier) @name) @definition.variable)))
(module body: (_ (_ "const" (_ name: (identifier) @name) @definition.constant)))
(module body: (_ (_ ["let" "var"] (_ name: (identifier) @name) @definition.variable)))
