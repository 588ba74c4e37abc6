(function_call name: (_) @call)
(arguments (identifier) @use)
(assignment_statement (variable_list . name: (_) @var) (expression_list . value: (function_call) @value))
; `require("a.b")`, `require "a.b"` and `pcall(require, "a.b")`
((function_call name: (identifier) @_require arguments: (arguments . (string) .)) @import
  (#eq? @_require "require"))
((function_call name: (identifier) @_pcall arguments: (arguments . (identifier) @_require . (string) .)) @import
  (#eq? @_pcall "pcall") (#eq? @_require "require"))
