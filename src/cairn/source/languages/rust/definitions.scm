; Attributes over several lines; those of one line are found by their mark.
((attribute_item) @wrapper . (_) @wrapped)

(function_item name: [(identifier) (metavariable)] @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function

(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.union
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type

; An impl block is named after the type, so that methods read `Type.method` whatever the trait.
(impl_item type: [
  (type_identifier) @name
  (primitive_type) @name
  (scoped_type_identifier name: (type_identifier) @name)
  (generic_type type: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
  (reference_type type: (type_identifier) @name)
  (reference_type type: (primitive_type) @name)
  (reference_type type: (generic_type type: (type_identifier) @name))]) @definition.impl
; Types without a name are named by their text.
(impl_item type: [
  (array_type)
  (bounded_type)
  (dynamic_type)
  (function_type)
  (macro_invocation)
  (metavariable)
  (never_type)
  (pointer_type)
  (tuple_type)
  (unit_type)] @name) @definition.impl

; `mod name;` only points at another file.
(mod_item name: (identifier) @name body: (_)) @definition.module

(const_item name: (identifier) @name (#not-eq? @name "_")) @definition.constant
(static_item name: (identifier) @name) @definition.variable
(macro_definition name: (identifier) @name) @definition.macro
