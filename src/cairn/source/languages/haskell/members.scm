; Listed by outlines only: constructors of types, and fields of records.
(data_constructor constructor: (_ name: (_) @name)) @definition.constructor
(fields field: (field name: (field_name (variable) @name)) @definition.field)
