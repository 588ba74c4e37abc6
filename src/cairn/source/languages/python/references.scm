(call function: (_) @call)
(decorator (_) @decorate)
(class_definition superclasses: (_ [(identifier) (attribute) (subscript)] @inherit))
[(import_statement) (import_from_statement)] @import

(assignment left: [(identifier) (attribute)] @var right: [(call) (identifier) (attribute) (await) (conditional_expression) (boolean_operator)]? @value type: (_)? @type)
(as_pattern (call) @value alias: (_ (identifier) @var))
(named_expression name: (_) @var value: (call) @value)

; Names passed as values, and types.
(argument_list [(identifier) (attribute object: (identifier))] @use)
(keyword_argument value: [(identifier) (attribute object: (identifier))] @use)
(pair value: (identifier) @use)
(list (identifier) @use)
(tuple (identifier) @use)
(return_statement (identifier) @use)
(assignment right: (identifier) @use)
(type [(identifier) (attribute)] @use)
(except_clause (identifier) @use)

(return_statement [
  (call) (identifier) (attribute) (await) (conditional_expression) (boolean_operator)] @result)
; What a variable is found to be.
(call function: (identifier) @_isinstance arguments: (argument_list . (identifier) @cast . [(identifier) (attribute)] @type)
  (#eq? @_isinstance "isinstance"))
