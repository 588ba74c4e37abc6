; What outlines list besides.
(container_field name: (identifier) @name) @definition.field
