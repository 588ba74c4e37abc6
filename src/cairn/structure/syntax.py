"""What the statements of each language are called in its grammar: the table that drives `control` and `names`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Types = frozenset[str]


def _types(text: str) -> Types:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class FlowSyntax:
    """The node types of one language, by what they mean; a field says which child plays which part.

    Where a grammar uses other field names for a part, all names that occur are listed, and the first that is there
    counts.
    """

    functions: Types  # what has a body of its own, lambdas included
    named_functions: Types  # those that are statements and bind their name
    classes: Types
    hoists: bool = field(default=False, kw_only=True)  # functions of a block are bound before it runs
    blocks: Types  # lists of statements
    wrappers: Types = frozenset()  # statements that only hold another, such as an export
    ifs: Types = frozenset({"if_statement"})
    else_ifs: Types = frozenset()
    elses: Types = frozenset({"else_clause"})
    loops: Types = frozenset({"while_statement", "for_statement"})
    do_loops: Types = frozenset({"do_statement"})
    switches: Types = frozenset({"switch_statement"})
    cases: Types = frozenset()
    defaults: Types = frozenset()  # a case that matches always
    case_labels: Types = frozenset()  # in a case: not a statement
    case_label_fields: Types = frozenset({"value"})
    falls_through: Types = frozenset()  # cases that run on into the next
    fall_statements: Types = frozenset()  # say so explicitly
    breaks_switches: bool = True  # `break` leaves a switch
    tries: Types = frozenset({"try_statement"})
    handlers: Types = frozenset({"catch_clause"})
    finals: Types = frozenset({"finally_clause"})
    withs: Types = frozenset()
    returns: Types = frozenset({"return_statement"})
    raises: Types = frozenset({"throw_statement"})
    breaks: Types = frozenset({"break_statement"})
    continues: Types = frozenset({"continue_statement"})
    labels: Types = frozenset({"labeled_statement"})
    ignored: Types = frozenset({"comment", "line_comment", "block_comment", ";", "empty_statement"})
    # names
    identifiers: Types = frozenset({"identifier"})
    assignments: Types = frozenset({"assignment_expression"})
    updates: Types = frozenset({"augmented_assignment_expression", "update_expression"})
    declarators: Types = frozenset({"variable_declarator"})
    attributes: dict[str, tuple[str, str]] | None = None  # type: (field of the object, field of the attribute's name)
    subscripts: dict[str, str] | None = None  # type: field of the object
    calls: dict[str, tuple[str, str]] | None = None  # type: (field of what is called or of the receiver, of the name)
    comprehensions: Types = frozenset()
    comprehension_clauses: Types = frozenset()
    skipped: Types = frozenset()  # hold no value
    skipped_fields: frozenset[tuple[str, str]] = frozenset()
    outer_statements: Types = frozenset()  # name variables of the scope around: `nonlocal`
    declares_locals: bool = True  # a name that is only assigned, not declared, belongs to the scope around
    own_name: str = ""  # how a method calls its object without declaring it
    true_literals: Types = frozenset({"true"})
    mutators: Types = frozenset()  # methods that change what they are called on though their result is used


PYTHON = FlowSyntax(
    functions=_types("function_definition lambda"),
    named_functions=_types("function_definition"),
    classes=_types("class_definition"),
    blocks=_types("module block"),
    wrappers=_types("decorated_definition"),
    else_ifs=_types("elif_clause"),
    switches=_types("match_statement"),
    cases=_types("case_clause"),
    case_labels=_types("case_pattern if_clause"),
    case_label_fields=frozenset({"guard"}),
    breaks_switches=False,
    handlers=_types("except_clause except_group_clause"),
    withs=_types("with_statement"),
    raises=_types("raise_statement"),
    do_loops=frozenset(),
    labels=frozenset(),
    ignored=_types("comment pass_statement"),
    assignments=_types("assignment named_expression delete_statement"),
    updates=_types("augmented_assignment"),
    declarators=frozenset(),
    attributes={"attribute": ("object", "attribute")},
    subscripts={"subscript": "value"},
    calls={"call": ("function", "")},
    comprehensions=_types("list_comprehension set_comprehension dictionary_comprehension generator_expression"),
    comprehension_clauses=_types("for_in_clause"),
    skipped=_types("type import_statement_type"),
    skipped_fields=frozenset({("keyword_argument", "name")}),
    outer_statements=_types("nonlocal_statement global_statement"),
    declares_locals=False,
    mutators=_types("pop popleft popitem append add remove discard clear extend insert update setdefault sort reverse")
    | _types("read readline write send next close appendleft push"),
)
JAVASCRIPT = FlowSyntax(
    functions=_types("function_declaration function_expression arrow_function method_definition")
    | _types("generator_function generator_function_declaration"),
    named_functions=_types("function_declaration generator_function_declaration"),
    classes=_types("class_declaration class"),
    blocks=_types("program statement_block"),
    hoists=True,
    wrappers=_types("export_statement"),
    loops=_types("while_statement for_statement for_in_statement"),
    cases=_types("switch_case switch_default"),
    defaults=_types("switch_default"),
    falls_through=_types("switch_case switch_default"),
    identifiers=_types("identifier this shorthand_property_identifier"),
    attributes={"member_expression": ("object", "property")},
    subscripts={"subscript_expression": "object"},
    calls={"call_expression": ("function", "")},
    skipped=_types("type_annotation type_arguments type_parameters property_identifier"),
    own_name="this",
    mutators=_types("push pop shift unshift splice set add delete clear sort reverse fill next append"),
)
GO = FlowSyntax(
    functions=_types("function_declaration method_declaration func_literal"),
    named_functions=frozenset(),
    classes=frozenset(),
    blocks=_types("source_file block statement_list"),
    loops=_types("for_statement"),
    do_loops=frozenset(),
    switches=_types("expression_switch_statement type_switch_statement select_statement"),
    cases=_types("expression_case type_case communication_case default_case"),
    defaults=_types("default_case"),
    case_label_fields=frozenset({"value", "type", "communication"}),
    fall_statements=_types("fallthrough_statement"),
    tries=frozenset(),
    raises=frozenset(),
    assignments=_types("assignment_statement short_var_declaration receive_statement range_clause"),
    updates=_types("inc_statement dec_statement"),
    declarators=_types("var_spec const_spec"),
    attributes={"selector_expression": ("operand", "field")},
    subscripts={"index_expression": "operand"},
    calls={"call_expression": ("function", "")},
    skipped=_types("type_identifier field_identifier package_identifier label_name parameter_list"),
    skipped_fields=frozenset({("composite_literal", "type"), ("keyed_element", "key")}),
)
JAVA = FlowSyntax(
    functions=_types("method_declaration constructor_declaration lambda_expression compact_constructor_declaration"),
    named_functions=frozenset(),
    classes=_types("class_declaration interface_declaration enum_declaration record_declaration"),
    blocks=_types("program block constructor_body"),
    elses=frozenset(),
    loops=_types("while_statement for_statement enhanced_for_statement"),
    switches=_types("switch_expression"),
    cases=_types("switch_block_statement_group switch_rule"),
    case_labels=_types("switch_label"),
    falls_through=_types("switch_block_statement_group"),
    tries=_types("try_statement try_with_resources_statement"),
    withs=_types("synchronized_statement"),
    declarators=_types("variable_declarator resource"),
    identifiers=_types("identifier this"),
    updates=_types("update_expression"),
    attributes={"field_access": ("object", "field")},
    subscripts={"array_access": "array"},
    calls={"method_invocation": ("object", "name")},
    skipped=_types("type_identifier generic_type scoped_type_identifier modifiers annotation marker_annotation"),
    skipped_fields=frozenset({("method_invocation", "name"), ("element_value_pair", "key")}),
    own_name="this",
    mutators=_types("add remove put poll pop push next offer clear append set insert addAll removeAll read nextInt")
    | _types("incrementAndGet getAndIncrement addAndGet getAndSet compareAndSet computeIfAbsent merge putIfAbsent"),
)
FLOW_SYNTAX: dict[str, FlowSyntax] = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": replace(JAVASCRIPT, classes=JAVASCRIPT.classes | _types("abstract_class_declaration")),
    "tsx": replace(JAVASCRIPT, classes=JAVASCRIPT.classes | _types("abstract_class_declaration")),
    "go": GO,
    "java": JAVA,
}
