; Listed by outlines only.
(enum_constant name: (identifier) @name) @definition.enumerator
