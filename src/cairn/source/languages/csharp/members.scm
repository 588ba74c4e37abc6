; Listed by outlines only.
(enum_member_declaration name: (identifier) @name) @definition.enumerator
