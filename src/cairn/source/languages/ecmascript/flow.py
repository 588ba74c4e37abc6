"""What the statements of JavaScript, TypeScript and TSX are called."""

from __future__ import annotations

from cairn.source.languages.flow_syntax import FlowSyntax, types

FLOW = FlowSyntax(
    functions=types("function_declaration function_expression arrow_function method_definition")
    | types("generator_function generator_function_declaration"),
    named_functions=types("function_declaration generator_function_declaration"),
    classes=types("class_declaration class"),
    blocks=types("program statement_block"),
    hoists=True,
    wrappers=types("export_statement"),
    loops=types("while_statement for_statement for_in_statement"),
    cases=types("switch_case switch_default"),
    defaults=types("switch_default"),
    falls_through=types("switch_case switch_default"),
    identifiers=types("identifier this shorthand_property_identifier"),
    attributes={"member_expression": ("object", "property")},
    subscripts={"subscript_expression": "object"},
    calls={"call_expression": ("function", "")},
    skipped=types("type_annotation type_arguments type_parameters property_identifier"),
    own_name="this",
    mutators=types("push pop shift unshift splice set add delete clear sort reverse fill next append"),
)
