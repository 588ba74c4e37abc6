; Functions and classes keep their decorators in the lead, so a span starts at `def` or `class`.
(decorated_definition definition: (_) @wrapped) @wrapper

(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @doc)?) @body) @definition.function

(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string) @doc)?) @body) @definition.class

; `type Pair[T] = ...` may be generic.
(type_alias_statement left: (type [
  (identifier) @name
  (generic_type (identifier) @name)])) @definition.type

; Names assigned at module level: a lambda is a function; in capitals a constant, else a variable.
(module (expression_statement
  (assignment left: (identifier) @name right: (lambda body: (_) @body)) @definition.function))
(module (expression_statement (assignment left: (identifier) @name) @definition.constant)
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
(module (expression_statement (assignment left: (identifier) @name) @definition.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @definition.variable))
(module (expression_statement (assignment right: (assignment left: (identifier) @name)) @definition.variable))

; The same under `if TYPE_CHECKING:` and `try:`.
(module [
  (if_statement consequence: (block (expression_statement (assignment left: (identifier) @name) @definition.constant)))
  (try_statement body: (block (expression_statement (assignment left: (identifier) @name) @definition.constant)))]
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
(module [
  (if_statement consequence: (block (expression_statement (assignment left: (identifier) @name) @definition.variable)))
  (try_statement body: (block (expression_statement (assignment left: (identifier) @name) @definition.variable)))])

(class_definition body: (block (expression_statement
  (assignment left: (identifier) @name) @definition.field)))
