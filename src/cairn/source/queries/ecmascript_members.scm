; What outlines list besides.
(enum_body [
  name: (_) @name @definition.enumerator
  (enum_assignment name: (_) @name) @definition.enumerator])
