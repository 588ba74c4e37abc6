; What outlines list besides.
(enum_member_declaration name: (identifier) @name) @definition.enumerator
