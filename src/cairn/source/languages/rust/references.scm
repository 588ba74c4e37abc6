(call_expression function: (_) @call)
(struct_expression name: (_) @construct)
(macro_invocation macro: (_) @macro)
(attribute_item (attribute . (_) @decorate))
(impl_item trait: (_) @implement)
(trait_item bounds: (trait_bounds (_) @inherit))
[(use_declaration) (extern_crate_declaration)] @import
((mod_item !body) @import)

(field_declaration name: (_) @var type: (_) @type)
(struct_item body: (ordered_field_declaration_list) @fields)
(let_declaration pattern: [(identifier) (mut_pattern (identifier))] @var type: (_)? @type value: [
  (call_expression) (identifier) (field_expression) (struct_expression) (try_expression) (await_expression)
  (index_expression) (scoped_identifier) (reference_expression) (if_expression) (match_expression)
  (unsafe_block)]? @value)
(let_declaration pattern: (tuple_pattern) @parts value: (_) @value)
(static_item name: (identifier) @var type: (_) @type)
(enum_variant name: (identifier) @variant body: (ordered_field_declaration_list) @fields)
[(tuple_struct_pattern) (struct_pattern)] @pattern
(for_expression pattern: [(identifier) (mut_pattern (identifier))] @item value: (_) @value)
; `Some(name)` and `Ok(name)`.
(let_declaration pattern: (tuple_struct_pattern
  type: (identifier) @_holder . [(identifier) (mut_pattern (identifier)) (ref_pattern (identifier))] @content .) value: (_) @value
  (#any-of? @_holder "Some" "Ok"))
(let_condition pattern: (tuple_struct_pattern
  type: (identifier) @_holder . [(identifier) (mut_pattern (identifier)) (ref_pattern (identifier))] @content .) value: (_) @value
  (#any-of? @_holder "Some" "Ok"))
(match_expression value: (_) @value body: (_ (match_arm pattern: (match_pattern (tuple_struct_pattern
  type: (identifier) @_holder . [(identifier) (mut_pattern (identifier)) (ref_pattern (identifier))] @content .))))
  (#any-of? @_holder "Some" "Ok"))

(closure_expression) @closure
(arguments [(identifier) (scoped_identifier)] @use)
(token_tree (identifier) @token)
(parameter type: [(type_identifier) @use (reference_type type: (type_identifier) @use)])
(generic_type type: (type_identifier) @use)
; Calls in the arguments of macros; the dot looks past punctuation, so that what follows is checked again.
(token_tree (identifier) @loose . (token_tree))
