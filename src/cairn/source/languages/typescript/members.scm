; Listed by outlines only.
(enum_body [
  name: (_) @name @definition.enumerator
  (enum_assignment name: (_) @name) @definition.enumerator])
; Where a syntax error leaves no more than the head of a definition.
(ERROR "function" . (identifier) @name @definition.function)
(ERROR "class" . (_) @name @definition.class)
