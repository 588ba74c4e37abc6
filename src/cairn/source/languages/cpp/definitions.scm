; What C++ adds to c_family.scm.

; `template <...>` above a definition belongs to it.
(template_declaration (_) @wrapped) @wrapper

(namespace_definition name: (_) @name) @definition.namespace

; A function without a return type in a class is its constructor; outside, the name says so.
(field_declaration_list (_ !type declarator: (_ declarator: (identifier) @name)) @definition.constructor)
(field_declaration_list
  (template_declaration (_ !type declarator: (_ declarator: (identifier) @name)) @definition.constructor))
(function_definition
  !type
  (_ declarator: (qualified_identifier) @name)
  (#match? @name "(?:^|::)(\\w+)(?:<.*>)?::\\1$")) @definition.constructor

; `operator bool()` has no declarator of its own.
(qualified_identifier scope: (_) @receiver name: (operator_cast "operator" @name type: (_) @name)
  (#set! up "function_definition")) @definition.method
(operator_cast "operator" @name type: (_) @name
  (#set! up "function_definition")) @definition.function
(operator_cast "operator" @name type: (_) @name
  (#set! up "declaration") (#set! inside "field_declaration_list")) @definition.method

((class_specifier (_ "{")) @definition.class (#set! declares "name"))
(concept_definition name: (identifier) @name) @definition.concept
(alias_declaration name: (type_identifier) @name) @definition.type

((field_declaration) @definition
  (#set! declares "declarator") (#set! kinds "@definition.method function_declarator @definition.field *"))
([
  (field_declaration_list (declaration) @definition)
  (template_declaration (declaration) @definition)
  (friend_declaration (declaration) @definition)] @outer
  (#set! declares "declarator") (#set! kinds "@definition.function function_declarator
    @definition.variable identifier pointer_declarator reference_declarator array_declarator init_declarator"))
