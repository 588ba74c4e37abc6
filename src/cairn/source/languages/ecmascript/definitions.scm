; JavaScript, TypeScript and TSX.
; Here `(_ body: (_))` stands for a function or class expression: no other value has a body.

; Decorators above `export` belong to what is exported.
(export_statement declaration: (_) @wrapped) @wrapper

(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(class_declaration name: (_) @name) @definition.class

; Methods of classes and object literals.
(method_definition name: (_) @name @keyword
  (#set! kinds "@definition.constructor constructor @definition.method *")) @definition

; Functions and classes bound to names, at any depth. The span is that of one name, not of the whole statement,
; because in `var a = function () {...}, b = function () {...}` one must not contain the other.
(variable_declarator name: (identifier) @name value: (_ body: (_) @body) @form
  (#set! kinds "@definition.class class @definition.function *")) @definition

; Function expressions with a name of their own, passed as values.
(function_expression name: (identifier) @name
  (#set! inside "arguments return_statement")) @definition.function

; `module.exports = ...`
(assignment_expression left: (_) @exports right: (_ name: (_) @name body: (_) @body) @form
  (#eq? @exports "module.exports")
  (#set! kinds "@definition.class class @definition.function *")) @definition
(assignment_expression left: (_) @name right: (_ !name body: (_) @body)
  (#eq? @name "module.exports") (#set! omit "module.")) @definition.function

; `name = ...`, `exports.name = ...`, `window.name = ...`
(assignment_expression left: (_) @name right: (_ body: (_) @body) @form
  (#match? @name "^(?:(?:exports|module\\.exports|window|global|globalThis|self)\\.)?[\\w$]+$")
  (#set! omit "module. exports. window. global. globalThis. self.")
  (#set! kinds "@definition.class class @definition.function *")) @definition
; `Type.prototype.name = ...`, `some.object.name = ...`, `this.name = ...`
(assignment_expression left: (_) @name right: (_ body: (_) @body)
  (#match? @name "^[\\w$]+(?:\\.[\\w$]+)+$")
  (#not-match? @name "^(?:exports|module|module\\.exports|window|global|globalThis|self)\\.[\\w$]+$|^this\\.[\\w$]+\\.")
  (#set! omit ".prototype this.")) @definition.method

; Functions in an object literal that has a name. One in the options of a call is no definition.
(pair key: [(property_identifier) (string)] @name value: (_ body: (_) @body)
  (#set! inside "variable_declarator assignment_expression export_statement")
  (#set! within "object satisfies_expression as_expression")) @definition.method

; Object literals with functions, where the file assigns them: `Type.prototype = {...}`, `module.exports = {...}`
(assignment_expression left: (_) @name right: (_ [(method_definition) (pair value: (_ body: (_)))])
  (#match? @name "^(?:[\\w$]+\\.prototype|module\\.exports)$")
  (#set! omit ".prototype module.")) @definition.object

; `export default` of something without a name is called `default`.
(export_statement "default" @name value: (_ body: (_) @body) @form
  (#set! kinds "@definition.class class @definition.function *")) @definition
(export_statement "default" @name value: (object)) @definition.object

; Names bound at module level; `const x = require(...)` is an import. In `(_ "const" ...)` stands a declaration.
(program (_ "const" (_ name: [
    (identifier) @name
    (_ (shorthand_property_identifier_pattern) @name)
    (_ (_ value: (identifier) @name))
    (_ (identifier) @name)]) @definition.constant)
  (#not-match? @definition.constant "^[^=]*=\\s*(?:await import|require)\\("))
(program (_ ["let" "var"] (_ name: (identifier) @name) @definition.variable)
  (#not-match? @definition.variable "^[^=]*=\\s*(?:await import|require)\\("))
(export_statement (_ "const" (_ name: [
  (identifier) @name
  (_ (shorthand_property_identifier_pattern) @name)
  (_ (_ value: (identifier) @name))
  (_ (identifier) @name)]) @definition.constant))
(export_statement (_ ["let" "var"] (_ name: (identifier) @name) @definition.variable))
