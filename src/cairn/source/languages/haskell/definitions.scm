; A type signature belongs to the function below it, and says more than the head of its first equation. What has a
; `match` is a function or a binding.
(declarations (signature) @wrapper @signature . [(comment) (haddock) (pragma)]* . (_ match: (_)) @wrapped)
(class_declarations (signature) @wrapper @signature . [(comment) (haddock) (pragma)]* . (_ match: (_)) @wrapped)
(instance_declarations (signature) @wrapper @signature . [(comment) (haddock) (pragma)]* . (_ match: (_)) @wrapped)

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
(class_declarations (_ name: [(variable) @name (_ . "(" (_) @name)] type: (_)) @definition.method)
(class_declarations (_ names: (_ name: [(variable) @name (_ . "(" (_) @name)])) @definition.method)
(declarations (_ !type name: [(variable) @name (_ . "(" (_) @name)]) @definition.function @clause)
(declarations (_ !name !type !pattern . [
  (_ operator: [(operator) @name (_ (_) @name)])
  (_ . "(" (_ operator: [(operator) @name (_ (_) @name)]))] match: (_)) @definition.function @clause)
(class_declarations (_ !type name: [(variable) @name (_ . "(" (_) @name)]) @definition.function @clause)
(class_declarations (_ !name !type !pattern . [
  (_ operator: [(operator) @name (_ (_) @name)])
  (_ . "(" (_ operator: [(operator) @name (_ (_) @name)]))] match: (_)) @definition.function @clause)
(instance_declarations (_ !type name: [(variable) @name (_ . "(" (_) @name)]) @definition.function @clause)
(instance_declarations (_ !name !type !pattern . [
  (_ operator: [(operator) @name (_ (_) @name)])
  (_ . "(" (_ operator: [(operator) @name (_ (_) @name)]))] match: (_)) @definition.function @clause)
(declarations (_ . "foreign" (_ name: (variable) @name)) @definition.function)
(pattern_synonym (_ !type synonym: [(constructor) @name (_ function: (constructor) @name)])) @definition.function
