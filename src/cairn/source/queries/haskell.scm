; A type signature belongs to the function below it, and says more than the head of its first equation.
((signature) @wrapper @signature
  . [(comment) (haddock) (pragma)]*
  . [(function) (bind)] @wrapped)

(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(data_family name: (_) @name) @definition.type
(class name: (_) @name declarations: (_)? @body) @definition.class
; `instance Ord a => Ord [a]` is named `Ord [a]`.
(instance name: (_) @name patterns: (_) @name declarations: (_)? @body) @definition.instance
(deriving_instance name: (_) @name patterns: (_) @name) @definition.instance

; In a class a signature is the method, and the equations of its default continue it, as those of a function do.
(class_declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @definition.method)
(class_declarations (signature names: (binding_list name: [(variable) @name (prefix_id (_) @name)])) @definition.method)
([
  (function name: [(variable) @name (prefix_id (_) @name)])
  (function (infix operator: [(operator) @name (_ (_) @name)]))
  (function (function_head_parens (_ operator: [(operator) @name (_ (_) @name)])))
  (bind name: [(variable) @name (prefix_id (_) @name)])] @definition.function @clause
  (#set! inside "declarations class_declarations instance_declarations"))
(declarations (foreign_import (signature name: (variable) @name)) @definition.function)
(declarations (pattern_synonym (equation synonym: [(constructor) @name (apply function: (constructor) @name)])) @definition.function)
