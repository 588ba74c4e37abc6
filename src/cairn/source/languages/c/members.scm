; Listed by outlines only: members of structs and enumerators. C++ lists members anyway.
((field_declaration) @definition (#set! declares "declarator") (#set! kinds "@definition.field *"))
(enumerator name: (identifier) @name) @definition.enumerator
(preproc_def name: (identifier) @name) @definition.macro
