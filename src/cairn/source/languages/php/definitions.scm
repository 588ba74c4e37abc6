; Attributes and modifiers are part of the declaration's node, so a span starts at `#[...]` where there is one.
(namespace_definition name: (_) @name body: (_)) @definition.namespace
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.trait
(enum_declaration name: (name) @name) @definition.enum

(method_declaration name: (name) @name (#eq? @name "__construct")) @definition.constructor
(method_declaration name: (name) @name) @definition.method
(function_definition name: (name) @name) @definition.function

; Several names of one statement share its node, and so its modifiers and type.
(const_declaration (const_element . (name) @name)) @definition.constant
(property_declaration (property_element name: (variable_name (name) @name))) @definition.property
(expression_statement (function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define"))) @definition.constant

(program (expression_statement (assignment_expression
  left: (variable_name (name) @name)
  right: [(anonymous_function) (arrow_function)])) @definition.function)
(program (expression_statement (assignment_expression left: (variable_name (name) @name))) @definition.variable)
