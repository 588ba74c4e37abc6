"""Builds the control-flow graph of one function, statement by statement, from the table of its language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.structure.branches import add_if, add_switch
from cairn.structure.callees import Callees
from cairn.structure.draft import Draft, Ends, JumpFrame, first_line, last_head_line, last_line_of
from cairn.structure.jumps import add_jump, add_try
from cairn.structure.loops import add_do_loop, add_loop
from cairn.structure.names import Access, assigned_function, base_of, captures_of
from cairn.structure.steps import ControlFlow

if TYPE_CHECKING:
    import tree_sitter


def build_control_flow(unit: tree_sitter.Node, name: str, syntax: FlowSyntax) -> ControlFlow:
    """Return the control flow of a function, or of a file's outermost statements when `unit` is its root.

    Raises:
        TooManySteps: if it is too long.
    """
    draft = Draft(syntax, _add_statement)
    body = unit.child_by_field_name("body") if unit.type in syntax.functions else unit
    _find_captures(draft, body if body is not None else unit)
    head = max(first_line(unit), last_head_line(unit, body)) if unit is not body else first_line(unit)
    ends: Ends = [(draft.step("entry", unit, _entry_access(draft, unit), [], last_line=head), "")]
    if body is not None and (body.type in syntax.blocks or body is unit):
        ends = draft.block(body, ends, without=_docstring_of(draft, body))
    elif body is not None:  # a lambda
        ends = draft.plain(body, ends)
    exit_ends = [*ends, *draft.returns]
    exit_step = draft.step("exit", unit, Access(), exit_ends, last_line=first_line(unit), text="exit")
    draft.steps[exit_step].first_line = draft.steps[exit_step].last_line = last_line_of(unit)
    _add_changes_by_calls(draft, Callees(unit, syntax))
    return ControlFlow(name, first_line(unit), last_line_of(unit), tuple(draft.steps))


def _docstring_of(draft: Draft, body: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the first statement of a body if it only documents the function, and so is not a step."""
    first = next(iter(draft.parts(body)), None)
    if first is None or first.type != "expression_statement" or len(parts := draft.parts(first)) != 1:
        return None
    return first if parts[0].type in draft.syntax.docstrings and not draft.names.access(first).reads else None


def _entry_access(draft: Draft, unit: tree_sitter.Node) -> Access:
    """Return what calling a function writes: its parameters."""
    access = Access()
    for part in ("receiver", "parameters", "parameter"):
        if unit.type in draft.syntax.functions and (parameters := unit.child_by_field_name(part)) is not None:
            access.add(draft.names.binding(parameters))
    if draft.syntax.own_name:
        access.write(draft.syntax.own_name)
    return access


def _find_captures(draft: Draft, node: tree_sitter.Node) -> None:
    """Note what the nested functions that have a name read and write outside of themselves."""
    syntax, names = draft.syntax, draft.names
    waiting = list(reversed(node.named_children))
    while waiting:
        child = waiting.pop()
        if child.type in syntax.functions:
            name = child.child_by_field_name("name")
            if child.type in syntax.named_functions and name is not None:
                names.captures[(name.text or b"").decode("utf-8", "replace")] = captures_of(child, names, syntax)
        elif child.type not in syntax.classes:
            if (assigned := assigned_function(child, syntax)) is not None:
                variable, function = assigned
                names.captures[variable] = captures_of(function, names, syntax)
            waiting += reversed(child.named_children)


def _add_changes_by_calls(draft: Draft, callees: Callees) -> None:
    """Let calls change what they are made on, where nobody uses the result, and what they get, as far as is known.

    Only variables of the function count.
    """
    variables = {name for step in draft.steps for name, certain in step.access.writes.items() if certain}
    for step in draft.steps:
        for name in step.access.called:
            if base_of(name) in variables or name in variables:
                step.access.write(name, certain=False)
        for passed in step.access.passed:
            if base_of(passed.variable) in variables and callees.changes(passed):
                step.access.write(passed.variable, certain=False)


def _add_statement(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:  # noqa: C901 - one line a statement
    syntax, kind = draft.syntax, node.type
    if kind in syntax.ignored:
        return ends
    if kind in syntax.blocks or (kind in syntax.wrappers and not _is_definition(draft, node)):
        return _add_block(draft, node, ends)
    if kind in syntax.ifs:
        return add_if(draft, node, ends)
    if kind in syntax.loops:
        return add_loop(draft, node, ends)
    if kind in syntax.do_loops:
        return add_do_loop(draft, node, ends)
    if kind in syntax.switches:
        return add_switch(draft, node, ends)
    if kind in syntax.tries:
        return add_try(draft, node, ends)
    if kind in syntax.withs:
        return _add_with(draft, node, ends)
    if kind in syntax.labels:
        return _add_labelled(draft, node, ends)
    if kind in syntax.returns | syntax.raises | syntax.breaks | syntax.continues:
        return add_jump(draft, node, ends)
    inner = parts[0] if len(parts := draft.parts(node)) == 1 else None
    if kind == "expression_statement" and inner is not None and inner.type in syntax.switches:
        return add_switch(draft, inner, ends)
    return [(draft.step("statement", node, draft.access(node), ends), "")]


def _is_definition(draft: Draft, node: tree_sitter.Node) -> bool:
    last = node.named_child(node.named_child_count - 1)
    return last is not None and (last.type in draft.syntax.functions or last.type in draft.syntax.classes)


def _add_block(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    label = draft.take_label()
    if not label:
        return draft.block(node, ends)
    frame = draft.enter(JumpFrame("label", label))
    ends = draft.block(node, ends)
    draft.leave()
    return ends + frame.breaks


def _add_labelled(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    parts = draft.parts(node)
    if len(parts) < 2:  # a syntax error
        return ends
    label = (parts[0].text or b"").decode("utf-8", "replace")
    return draft.add_labelled(label, parts[-1], ends)


def _add_with(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    body = node.child_by_field_name("body")
    access = Access()
    for child in node.named_children:
        if child != body:
            access.add(draft.names.access(child))
    head = draft.step("statement", node, access, ends, last_line=last_head_line(node, body))
    return draft.body(body, [(head, "")])
