; C and C++.

; A test by macro: `TEST(Suite, Name) {...}`, `TEST(Name) {...}`.
(function_definition
  !type
  (_
    declarator: (identifier) @macro
    parameters: [
      (_ . (_ type: (type_identifier) @receiver !declarator) . (_ type: (type_identifier) @name !declarator) .)
      (_ . (_ type: (type_identifier) @name !declarator) .)])
  (#match? @macro "^(?:[A-Z]+_)?TEST(?:_[A-Z]+)?$")) @definition.test

((function_definition) @definition @outer
  (#set! declares "declarator") (#set! kinds "@definition.function function_declarator parenthesized_declarator"))

; Prototypes and variables, except in the bodies of functions.
([
  (translation_unit (declaration) @definition)
  (declaration_list (declaration) @definition)
  (linkage_specification (declaration) @definition)
  (preproc_if (declaration) @definition)
  (preproc_ifdef (declaration) @definition)
  (preproc_elif (declaration) @definition)
  (preproc_else (declaration) @definition)
  (ERROR (declaration) @definition)] @outer
  (#set! declares "declarator") (#set! kinds "@definition.function function_declarator
    @definition.variable identifier pointer_declarator reference_declarator array_declarator init_declarator"))

; A class that macros obscure is parsed as a function, whose body contains the prototypes.
(compound_statement (_ declarator: [
    (function_declarator)
    (_ declarator: (function_declarator))] @declarator) @definition @outer
  (#set! kinds "@definition.function function_declarator"))

; A struct, union or enum counts where it has a body. Without a name it goes by that of its typedef;
; a typedef that repeats the name is not listed again.
((struct_specifier (_ "{")) @definition.struct (#set! declares "name"))
((union_specifier (_ "{")) @definition.union (#set! declares "name"))
((enum_specifier (_ "{")) @definition.enum (#set! declares "name"))
(type_definition type: (_ . _ @keyword !name body: (_) @body) declarator: (type_identifier) @name
  (#set! kinds "@definition.struct struct @definition.union union @definition.enum enum")) @definition
(type_definition
  type: (_ name: (_) @tag body: (_))
  declarator: [
    (type_identifier) @name @definition.type
    (_ declarator: (type_identifier) @name @definition.type)]
  (#not-eq? @tag @name))
(type_definition type: (_ !body) declarator: (_) @declarator) @definition.type

; `#define NAME` without a value is a switch or a header guard.
(preproc_def name: (identifier) @name value: (_)) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro

; `TEST_CASE("what it does") {...}` is parsed as a call and a block.
(translation_unit (expression_statement (_ arguments: (_ . (string_literal) @name))) @definition.test . (compound_statement) @body)
(declaration_list (expression_statement (_ arguments: (_ . (string_literal) @name))) @definition.test . (compound_statement) @body)
