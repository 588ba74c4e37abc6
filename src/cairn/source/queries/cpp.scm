; The patterns of c.scm with the names of C++ added: `Type::name`, `~Type`, `operator+`, `name<int>`, `&name`.

; `template <...>` above a definition belongs to it.
(template_declaration (_) @wrapped) @wrapper

(namespace_definition name: (_) @name) @definition.namespace

; Tests by macro: `TEST(Suite, Name) {...}`, `TEST(Name) {...}`.
(function_declarator
  declarator: (identifier) @macro
  parameters: [
    (_
      . (parameter_declaration type: (type_identifier) @receiver !declarator)
      . (parameter_declaration type: (type_identifier) @name !declarator) .)
    (_ . (parameter_declaration type: (type_identifier) @name !declarator) .)]
  (#match? @macro "^(?:[A-Z]+_)?TEST(?:_[A-Z]+)?$")
  (#set! up "function_definition") (#set! without "type")) @definition.test

; A function without a return type in a class is its constructor; outside, the name says so.
(function_declarator declarator: (identifier) @name
  (#set! up "function_definition declaration") (#set! without "type")
  (#set! inside "field_declaration_list") (#set! within "template_declaration")) @definition.constructor
(function_declarator
  declarator: (qualified_identifier) @name
  (#match? @name "(?:^|::)(\\w+)(?:<.*>)?::\\1$")
  (#set! up "function_definition") (#set! without "type")) @definition.constructor

; `operator bool()` has no declarator of its own.
(_ scope: (_) @receiver name: (operator_cast "operator" @name type: (_) @name)
  (#set! up "function_definition")) @definition.method
(operator_cast "operator" @name type: (_) @name
  (#set! up "function_definition")) @definition.function
(operator_cast "operator" @name type: (_) @name
  (#set! up "declaration") (#set! inside "field_declaration_list")) @definition.method

; Functions and, in classes and behind `extern`, prototypes. In a function body `Type name(value);` reads as one.
(function_declarator declarator: [(destructor_name) (operator_name) (identifier)] @name
  (#set! up "declaration") (#set! inside "field_declaration_list") (#set! within "template_declaration")
  (#set! through "pointer_declarator reference_declarator")) @definition.method
(function_declarator declarator: [(field_identifier) (operator_name)] @name
  (#set! up "field_declaration")
  (#set! through "pointer_declarator reference_declarator")) @definition.method
(function_declarator declarator: [
    (identifier)
    (field_identifier)
    (qualified_identifier)
    (destructor_name)
    (operator_name)
    (template_function)
    (parenthesized_declarator . (identifier) .)] @declarator
  (#not-match? @declarator "^(?:[A-Z]+_)?TEST(?:_[A-Z]+)?$")
  (#set! up "function_definition declaration")
  (#set! through "pointer_declarator reference_declarator parenthesized_declarator")) @definition.function @outer

; A class, struct, union or enum counts where it has a body. Without a name it goes by that of its typedef;
; a typedef that repeats the name is not listed again.
(class_specifier name: (_) @declarator body: (_)) @definition.class
(struct_specifier name: (_) @declarator body: (_)) @definition.struct
(union_specifier name: (_) @declarator body: (_)) @definition.union
(enum_specifier name: (_) @declarator body: (_)) @definition.enum
(concept_definition name: (identifier) @name) @definition.concept
(alias_declaration name: (type_identifier) @name) @definition.type
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

; `TEST_CASE("what it does") {...}` reads as a call and a block.
((expression_statement (call_expression
    arguments: (argument_list . (string_literal (string_content) @name)))) @definition.test @outer
  . (compound_statement) @body)

(field_declaration declarator: (_) @declarator) @definition.field
(declaration declarator: [
    (identifier)
    (pointer_declarator)
    (reference_declarator)
    (array_declarator)
    (init_declarator)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator)))] @declarator) @definition.variable
