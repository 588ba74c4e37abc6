; What differs from TypeScript; the rest is in ecmascript.scm.

(class_body (_
  property: [(property_identifier) (private_property_identifier)] @name
  value: (_ body: (_) @body)) @definition.method)
(class_body (_ property: [
  (property_identifier)
  (private_property_identifier)
  (computed_property_name)
  (string)] @name) @definition.field)
