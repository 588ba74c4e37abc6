; `private def x`, `memoize def x`: the call above a method is part of its lead.
(call arguments: (_ [(method) (singleton_method)] @wrapped)) @wrapper

(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class

; `Point = Struct.new(:x) do ... end` is a class with its own methods.
(assignment
  left: [(constant) (scope_resolution)] @name
  right: (_ receiver: (constant) @keyword method: (identifier) @_new)
  (#any-of? @_new "new" "define")
  (#set! kinds "@definition.class Class Struct Data @definition.module Module")) @definition
(assignment left: [
  (constant) @name
  (scope_resolution) @name
  (left_assignment_list [(constant) (scope_resolution)] @name)]) @definition.constant
(operator_assignment left: [(constant) (scope_resolution)] @name) @definition.constant

(program (method name: (_) @name) @definition.function)
(method name: (_) @name) @definition.method
(singleton_method object: [(identifier) (constant)] @receiver name: (_) @name
  (#set! inside "program")) @definition.method
(singleton_method name: (_) @name) @definition.method

(call
  method: (identifier) @keyword
  arguments: (_ . [(simple_symbol) @symbol (string (string_content) @name)])
  (#set! kinds
    "@definition.method define_method define_singleton_method @definition.alias alias_method")) @definition
(call
  method: (identifier) @_macro
  arguments: (_ [(simple_symbol) @symbol (string (string_content) @name)] @definition.property)
  (#any-of? @_macro "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor" "class_attribute")) @signature

(alias name: [(simple_symbol) @symbol (identifier) @name (setter) @name (operator) @name (global_variable) @name]) @definition.alias
; Rake's tasks and their namespaces, and minitest's `test "..." do`.
(call
  method: (identifier) @keyword
  arguments: (_ . [
    (simple_symbol) @symbol
    (string . (string_content) @name .)
    (_ key: (hash_key_symbol) @name)
    (_ key: (string . (string_content) @name .))
    (_ key: (simple_symbol) @symbol)])
  block: (_)
  (#set! kinds "@definition.task task @definition.namespace namespace @definition.test test")) @definition
