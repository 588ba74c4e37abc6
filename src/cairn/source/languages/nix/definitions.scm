; Functions wherever they are bound, attribute sets (also made by a function) and module options by the last part of
; their path, and what a file's own `let` binds.
(binding attrpath: (attrpath .
    ([(identifier) (string_expression) (interpolation)] @namespace . ".")* . (_) @name .)
  expression: (function_expression)) @definition.function
(binding attrpath: (attrpath .
    ([(identifier) (string_expression) (interpolation)] @namespace . ".")* . (_) @name .)
  expression: [(attrset_expression) (rec_attrset_expression)]) @definition.attribute
(binding attrpath: (attrpath .
    ([(identifier) (string_expression) (interpolation)] @namespace . ".")* . (_) @name .)
  expression: (apply_expression function: [(variable_expression) (select_expression)] @_function)
  (#match? @_function "mk(Enable|Package)?Option$")) @definition.option
(binding attrpath: (attrpath .
    ([(identifier) (string_expression) (interpolation)] @namespace . ".")* . (_) @name .)
  expression: (apply_expression function: (apply_expression function: [(variable_expression) (select_expression)] @_function))
  (#match? @_function "mk(Enable|Package)?Option$")) @definition.option
(binding attrpath: (attrpath .
    ([(identifier) (string_expression) (interpolation)] @namespace . ".")* . (_) @name .)
  expression: (apply_expression function: (apply_expression
    function: (apply_expression function: [(variable_expression) (select_expression)] @_function)))
  (#match? @_function "mk(Enable|Package)?Option$")) @definition.option
(binding attrpath: (attrpath .
    ([(identifier) (string_expression) (interpolation)] @namespace . ".")* . (_) @name .)
  expression: (apply_expression argument: [(attrset_expression) (rec_attrset_expression)])) @definition.attribute

(source_code (let_expression (binding_set (binding attrpath: (attrpath) @name) @definition.variable)))
(source_code (function_expression
  (let_expression (binding_set (binding attrpath: (attrpath) @name) @definition.variable))))
(source_code (function_expression (with_expression
  (let_expression (binding_set (binding attrpath: (attrpath) @name) @definition.variable)))))
