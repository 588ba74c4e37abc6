; The first reference behind the keywords is the name; other references are types, tables acted on, and so on.
(create_table [(keyword_table) (keyword_exists)] . (_
  schema: (identifier)? @namespace name: (identifier) @name) (column_definitions)? @body) @definition.table
(create_view [(keyword_view) (keyword_exists)] . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.view
(create_materialized_view [(keyword_view) (keyword_exists)] . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.view
(create_type (keyword_type) . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.type
(create_sequence [(keyword_sequence) (keyword_exists)] . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.sequence
(create_procedure (keyword_procedure) . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.procedure
(create_trigger [(keyword_trigger) (keyword_exists)] . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.trigger
(create_policy (keyword_policy) . (_ name: (identifier) @name)) @definition.policy
(create_index column: (identifier) @name) @definition.index
(create_schema [(keyword_schema) (keyword_exists)] . (identifier) @name) @definition.schema
(create_function (keyword_function) . (_
  schema: (identifier)? @namespace name: (identifier) @name) (function_body) @body) @definition.function
(create_function (keyword_function) . (_
  schema: (identifier)? @namespace name: (identifier) @name)) @definition.function
