; `private def x`, `memoize def x`: the call above a method is part of its lead.
(argument_list (_ "def") @wrapped @wrapper
  (#set! up "call"))

(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class

; `Point = Struct.new(:x) do ... end` is a class with its own methods.
(assignment
  left: (_) @name
  right: (_ receiver: (constant) @keyword method: (identifier) @_new)
  (#match? @name "^(?:\\w*::)*[A-Z]\\w*$")
  (#any-of? @_new "new" "define")
  (#set! kinds "@definition.class Class Struct Data @definition.module Module")) @definition
(assignment left: (_) @name
  (#match? @name "^(?:\\w*::)*[A-Z]\\w*$")) @definition.constant
(assignment left: (_ !name !object !receiver [(constant) (scope_resolution)] @name)) @definition.constant
(operator_assignment left: (_) @name
  (#match? @name "^(?:\\w*::)*[A-Z]\\w*$")) @definition.constant

(program (_ "def" !object name: (_) @name) @definition.function)
(method name: (_) @name) @definition.method
(singleton_method object: (_) @receiver name: (_) @name
  (#set! inside "program")) @definition.method
(singleton_method name: (_) @name) @definition.method

(_
  method: (identifier) @keyword
  arguments: (_ . [(simple_symbol) @symbol (string (string_content) @name)])
  (#any-of? @keyword "define_method" "define_singleton_method" "alias_method")
  (#set! kinds
    "@definition.method define_method define_singleton_method @definition.alias alias_method")) @definition
; `%i[a b].each { |name| define_method(name) { ... } }`, and the same by a text that `class_eval` reads.
(call
  receiver: (_ [(bare_string (string_content) @name) (bare_symbol (string_content) @name)] @definition.method)
  method: (identifier) @_each
  block: (_ body: (_ (call method: (identifier) @_define arguments: (argument_list . [(identifier) (heredoc_beginning)]))))
  (#eq? @_each "each")
  (#any-of? @_define "define_method" "define_singleton_method" "module_eval" "class_eval"))
(_
  method: (identifier) @_macro
  arguments: (_ [(simple_symbol) @symbol (string (string_content) @name)] @definition.property)
  (#any-of? @_macro "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor" "class_attribute")) @signature

(alias name: [(simple_symbol) @symbol (identifier) @name (setter) @name (operator) @name (global_variable) @name]) @definition.alias
; Rake's tasks and their namespaces, and minitest's `test "..." do`.
(_
  method: (identifier) @keyword
  arguments: (_ . [
    (simple_symbol) @symbol
    (string . (string_content) @name .)
    (_ key: (hash_key_symbol) @name)
    (_ key: (string . (string_content) @name .))
    (_ key: (simple_symbol) @symbol)])
  block: (_)
  (#any-of? @keyword "task" "namespace" "test")
  (#set! kinds "@definition.task task @definition.namespace namespace @definition.test test")) @definition
