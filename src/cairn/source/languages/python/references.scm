(call function: (_) @call)
(decorator (_) @decorate)
(class_definition superclasses: (_ [(identifier) (attribute) (subscript)] @inherit))
[(import_statement) (import_from_statement)] @import

(assignment left: [(identifier) (attribute)] @var right: [(call) (identifier) (attribute) (await) (conditional_expression) (boolean_operator)]? @value type: (_)? @type)
(as_pattern (call) @value alias: (_ (identifier) @var))
(named_expression name: (_) @var value: (call) @value)
; Variables that hide what else has their name.
(for_statement left: [(identifier) @local (_ (identifier) @local)])
(for_in_clause left: [(identifier) @local (_ (identifier) @local)])
(as_pattern . [(identifier) (attribute) (subscript) (tuple) (await)] alias: (_ (identifier) @local))
(lambda_parameters [(identifier) @local (_ . (identifier) @local)])

; Names passed as values, and types.
(argument_list [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(keyword_argument value: [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(default_parameter value: [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(typed_default_parameter value: [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(pair value: [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(list [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(tuple [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(set [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(expression_list [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(return_statement [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(yield [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(lambda body: [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(assignment right: [(identifier) @use (attribute object: [(identifier) (attribute)]) @given])
(conditional_expression (identifier) @use)
(boolean_operator (identifier) @use)
(type [(identifier) (attribute)] @use)
(except_clause (identifier) @use)

(return_statement [
  (call) (identifier) (attribute) (await) (conditional_expression) (boolean_operator)] @result)
; What a variable is found to be.
(call function: (identifier) @_isinstance arguments: (argument_list . (identifier) @cast . [(identifier) (attribute)] @type)
  (#eq? @_isinstance "isinstance"))
