; Listed by outlines only.
(enum_value_definition (enum_value (name) @name)) @definition.enumerator
