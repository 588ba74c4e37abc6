; Listed by outlines only.
(enumerator name: (identifier) @name) @definition.enumerator
(preproc_def name: (identifier) @name) @definition.macro
