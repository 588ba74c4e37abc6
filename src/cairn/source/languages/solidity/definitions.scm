(contract_declaration name: (identifier) @name) @definition.contract
(interface_declaration name: (identifier) @name) @definition.interface
(library_declaration name: (identifier) @name) @definition.library
(struct_declaration name: (identifier) @name) @definition.struct
(enum_declaration name: (identifier) @name) @definition.enum
(user_defined_type_definition name: (identifier) @name) @definition.type

(function_definition name: (identifier) @name) @definition.function
(modifier_definition name: (identifier) @name) @definition.modifier
; These have no name of their own: the keyword is the name.
(constructor_definition "constructor" @name) @definition.constructor
(fallback_receive_definition ["fallback" "receive" "function"] @name) @definition.method

(event_definition name: (identifier) @name) @definition.event
(error_declaration name: (identifier) @name) @definition.error

(constant_variable_declaration name: (identifier) @name) @definition.constant
(state_variable_declaration "constant" name: (identifier) @name) @definition.constant
(state_variable_declaration name: (identifier) @name) @definition.field
