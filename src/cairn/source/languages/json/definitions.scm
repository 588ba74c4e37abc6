; The keys of the outermost object, and the scripts of a package.
(document (object (pair key: (string) @name) @definition.key))
(document (object (pair key: (string (string_content) @_key) value: (object
  (pair key: (string) @name) @definition.key)) (#eq? @_key "scripts")))
