; Listed by outlines only: fields, variants, and modules in other files.
(field_declaration name: (field_identifier) @name) @definition.field
(enum_variant name: (identifier) @name) @definition.enumerator
(mod_item name: (identifier) @name) @definition.module
