"""What the statements of Python are called."""

from __future__ import annotations

from cairn.source.languages.flow_syntax import FlowSyntax, types

FLOW = FlowSyntax(
    functions=types("function_definition lambda"),
    named_functions=types("function_definition"),
    classes=types("class_definition"),
    blocks=types("module block"),
    wrappers=types("decorated_definition"),
    else_ifs=types("elif_clause"),
    switches=types("match_statement"),
    cases=types("case_clause"),
    case_labels=types("case_pattern if_clause"),
    case_label_fields=frozenset({"guard"}),
    breaks_switches=False,
    handlers=types("except_clause except_group_clause"),
    withs=types("with_statement"),
    raises=types("raise_statement"),
    do_loops=frozenset(),
    labels=frozenset(),
    ignored=types("comment pass_statement"),
    docstrings=types("string concatenated_string"),
    assignments=types("assignment named_expression delete_statement"),
    updates=types("augmented_assignment"),
    declarators=frozenset(),
    attributes={"attribute": ("object", "attribute")},
    subscripts={"subscript": "value"},
    calls={"call": ("function", "")},
    comprehensions=types("list_comprehension set_comprehension dictionary_comprehension generator_expression"),
    comprehension_clauses=types("for_in_clause"),
    skipped=types("type import_statement_type"),
    skipped_fields=frozenset({("keyword_argument", "name")}),
    outer_statements=types("nonlocal_statement global_statement"),
    declares_locals=False,
    mutators=types("pop popleft popitem append add remove discard clear extend insert update setdefault sort reverse")
    | types("read readline write send next close appendleft push"),
)
