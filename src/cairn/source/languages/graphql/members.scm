; What outlines list besides.
(enum_value_definition (enum_value (name) @name)) @definition.enumerator
