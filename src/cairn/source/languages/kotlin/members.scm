; Listed by outlines only.
(enum_entry . (identifier) @name) @definition.enumerator
(enum_entry (modifiers) . (identifier) @name) @definition.enumerator
; Where the grammar fails, the head of a function may remain.
(ERROR "fun" . (identifier) @name @definition.function)
