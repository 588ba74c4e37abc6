(call target: (identifier) @call)
(call target: (dot left: [(alias) (identifier)] @_module right: (identifier)) @call
  (#match? @_module "^(?:[A-Z]|__MODULE__$)"))
(binary_operator operator: "|>" right: (identifier) @call)
; A component, as `heex_code.py` leaves it.
(unary_operator operator: "&" operand: (identifier) @call)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @call operator: "/"))
; A function that is called later: `{Shop.Cart, :total, [cart]}`, `apply(Shop.Cart, :total, [cart])`.
(tuple . [(alias) (identifier)] . (atom) @later . (_) .)
(arguments [(alias) (identifier)] . (atom) @later . (list) .)
((call target: (identifier) @_import) @import
  (#any-of? @_import "alias" "import" "require" "use"))
((call target: (identifier) @head)
  (#any-of? @head "defstruct" "defexception" "alias" "import" "require" "use"))

; What a definition or a specification begins with looks like a call of itself, as does an attribute with its value.
(unary_operator operator: "@" operand: (call target: (identifier) @head))
((call target: (identifier) @_definer (arguments . [
    (call target: (identifier) @head)
    (binary_operator left: (call target: (identifier) @head) operator: "when")]))
  (#any-of? @_definer "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"))
((unary_operator operand: (call target: (identifier) @_attribute (arguments . [
    (binary_operator left: (call target: (identifier) @head))
    (binary_operator left: (binary_operator left: (call target: (identifier) @head)))])))
  (#any-of? @_attribute "spec" "callback" "macrocallback" "type" "typep" "opaque"))
((unary_operator operand: (call target: (identifier) @_attribute)) @types
  (#any-of? @_attribute "spec" "callback" "macrocallback" "type" "typep" "opaque"))
