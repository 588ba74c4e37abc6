; Attributes are part of the declaration in this grammar: spans start at the first of them.
(namespace_declaration name: (_) @name) @definition.namespace
; `namespace Name;` does not contain what follows it, so it is no part of the qualified names.
(file_scoped_namespace_declaration name: (_) @name) @definition.namespace

(class_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(struct_declaration name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.record
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.delegate

(constructor_declaration name: (identifier) @name) @definition.constructor
(destructor_declaration name: (identifier) @name) @definition.destructor
(method_declaration name: (identifier) @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function
; Called `operator +` and `operator int`.
(operator_declaration "operator" @name operator: _ @name) @definition.method
(conversion_operator_declaration "operator" @name type: (_) @name) @definition.method

(property_declaration name: (identifier) @name accessors: (_) @body) @definition.property
(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @definition.property
(indexer_declaration "this" @name [(accessor_list) (arrow_expression_clause)] @body) @definition.property
(event_declaration name: (identifier) @name accessors: (_) @body) @definition.event
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.event
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field

; Programs without a `Main` keep their variables at the top.
(compilation_unit (global_statement (local_declaration_statement
  (variable_declaration (variable_declarator name: (identifier) @name)))) @definition.variable)
