; What outlines list besides.
(enumerator name: (identifier) @name) @definition.enumerator
(preproc_def name: (identifier) @name) @definition.macro
