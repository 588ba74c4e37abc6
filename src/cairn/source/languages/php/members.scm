; Listed by outlines only: cases of enums, and parameters of a constructor that are properties.
(enum_case name: (name) @name) @definition.enumerator
(property_promotion_parameter name: (variable_name (name) @name)) @definition.property
