; Listed by outlines only.
(enum_value) @name @definition.enumerator
(struct_member name: (identifier) @name) @definition.field
