"""Adds the statements that choose between ways to a control-flow graph: `if`, `switch` and `match`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.structure.draft import Draft, Ends, JumpFrame, first_field, first_line, last_line_of
from cairn.structure.names import Access, NameReader
from cairn.structure.steps import CONTROL_ONLY

if TYPE_CHECKING:
    import tree_sitter

_MAX_PATTERN_DEPTH = 20
_SUBJECT_FIELDS = ("condition", "value", "subject")  # of a switch


# -- if ---------------------------------------------------------------------------------------------------------------


def add_if(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    """Add an `if` with all its branches."""
    done: Ends = []
    following: tree_sitter.Node | None = node
    while following is not None:  # a chain of `else if` may be long
        following, ends = _add_one_if(draft, following, ends, done)
    return done + ends


def _add_one_if(draft: Draft, node: tree_sitter.Node, ends: Ends, done: Ends) -> tuple[tree_sitter.Node | None, Ends]:
    """Add a condition and its body, whose ends go to `done`; return the `if` behind `else`, and the ends left."""
    if (initializer := node.child_by_field_name("initializer")) is not None:
        ends = draft.statement(initializer, ends)
    test = _add_condition(draft, node, ends)
    done += draft.body(node.child_by_field_name("consequence"), [(test, "true")])
    otherwise: Ends = [(test, "false")]
    for alternative in node.children_by_field_name("alternative"):
        if alternative.type in draft.syntax.else_ifs:
            test = _add_condition(draft, alternative, otherwise)
            done += draft.body(alternative.child_by_field_name("consequence"), [(test, "true")])
            otherwise = [(test, "false")]
        elif (inner := _lone_if(draft, alternative)) is not None:
            return inner, otherwise
        else:
            otherwise = draft.else_(alternative, otherwise)
    return None, otherwise


def _add_condition(draft: Draft, node: tree_sitter.Node, ends: Ends) -> int:
    condition = node.child_by_field_name("condition")
    last = last_line_of(condition) if condition is not None else first_line(node)
    return draft.step("branch", node, draft.names.access(condition), ends, last_line=last)


def _lone_if(draft: Draft, node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the `if` that is all there is behind an `else`."""
    syntax = draft.syntax
    if node.type in syntax.elses:
        body = node.child_by_field_name("body")
        statements = [body] if body is not None else draft.parts(node)[-1:]
        return statements[0] if statements and statements[0].type in syntax.ifs else None
    return node if node.type in syntax.ifs else None


# -- switch -----------------------------------------------------------------------------------------------------------


def add_switch(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    """Add a `switch` or `match` with all its cases."""
    syntax = draft.syntax
    if (initializer := node.child_by_field_name("initializer")) is not None:
        ends = draft.statement(initializer, ends)
    head = _add_subject(draft, node, ends)
    frame = draft.enter(JumpFrame("switch", draft.take_label()))
    done: Ends = []
    falling: Ends = []
    is_complete = False
    for case in (node.child_by_field_name("body") or node).named_children:
        if case.type not in syntax.cases:
            continue
        is_complete |= _is_default(case, syntax)
        case_ends, last = _add_case(draft, case, head, falling)
        if last is not None and _last_statement(draft, last).type in syntax.fall_statements:
            falling = [(number, "") for number, _ in case_ends]  # the jump goes on, the next case depends on it
            done += [(number, CONTROL_ONLY) for number, _ in case_ends]
        elif case.type in syntax.falls_through:
            falling = case_ends
        else:
            falling, done = [], done + case_ends
    draft.leave()
    return done + falling + frame.breaks + ([] if is_complete else [(head, "false")])


def _add_subject(draft: Draft, node: tree_sitter.Node, ends: Ends) -> int:
    value = first_field(node, *_SUBJECT_FIELDS, "alias")
    access = draft.names.access(first_field(node, *_SUBJECT_FIELDS))
    if (alias := node.child_by_field_name("alias")) is not None:
        access.add(draft.names.binding(alias))
    last = last_line_of(value) if value is not None else first_line(node)
    return draft.step("branch", node, access, ends, last_line=last)


def _add_case(draft: Draft, case: tree_sitter.Node, head: int, falling: Ends) -> tuple[Ends, tree_sitter.Node | None]:
    """Add a case that the head or the case before leads to; return where it ends, and its last statement."""
    labels, statements = _split_case(case, draft.syntax)
    access = Access()
    for label in labels:
        access.add(_label_access(label, draft.names))
    last_line = max((last_line_of(label) for label in labels), default=first_line(case))
    start = draft.step("case", case, access, [(head, "case")], last_line=last_line)
    ends: Ends = [(start, ""), *falling]
    for statement in statements:
        ends = draft.statement(statement, ends)
    return ends, statements[-1] if statements else None


def _split_case(case: tree_sitter.Node, syntax: FlowSyntax) -> tuple[list[tree_sitter.Node], list[tree_sitter.Node]]:
    """Return the labels of a case and its statements."""
    labels: list[tree_sitter.Node] = []
    statements: list[tree_sitter.Node] = []
    for index, child in enumerate(case.children):
        name = case.field_name_for_child(index) or ""
        if not child.is_named:
            continue
        is_label = child.type in syntax.case_labels or name in syntax.case_label_fields
        (labels if is_label else statements).append(child)
    return labels, statements


def _is_default(case: tree_sitter.Node, syntax: FlowSyntax) -> bool:
    head = (case.text or b"").decode("utf-8", "replace").lstrip()
    is_wild = head.startswith(("default", "case _:")) and case.child_by_field_name("guard") is None
    return case.type in syntax.defaults or is_wild


def _last_statement(draft: Draft, node: tree_sitter.Node) -> tree_sitter.Node:
    """Return the last statement of a block, of blocks in blocks; any other statement as it is."""
    while node.type in draft.syntax.blocks and (parts := draft.parts(node)):
        node = parts[-1]
    return node


def _label_access(label: tree_sitter.Node, names: NameReader) -> Access:
    if label.type == "case_pattern":  # a lower-case name is bound, a dotted one compared
        return _pattern_access(label, names)
    return names.access(label)


def _pattern_access(label: tree_sitter.Node, names: NameReader, depth: int = 0) -> Access:
    access = Access()
    for child in label.named_children if depth < _MAX_PATTERN_DEPTH else ():
        if child.type == "dotted_name" and child.named_child_count == 1:
            access.add(names.binding(child))
        elif child.type in ("class_pattern", "keyword_pattern"):
            for inner in child.named_children[1:]:
                access.add(_pattern_access(inner, names, depth + 1))
        elif child.type != "dotted_name":
            access.add(_pattern_access(child, names, depth + 1))
            if child.type == "identifier":
                access.add(names.binding(child))
    return access
