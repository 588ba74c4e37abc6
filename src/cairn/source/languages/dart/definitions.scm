; A head and its body are siblings in this grammar: the definition reaches from the one to the end of the other.
(class_definition name: (identifier) @name) @definition.class
(class_definition (mixin_application_class . (identifier) @name)) @definition.class
(mixin_declaration (mixin) . (identifier) @name (class_body) @body) @definition.mixin
(enum_declaration name: (identifier) @name) @definition.enum
(extension_declaration name: (identifier) @name) @definition.extension
(extension_declaration !name class: (_) @name) @definition.extension
(extension_type_declaration name: (identifier) @name) @definition.extension
(type_alias (type_identifier) @name . (type_parameters)? . "=") @definition.type
(type_alias (type_identifier) @name . (type_parameters)? . (formal_parameter_list)) @definition.type

(program (function_signature name: (identifier) @name) @definition.function . (function_body)? @body)
(program (getter_signature name: (identifier) @name) @definition.property . (function_body)? @body)
(program (setter_signature name: (identifier) @name) @definition.property . (function_body)? @body)
(local_function_declaration (lambda_expression
  parameters: (function_signature name: (identifier) @name) body: (_) @body)) @definition.function

; The last part of `Circle.unit` names a constructor: the class is its scope already.
((method_signature [
    (constructor_signature (identifier) . (identifier) @name . (formal_parameter_list))
    (factory_constructor_signature (identifier) @name . (formal_parameter_list))
  ]) @definition.constructor . (function_body)? @body)
; A method without a type before its name looks like a constructor of another class.
(class_definition name: (identifier) @_class body: (class_body
  ((method_signature (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.constructor
    . (function_body)? @body)) (#eq? @_class @name))
(class_definition name: (identifier) @_class body: (class_body
  ((method_signature (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.method
    . (function_body)? @body)) (#not-eq? @_class @name))
(mixin_declaration (class_body
  ((method_signature (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.method
    . (function_body)? @body)))
(extension_body
  ((method_signature (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.method
    . (function_body)? @body))
(enum_body
  ((method_signature (constructor_signature . (identifier) @name . (formal_parameter_list))) @definition.method
    . (function_body)? @body))
(declaration [
    (constructor_signature (identifier) @name . (formal_parameter_list))
    (constant_constructor_signature (identifier) @name . (formal_parameter_list))
    (factory_constructor_signature (identifier) @name . (formal_parameter_list))
    (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
  ]) @definition.constructor

(class_body (method_signature (function_signature name: (identifier) @name)) @definition.method . (function_body)? @body)
(enum_body (method_signature (function_signature name: (identifier) @name)) @definition.method . (function_body)? @body)
(extension_body (method_signature (function_signature name: (identifier) @name)) @definition.method . (function_body)? @body)
((method_signature [
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
  ]) @definition.property . (function_body)? @body)
((method_signature (operator_signature
    "operator" @name . [(binary_operator) "[]" "[]=" "~" "=="] @name)) @definition.method . (function_body)? @body)
(declaration (function_signature name: (identifier) @name)) @definition.method
(declaration (operator_signature "operator" @name . [(binary_operator) "[]" "[]=" "~" "=="] @name)) @definition.method
(declaration [
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
  ]) @definition.property

(declaration (const_builtin) (static_final_declaration_list
  (static_final_declaration . (identifier) @name))) @definition.constant
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @definition.field
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @definition.field
(declaration (identifier_list (identifier) @name)) @definition.field
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @definition.constant))
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @definition.variable))
