(call target: [(identifier) (dot)] @call)

; What a definition or a specification begins with looks like a call of itself.
((call target: (identifier) @_definer (arguments . [
    (call target: (identifier) @head)
    (binary_operator left: (call target: (identifier) @head) operator: "when")]))
  (#any-of? @_definer "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"))
((unary_operator operand: (call target: (identifier) @_attribute (arguments . [
    (binary_operator left: (call target: (identifier) @head))
    (binary_operator left: (binary_operator left: (call target: (identifier) @head)))])))
  (#any-of? @_attribute "spec" "callback" "macrocallback" "type" "typep" "opaque"))
