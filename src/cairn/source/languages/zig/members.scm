; Listed by outlines only.
(container_field name: (identifier) @name) @definition.field
