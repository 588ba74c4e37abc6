; A chain is a row of siblings in this grammar: its first node, then a selector for each name, index and call.
((identifier) @call . (selector (argument_part)))
([(identifier) (this) (super) (parenthesized_expression) (string_literal) (list_literal)] @receiver
  . (selector)*
  . (selector [(unconditional_assignable_selector (identifier)) (conditional_assignable_selector (identifier))]) @call
  . (selector (argument_part)))
((super) @receiver . (unconditional_assignable_selector (identifier)) @call . (selector (argument_part)))
([(identifier) (this) (super) (parenthesized_expression)] @receiver
  . (selector)*
  . (cascade_section)*
  . (cascade_section (cascade_selector (identifier)) @call . (argument_part)))
; The grammar takes `name<Type>(x)` for two comparisons.
(relational_expression
  (relational_expression
    [(identifier) (this) (parenthesized_expression)] @receiver
    . (selector)*
    . (selector [(unconditional_assignable_selector (identifier)) (conditional_assignable_selector (identifier))]) @call
    . (relational_operator))
  . (relational_operator)
  . (parenthesized_expression))
(relational_expression
  (relational_expression
    (unary_expression (await_expression
      [(identifier) (this) (parenthesized_expression)] @receiver
      . (selector)*
      . (selector [
          (unconditional_assignable_selector (identifier)) (conditional_assignable_selector (identifier))]) @call .))
    . (relational_operator))
  . (relational_operator)
  . (parenthesized_expression))
(relational_expression
  (relational_expression . (identifier) @call . (relational_operator)) . (relational_operator)
  . (parenthesized_expression))
(relational_expression
  (relational_expression . (unary_expression (await_expression . (identifier) @call .)) . (relational_operator))
  . (relational_operator)
  . (parenthesized_expression))
(const_object_expression (type_identifier) @call . [(type_arguments) (arguments)])
(const_object_expression (type_identifier) @receiver . (identifier) @call)
(new_expression . (type_identifier) @call . [(type_arguments) (arguments)])
(new_expression . (type_identifier) @receiver . (identifier) @call)
(initializer_list_entry . (super) @call . (arguments))
(redirection . (this) @receiver . (identifier) @call)

(superclass (type_identifier) @inherit)
(superclass (mixins (type_identifier) @inherit))
(mixin_application (mixins (type_identifier) @inherit))
(mixin_declaration (type_identifier) @inherit)
(interfaces (type_identifier) @implement)
(annotation name: (identifier) @decorate)
[(library_import) (library_export) (part_directive) (part_of_directive)] @import

(argument . (identifier) @given .)
(pair ":" . (identifier) @given .)
(static_final_declaration "=" . (identifier) @given .)
(initialized_identifier "=" . (identifier) @given .)
(initialized_variable_definition "=" . (identifier) @given .)
(function_body "=>" . (identifier) @given .)
[(list_literal (identifier) @given) (conditional_expression (identifier) @given) (return_statement (identifier) @given)]
(assignment_expression right: (identifier) @given)
([(identifier) (this)] @receiver
  . (selector)*
  . (selector [(unconditional_assignable_selector (identifier)) (conditional_assignable_selector (identifier))]) @given)
(named_argument (label) . (identifier) @given .)
(type_cast (type_identifier) @use)

(declaration (type_identifier) @type (initialized_identifier_list (initialized_identifier . (identifier) @var)))
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @var . (_) @value)))
(declaration (type_identifier) @type (static_final_declaration_list (static_final_declaration . (identifier) @var)))
(static_final_declaration . (identifier) @var . (_) @value)
(declaration (type_identifier) @type (identifier_list (identifier) @var))
(program (type_identifier) @type
  . [(initialized_identifier_list (initialized_identifier . (identifier) @var))
     (static_final_declaration_list (static_final_declaration . (identifier) @var))])
(initialized_variable_definition (type_identifier) @type name: (identifier) @var)
(initialized_variable_definition name: (identifier) @var . "=" . value: (_) @value)
(for_loop_parts (type_identifier) @type name: (identifier) @var)
(for_loop_parts !init name: (identifier) @item value: (_) @value)
(try_statement (type_identifier) @type . (catch_clause (catch_parameters . (identifier) @var)))
(assignment_expression left: (assignable_expression) @var right: (_) @value)
(type_test_expression . (identifier) @cast . (type_test (type_identifier) @type))
((method_signature (function_signature)) . (function_body "=>" . (_) @result))
((function_signature) . (function_body "=>" . (_) @result))
(return_statement . (_) @result)
(formal_parameter name: (identifier) @bound)
(initialized_variable_definition name: (identifier) @bound)
(for_loop_parts name: (identifier) @bound)
(catch_parameters (identifier) @bound)
