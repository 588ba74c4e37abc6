; Here `(_ body: (_))` stands for a function or class expression: no other value has a body.
; Where classes must be told apart, their pattern comes first.

; Decorators above `export` belong to what is exported.
(export_statement declaration: (_) @wrapped) @wrapper

(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(class_declaration name: (identifier) @name) @definition.class

; Members of classes and object literals.
(method_definition name: (property_identifier) @name (#eq? @name "constructor")) @definition.constructor
(method_definition name: [
  (property_identifier) @name
  (private_property_identifier) @name
  (computed_property_name) @name
  (number) @name
  (string (string_fragment) @name)]) @definition.method
(field_definition
  property: [(property_identifier) (private_property_identifier)] @name
  value: (_ body: (_) @body)) @definition.method
(field_definition property: [
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
  right: (class name: (identifier) @name body: (_) @body)
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
(export_statement declaration: (lexical_declaration "const" (variable_declarator name: [
  (identifier) @name
  (object_pattern (shorthand_property_identifier_pattern) @name)
  (object_pattern (pair_pattern value: (identifier) @name))
  (array_pattern (identifier) @name)]) @definition.constant))
(export_statement declaration: [
  (lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)])
