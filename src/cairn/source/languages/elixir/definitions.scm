; Everything is a call here: the name that is called says what the call defines.

; `@doc`, `@spec` and other attributes directly above a definition are its lead, and `@doc`'s text is its doc.
((unary_operator operand: (_
    target: (identifier) @_attribute
    (_ [(string) (sigil)] @doc))) @wrapper
  . (_ operator: "@")*
  . (_) @wrapped
  (#any-of? @_attribute "doc" "typedoc"))
((unary_operator operand: (_ target: (identifier) @_attribute)) @wrapper
  . (_ operator: "@")*
  . (_ target: (_)) @wrapped
  (#any-of? @_attribute "spec" "impl"))

(call
  (do_block (_ operand: (_
    target: (identifier) @_attribute
    (_ [(string) (sigil)] @doc))))
  (#eq? @_attribute "moduledoc")) @wrapped @wrapper

(_
  target: (identifier) @keyword
  (_ . [(alias) (call) (dot) (tuple)] @name)
  (do_block) @body
  (#any-of? @keyword "defmodule" "defprotocol")
  (#set! kinds "@definition.module defmodule @definition.protocol defprotocol")) @definition
; `defimpl Size, for: BitString` defines the module Size.BitString.
(_
  target: (identifier) @_definer
  (_ . (alias) @receiver (_ (pair value: (alias) @name)))
  (do_block) @body
  (#eq? @_definer "defimpl")) @definition.impl
(_
  target: (identifier) @_definer
  (_ . (alias) @name . (_ (pair value: [(list) (call) (identifier)]))? .)
  (do_block) @body
  (#eq? @_definer "defimpl")) @definition.impl

; The head is `name(args)`, `name`, `a <> b`, or one of these before `when`. A test has a text, a type an `@` before it.
(_
  target: (identifier) @keyword
  (arguments . [
    (_ target: (_) @name)
    (identifier) @name
    (_ left: (_ target: (_) @name) operator: "when")
    (_ left: (identifier) @name operator: "when")
    (_ left: (_ operator: _ @name) operator: "when")
    (binary_operator operator: _ @name)
    (unary_operator operator: _ @name)])
  (do_block)? @body
  (#not-eq? @name "when")
  (#any-of? @keyword "def" "defp" "defdelegate" "defmacro" "defmacrop" "defguard" "defguardp")
  (#set! kinds
    "@definition.function def defp defdelegate @definition.macro defmacro defmacrop defguard defguardp")) @definition
(_
  target: (identifier) @keyword
  (_ . (string (quoted_content) @name))
  (do_block) @body
  (#eq? @keyword "test")) @definition.test
(_
  target: (identifier) @name @keyword
  (#any-of? @keyword "defstruct" "defexception")
  (#set! kinds "@definition.struct defstruct defexception")) @definition

(_
  target: (identifier) @keyword
  (arguments . [
    (_ left: [(identifier) @name (_ target: (identifier) @name)] operator: "::")
    (_ left: (_ left: (_ target: (identifier) @name)) operator: "when")])
  (#any-of? @keyword "type" "typep" "opaque" "callback" "macrocallback")
  (#set! kinds "@definition.type type typep opaque @definition.callback callback macrocallback")
  (#set! up "unary_operator")) @definition
(_
  target: (identifier) @_definer
  (do_block (_ operator: "@" operand: (_ target: (identifier) @name (arguments))) @definition.constant)
  (#any-of? @_definer "defmodule" "defprotocol" "defimpl")
  ; The attributes that mean something to the compiler or to ExUnit are no constants.
  (#not-match? @name "^(after_(compile|verify)|before_compile|behaviour|(macro)?callback|compile|default_impl|deprecated|derive|describetag|dialyzer|(|module|type)doc|enforce_keys|external_resource|fallback_to_any|impl|(module)?tag|nifs|on_definition|on_load|opaque|optional_callbacks|primary_key|schema_prefix|shortdoc|foreign_key_type|spec|type|typep)$"))
