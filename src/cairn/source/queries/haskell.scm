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

; In a class a signature is the method, and the equations of its default continue it.
(class_declarations (signature name: [(variable) @name (prefix_id (_) @name)]) @definition.method)
(class_declarations (signature names: (binding_list name: [(variable) @name (prefix_id (_) @name)])) @definition.method)
(class_declarations [
  (function name: (variable) @name)
  (function (infix operator: [(operator) @name (infix_id (_) @name)]))
  (function name: (prefix_id (_) @name))
  (bind name: (variable) @name)] @definition.method @clause)
(instance_declarations [
  (function name: (variable) @name)
  (function (infix operator: [(operator) @name (infix_id (_) @name)]))
  (function name: (prefix_id (_) @name))
  (bind name: (variable) @name)] @definition.method @clause)

; The equations of a function are one definition.
(declarations [
  (function name: (variable) @name)
  (function (infix operator: [(operator) @name (infix_id (_) @name)]))
  (function (function_head_parens (infix operator: [(operator) @name (infix_id (_) @name)])))
  (function name: (prefix_id (_) @name))
  (bind name: (variable) @name)
  (bind name: (prefix_id (_) @name))] @definition.function @clause)
(declarations (foreign_import (signature name: (variable) @name)) @definition.function)
(declarations (pattern_synonym (equation synonym: [(constructor) @name (apply function: (constructor) @name)])) @definition.function)
