; Here `(_ body: (_))` stands for a function or class expression: no other value has a body.
; Where classes must be told apart, their pattern comes first.

; TypeScript and TSX. The parts that JavaScript has too are as in javascript.scm.

; Decorators above `export` belong to what is exported.
(export_statement declaration: (_) @wrapped) @wrapper
; A method's decorators stand beside it in the class body.
((decorator) @wrapper . (method_definition) @wrapped)

(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(function_signature name: (identifier) @name) @definition.function
(class_declaration name: (type_identifier) @name) @definition.class
(abstract_class_declaration name: (type_identifier) @name) @definition.class
(interface_declaration name: (type_identifier) @name) @definition.interface
(type_alias_declaration name: (type_identifier) @name) @definition.type
(enum_declaration name: (identifier) @name) @definition.enum
(internal_module name: [(identifier) (nested_identifier)] @name) @definition.namespace
(module name: [(identifier) (nested_identifier)] @name) @definition.namespace
(module name: (string (string_fragment) @name)) @definition.module

; Members of interfaces, and members without a body.
(interface_body (method_signature name: (_) @name) @definition.method)
(interface_body (property_signature name: [
  (property_identifier) @name
  (computed_property_name) @name
  (string (string_fragment) @name)]) @definition.property)
(class_body (method_signature name: (_) @name (#eq? @name "constructor")) @definition.constructor)
(class_body (method_signature name: (_) @name) @definition.method)
(abstract_method_signature name: (_) @name) @definition.method

; Members of classes and object literals.
(method_definition name: (property_identifier) @name (#eq? @name "constructor")) @definition.constructor
(method_definition name: [
  (property_identifier) @name
  (private_property_identifier) @name
  (computed_property_name) @name
  (number) @name
  (string (string_fragment) @name)]) @definition.method
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: (_ body: (_) @body)) @definition.method
(public_field_definition name: [
  (property_identifier) @name
  (private_property_identifier) @name
  (computed_property_name) @name
  (string (string_fragment) @name)]) @definition.field

; Functions and classes bound to names, at any depth. The span is that of one name, not of the whole statement,
; because in `var a = function () {...}, b = function () {...}` one must not contain the other.
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @definition.function
(assignment_expression left: (identifier) @name right: (class body: (_) @body)) @definition.class
(assignment_expression left: (identifier) @name right: (_ body: (_) @body)) @definition.function

; Function expressions with a name of their own, handed on at once.
(arguments (function_expression name: (identifier) @name) @definition.function)
(return_statement (function_expression name: (identifier) @name) @definition.function)

; `module.exports = ...`
(assignment_expression
  left: (member_expression) @exports
  right: (class name: (type_identifier) @name body: (_) @body)
  (#eq? @exports "module.exports")) @definition.class
(assignment_expression
  left: (member_expression) @exports
  right: (_ name: (identifier) @name body: (_) @body)
  (#eq? @exports "module.exports")) @definition.function
(assignment_expression
  left: (member_expression property: (property_identifier) @name) @exports
  right: (_ !name body: (_) @body)
  (#eq? @exports "module.exports")) @definition.function

; `exports.name = ...`, `window.name = ...`
(assignment_expression
  left: (member_expression object: (_) @object property: (property_identifier) @name)
  right: (class body: (_) @body)
  (#any-of? @object "exports" "module.exports" "window" "global" "globalThis" "self")) @definition.class
(assignment_expression
  left: (member_expression object: (_) @object property: (property_identifier) @name)
  right: (_ body: (_) @body)
  (#any-of? @object "exports" "module.exports" "window" "global" "globalThis" "self")) @definition.function

; `Type.prototype.name = ...`, `some.object.name = ...`, `this.name = ...`
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @receiver property: (property_identifier) @prototype)
    property: (property_identifier) @name)
  right: (_ body: (_) @body)
  (#eq? @prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @receiver property: (property_identifier) @name)
  right: (_ body: (_) @body)
  (#match? @receiver "^[\\w$.]+$")
  (#not-match? @receiver "^(?:exports|module|module\\.exports|window|global|globalThis|self)$|\\.prototype$|^this\\b")) @definition.method
(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: (_ body: (_) @body)) @definition.method

; Functions in an object literal that has a name. One in the options of a call is no definition.
(variable_declarator value: (object (pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: (_ body: (_) @body)) @definition.method))
(variable_declarator value: [
  (satisfies_expression (object (pair
    key: [(property_identifier) @name (string (string_fragment) @name)]
    value: (_ body: (_) @body)) @definition.method))
  (as_expression (object (pair
    key: [(property_identifier) @name (string (string_fragment) @name)]
    value: (_ body: (_) @body)) @definition.method))])
(assignment_expression right: (object (pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: (_ body: (_) @body)) @definition.method))
(export_statement value: (object (pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: (_ body: (_) @body)) @definition.method))

; Object literals with functions, where the file assigns them: `Type.prototype = {...}`, `module.exports = {...}`
(assignment_expression
  left: (member_expression object: (identifier) @name property: (property_identifier) @prototype)
  right: (object [(method_definition) (pair value: (_ body: (_)))])
  (#eq? @prototype "prototype")) @definition.object
(assignment_expression
  left: (member_expression property: (property_identifier) @name) @exports
  right: (object [(method_definition) (pair value: (_ body: (_)))])
  (#eq? @exports "module.exports")) @definition.object

; `export default` of something without a name is called `default`.
(export_statement "default" @name value: (class body: (_) @body)) @definition.class
(export_statement "default" @name value: (_ body: (_) @body)) @definition.function
(export_statement "default" @name value: (object)) @definition.object

; Names bound at module level; `const x = require(...)` is an import.
(program (lexical_declaration "const" (variable_declarator name: [
    (identifier) @name
    (object_pattern (shorthand_property_identifier_pattern) @name)
    (object_pattern (pair_pattern value: (identifier) @name))
    (array_pattern (identifier) @name)]) @definition.constant)
  (#not-match? @definition.constant "^[^=]*=\\s*(?:await import|require)\\("))
(program [
    (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)]
  (#not-match? @definition.variable "^[^=]*=\\s*(?:await import|require)\\("))

; Exported, ambient (`declare`), or in a namespace.
(export_statement (lexical_declaration "const" (variable_declarator name: [
  (identifier) @name
  (object_pattern (shorthand_property_identifier_pattern) @name)
  (object_pattern (pair_pattern value: (identifier) @name))
  (array_pattern (identifier) @name)]) @definition.constant))
(export_statement [
  (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)])
(ambient_declaration [
  (lexical_declaration "const" (variable_declarator name: (identifier) @name) @definition.constant)
  (statement_block (lexical_declaration "const" (variable_declarator name: (identifier) @name) @definition.constant))])
(ambient_declaration [
  (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)
  (statement_block [
    (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)])])
(internal_module body: (statement_block
  (lexical_declaration "const" (variable_declarator name: (identifier) @name) @definition.constant)))
(internal_module body: (statement_block [
  (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)]))
(module body: (statement_block
  (lexical_declaration "const" (variable_declarator name: (identifier) @name) @definition.constant)))
(module body: (statement_block [
  (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)]))
