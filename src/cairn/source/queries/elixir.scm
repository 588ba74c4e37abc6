; Everything is a call here: what a call defines is told by the name it calls.

; `@doc`, `@spec` and other attributes directly above a definition are its lead, and `@doc`'s text is its doc.
((unary_operator operand: (call
    target: (identifier) @_attribute
    (arguments [(string) (sigil)] @doc))) @wrapper
  . (unary_operator operator: "@")*
  . [(call) (unary_operator)] @wrapped
  (#any-of? @_attribute "doc" "typedoc"))
((unary_operator operand: (call target: (identifier) @_attribute)) @wrapper
  . (unary_operator operator: "@")*
  . (call) @wrapped
  (#any-of? @_attribute "spec" "impl"))

(call
  (do_block (unary_operator operand: (call
    target: (identifier) @_attribute
    (arguments [(string) (sigil)] @doc))))
  (#eq? @_attribute "moduledoc")) @wrapped @wrapper

(call
  target: (identifier) @_definer
  (arguments . (_) @name)
  (do_block) @body
  (#eq? @_definer "defmodule")) @definition.module
(call
  target: (identifier) @_definer
  (arguments . (_) @name)
  (do_block) @body
  (#eq? @_definer "defprotocol")) @definition.protocol
; `defimpl Size, for: BitString` defines the module Size.BitString.
(call
  target: (identifier) @_definer
  (arguments . (alias) @receiver (keywords (pair value: (alias) @name)))
  (do_block) @body
  (#eq? @_definer "defimpl")) @definition.impl
(call
  target: (identifier) @_definer
  (arguments . (alias) @name . (keywords (pair value: [(list) (call) (identifier)]))? .)
  (do_block) @body
  (#eq? @_definer "defimpl")) @definition.impl
(call
  target: (identifier) @name
  (#any-of? @name "defstruct" "defexception")) @definition.struct

; The head is `name(args)`, `name`, `a <> b`, or one of these before `when`.
(call
  target: (identifier) @_definer
  (arguments . [
    (call target: (_) @name)
    (identifier) @name
    (binary_operator left: (call target: (_) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (binary_operator operator: _ @name) operator: "when")
    (binary_operator operator: _ @name)
    (unary_operator operator: _ @name)])
  (do_block)? @body
  (#any-of? @_definer "def" "defp" "defdelegate")
  (#not-eq? @name "when")) @definition.function
(call
  target: (identifier) @_definer
  (arguments . [
    (call target: (_) @name)
    (identifier) @name
    (binary_operator left: (call target: (_) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (binary_operator operator: _ @name) operator: "when")
    (binary_operator operator: _ @name)
    (unary_operator operator: _ @name)])
  (do_block)? @body
  (#any-of? @_definer "defmacro" "defmacrop" "defguard" "defguardp")
  (#not-eq? @name "when")) @definition.macro

(call
  target: (identifier) @_definer
  (arguments . (string (quoted_content) @name))
  (do_block) @body
  (#eq? @_definer "test")) @definition.test

(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_definer
    (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_definer "type" "typep" "opaque")) @definition.type
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_definer
    (arguments . [
      (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")
      (binary_operator left: (binary_operator left: (call target: (identifier) @name)) operator: "when")]))
  (#any-of? @_definer "callback" "macrocallback")) @definition.callback
(call
  target: (identifier) @_definer
  (do_block (unary_operator
    operator: "@"
    operand: (call target: (identifier) @name (arguments))) @definition.constant)
  (#any-of? @_definer "defmodule" "defprotocol" "defimpl")
  ; The attributes that mean something to the compiler or to ExUnit are no constants.
  (#not-match? @name "^(after_(compile|verify)|before_compile|behaviour|(macro)?callback|compile|default_impl|deprecated|derive|describetag|dialyzer|(|module|type)doc|enforce_keys|external_resource|fallback_to_any|impl|(module)?tag|nifs|on_definition|on_load|opaque|optional_callbacks|primary_key|schema_prefix|shortdoc|foreign_key_type|spec|type|typep)$"))
