; What outlines list besides.
(enum_constant name: (identifier) @name) @definition.enumerator
