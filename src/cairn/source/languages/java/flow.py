"""What the statements of Java are called."""

from __future__ import annotations

from cairn.source.languages.flow_syntax import FlowSyntax, types

FLOW = FlowSyntax(
    functions=types("method_declaration constructor_declaration lambda_expression compact_constructor_declaration"),
    named_functions=frozenset(),
    classes=types("class_declaration interface_declaration enum_declaration record_declaration"),
    blocks=types("program block constructor_body"),
    elses=frozenset(),
    loops=types("while_statement for_statement enhanced_for_statement"),
    switches=types("switch_expression"),
    cases=types("switch_block_statement_group switch_rule"),
    case_labels=types("switch_label"),
    falls_through=types("switch_block_statement_group"),
    tries=types("try_statement try_with_resources_statement"),
    withs=types("synchronized_statement"),
    declarators=types("variable_declarator resource"),
    identifiers=types("identifier this"),
    updates=types("update_expression"),
    attributes={"field_access": ("object", "field")},
    subscripts={"array_access": "array"},
    calls={"method_invocation": ("object", "name")},
    skipped=types("type_identifier generic_type scoped_type_identifier modifiers annotation marker_annotation"),
    skipped_fields=frozenset({("method_invocation", "name"), ("element_value_pair", "key")}),
    own_name="this",
    mutators=types("add remove put poll pop push next offer clear append set insert addAll removeAll read nextInt")
    | types("incrementAndGet getAndIncrement addAndGet getAndSet compareAndSet computeIfAbsent merge putIfAbsent"),
)
