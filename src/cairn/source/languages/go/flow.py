"""What the statements of Go are called."""

from __future__ import annotations

from cairn.source.languages.flow_syntax import FlowSyntax, types

FLOW = FlowSyntax(
    functions=types("function_declaration method_declaration func_literal"),
    named_functions=frozenset(),
    classes=frozenset(),
    blocks=types("source_file block statement_list"),
    loops=types("for_statement"),
    do_loops=frozenset(),
    switches=types("expression_switch_statement type_switch_statement select_statement"),
    cases=types("expression_case type_case communication_case default_case"),
    defaults=types("default_case"),
    case_label_fields=frozenset({"value", "type", "communication"}),
    fall_statements=types("fallthrough_statement"),
    tries=frozenset(),
    raises=frozenset(),
    assignments=types("assignment_statement short_var_declaration receive_statement range_clause"),
    updates=types("inc_statement dec_statement"),
    declarators=types("var_spec const_spec"),
    attributes={"selector_expression": ("operand", "field")},
    subscripts={"index_expression": "operand"},
    calls={"call_expression": ("function", "")},
    skipped=types("type_identifier field_identifier package_identifier label_name parameter_list"),
    skipped_fields=frozenset({("composite_literal", "type"), ("keyed_element", "key")}),
)
