; `private def x`, `memoize def x`: the call above a method is part of its lead.
(call arguments: (argument_list [(method) (singleton_method)] @wrapped)) @wrapper

(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class

; `Point = Struct.new(:x) do ... end` is a class with its own methods.
(assignment
  left: [(constant) (scope_resolution)] @name
  right: (call receiver: (constant) @_base method: (identifier) @_new)
  (#any-of? @_base "Class" "Struct" "Data")
  (#any-of? @_new "new" "define")) @definition.class
(assignment
  left: [(constant) (scope_resolution)] @name
  right: (call receiver: (constant) @_base method: (identifier) @_new)
  (#eq? @_base "Module")
  (#eq? @_new "new")) @definition.module
([(assignment left: [(constant) (scope_resolution)] @name)
  (operator_assignment left: [(constant) (scope_resolution)] @name)] @definition.constant)
(assignment left: (left_assignment_list [(constant) (scope_resolution)] @name)) @definition.constant

(program (method name: (_) @name) @definition.function)
(method name: (_) @name) @definition.method
(program (singleton_method object: [(identifier) (constant)] @receiver name: (_) @name) @definition.method)
(singleton_method name: (_) @name) @definition.method

(call
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) @symbol (string (string_content) @name)])
  (#any-of? @_macro "define_method" "define_singleton_method")) @definition.method
(call
  method: (identifier) @_macro
  arguments: (argument_list [(simple_symbol) @symbol (string (string_content) @name)] @definition.property)
  (#any-of? @_macro "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor" "class_attribute")) @signature

(alias name: [(simple_symbol) @symbol (identifier) @name (setter) @name (operator) @name (global_variable) @name]) @definition.alias
(call
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) @symbol (string (string_content) @name)])
  (#eq? @_macro "alias_method")) @definition.alias

; Rake's tasks and their namespaces, and minitest's `test "..." do`.
(call
  method: (identifier) @_macro
  arguments: (argument_list . [
    (simple_symbol) @symbol
    (string . (string_content) @name .)
    (pair key: (hash_key_symbol) @name)
    (pair key: (string . (string_content) @name .))
    (pair key: (simple_symbol) @symbol)])
  block: (_)
  (#eq? @_macro "task")) @definition.task
(call
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) @symbol (string . (string_content) @name .)])
  block: (_)
  (#eq? @_macro "namespace")) @definition.namespace
(call
  method: (identifier) @_macro
  arguments: (argument_list . (string . (string_content) @name .))
  block: (_)
  (#eq? @_macro "test")) @definition.test
