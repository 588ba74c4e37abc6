; Listed by outlines only.
(enum_entry name: (simple_identifier) @name) @definition.enumerator
