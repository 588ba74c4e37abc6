; A description is a part of the definition it describes, so a span starts with it.
(object_type_definition (description)? @doc (name) @name (fields_definition)? @body) @definition.type
(object_type_extension (name) @name (fields_definition)? @body) @definition.type
(interface_type_definition (description)? @doc (name) @name (fields_definition)? @body) @definition.interface
(interface_type_extension (name) @name (fields_definition)? @body) @definition.interface
(union_type_definition (description)? @doc (name) @name) @definition.union
(union_type_extension (name) @name) @definition.union
(enum_type_definition (description)? @doc (name) @name (enum_values_definition)? @body) @definition.enum
(enum_type_extension (name) @name) @definition.enum
(input_object_type_definition (description)? @doc (name) @name (input_fields_definition)? @body) @definition.input
(input_object_type_extension (name) @name) @definition.input
(scalar_type_definition (description)? @doc (name) @name) @definition.scalar
(scalar_type_extension (name) @name) @definition.scalar
(directive_definition (description)? @doc (name) @name) @definition.directive
(schema_definition (description)? @doc "schema" @name) @definition.schema

(fields_definition (field_definition (description)? @doc (name) @name) @definition.field)
(input_fields_definition (input_value_definition (description)? @doc (name) @name) @definition.field)

(operation_definition (operation_type "query") (name) @name) @definition.query
(operation_definition (operation_type "mutation") (name) @name) @definition.mutation
(operation_definition (operation_type "subscription") (name) @name) @definition.subscription
(fragment_definition (fragment_name) @name) @definition.fragment
