; What outlines list besides.
(enum_entry name: (simple_identifier) @name) @definition.enumerator
