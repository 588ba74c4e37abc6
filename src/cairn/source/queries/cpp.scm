; The patterns of c.scm with the names of C++ added: `Type::name`, `~Type`, `operator+`, `name<int>`, `&name`.

; `template <...>` above a definition belongs to it.
(template_declaration (_) @wrapped) @wrapper

(namespace_definition name: (_) @name) @definition.namespace

; Tests by macro: `TEST(Suite, Name) {...}`, `TEST(Name) {...}`.
(function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @macro
    parameters: (parameter_list
      . (parameter_declaration type: (type_identifier) @receiver !declarator)
      . (parameter_declaration type: (type_identifier) @name !declarator) .))
  (#match? @macro "^(?:[A-Z]+_)?TEST(?:_[A-Z]+)?$")) @definition.test
(function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @macro
    parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name !declarator) .))
  (#match? @macro "^(?:[A-Z]+_)?TEST(?:_[A-Z]+)?$")) @definition.test

; A function without a return type in a class is its constructor; outside, the name says so.
(field_declaration_list [
  (function_definition !type declarator: (function_declarator declarator: (identifier) @name)) @definition.constructor
  (declaration !type declarator: (function_declarator declarator: (identifier) @name)) @definition.constructor
  (template_declaration [
    (function_definition !type declarator: (function_declarator declarator: (identifier) @name))
    (declaration !type declarator: (function_declarator declarator: (identifier) @name))] @definition.constructor)])
(function_definition
  !type
  declarator: (function_declarator declarator: (qualified_identifier) @name)
  (#match? @name "(?:^|::)(\\w+)(?:<.*>)?::\\1$")) @definition.constructor

; `operator bool()` has no declarator of its own.
(function_definition declarator: (operator_cast "operator" @name type: (_) @name)) @definition.function
(function_definition declarator: (qualified_identifier
  scope: (_) @receiver
  name: (operator_cast "operator" @name type: (_) @name))) @definition.method
(field_declaration_list (declaration declarator: (operator_cast "operator" @name type: (_) @name)) @definition.method)

(function_definition declarator: [
  (function_declarator declarator: [
    (identifier)
    (field_identifier)
    (qualified_identifier)
    (destructor_name)
    (operator_name)] @name)
  (function_declarator declarator: (template_function name: (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (identifier) @name))
  (pointer_declarator declarator: (function_declarator declarator: [
    (identifier)
    (field_identifier)
    (qualified_identifier)
    (destructor_name)
    (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [
    (identifier)
    (field_identifier)
    (qualified_identifier)
    (destructor_name)
    (operator_name)] @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [
    (identifier)
    (field_identifier)
    (qualified_identifier)
    (destructor_name)
    (operator_name)] @name)))
  (pointer_declarator declarator: (reference_declarator (function_declarator declarator: [
    (identifier)
    (field_identifier)
    (qualified_identifier)
    (destructor_name)
    (operator_name)] @name)))]
  (#not-match? @name "^(?:[A-Z]+_)?TEST(?:_[A-Z]+)?$")) @definition.function @outer

; A class, struct, union or enum counts where it has a body. Without a name it goes by that of its typedef;
; a typedef that repeats the name is not listed again.
(class_specifier
  name: [
    (type_identifier) @name
    (qualified_identifier) @name
    (template_type name: (type_identifier) @name)]
  body: (_)) @definition.class
(struct_specifier
  name: [
    (type_identifier) @name
    (qualified_identifier) @name
    (template_type name: (type_identifier) @name)]
  body: (_)) @definition.struct
(union_specifier
  name: [
    (type_identifier) @name
    (qualified_identifier) @name
    (template_type name: (type_identifier) @name)]
  body: (_)) @definition.union
(enum_specifier
  name: [
    (type_identifier) @name
    (qualified_identifier) @name
    (template_type name: (type_identifier) @name)]
  body: (_)) @definition.enum
(concept_definition name: (identifier) @name) @definition.concept
(alias_declaration name: (type_identifier) @name) @definition.type
(type_definition
  type: (struct_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.struct
(type_definition
  type: (union_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.union
(type_definition
  type: (enum_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.enum
(type_definition
  type: [
    (struct_specifier name: (_) @tag body: (_))
    (union_specifier name: (_) @tag body: (_))
    (enum_specifier name: (_) @tag body: (_))]
  declarator: [
    (type_identifier) @name @definition.type
    (pointer_declarator declarator: (type_identifier) @name @definition.type)]
  (#not-eq? @tag @name))
(type_definition
  type: [
    (primitive_type)
    (sized_type_specifier)
    (type_identifier)
    (qualified_identifier)
    (template_type)
    (dependent_type)
    (decltype)
    (class_specifier !body)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)]
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (_ declarator: (type_identifier) @name)
    (_ declarator: (_ declarator: (type_identifier) @name))
    (reference_declarator (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))
    (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name))))]) @definition.type

; `#define NAME` without a value is a switch or a header guard.
(preproc_def name: (identifier) @name value: (_)) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro

; Members of classes.
(field_declaration_list (declaration declarator: (function_declarator
  declarator: [(destructor_name) (operator_name)] @name)) @definition.method)
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (field_identifier) @name)))]) @definition.method
(field_declaration_list (template_declaration (declaration declarator: [
  (function_declarator declarator: [(identifier) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))]) @definition.method))
(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (reference_declarator (field_identifier) @name)
  (array_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (field_identifier) @name)))]) @definition.field

; `TEST_CASE("what it does") {...}` reads as a call and a block.
((expression_statement (call_expression
    arguments: (argument_list . (string_literal (string_content) @name)))) @definition.test @outer
  . (compound_statement) @body)

; Prototypes and variables. In a function body `Type name(value);` reads as a prototype.
(declaration declarator: [
  (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name)
  (function_declarator declarator: (template_function name: (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (identifier) @name))
  (pointer_declarator declarator: (function_declarator
    declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
  (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name)))]) @definition.function
  @outer
(declaration declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (_ declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: [(identifier) (qualified_identifier)] @name)
  (init_declarator declarator: (_ declarator: [(identifier) (qualified_identifier)] @name))
  (init_declarator declarator: (_ declarator: (_ declarator: (identifier) @name)))
  (init_declarator declarator: (reference_declarator (identifier) @name))
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (identifier) @name))))]) @definition.variable
