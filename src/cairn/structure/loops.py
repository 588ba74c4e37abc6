"""Adds loops to a control-flow graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.structure.draft import Draft, Ends, JumpFrame, first_field, last_head_line
from cairn.structure.names import Access
from cairn.structure.steps import CONTROL_ONLY

if TYPE_CHECKING:
    import tree_sitter


def add_loop(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    """Add a loop whose condition comes first, such as `for` and `while`."""
    label = draft.take_label()
    body = node.child_by_field_name("body")
    clause = next((child for child in node.named_children if child.type in ("for_clause", "range_clause")), node)
    first = first_field(clause, "initializer", "init")
    if first is not None and first.type not in draft.syntax.ignored:
        ends = draft.plain(first, ends)
    access, is_endless = _head_access(draft, node, clause, body)
    head = draft.step("loop", node, access, ends, last_line=last_head_line(node, body))
    frame = draft.enter(JumpFrame("loop", label))
    after = draft.body(body, [(head, "true")])
    draft.leave()
    after += frame.continues
    if (update := first_field(clause, "update", "increment")) is not None:
        after = draft.plain(update, after)
    draft.link(after, head)
    done: Ends = [(head, CONTROL_ONLY if is_endless else "false")]
    if (otherwise := node.child_by_field_name("alternative")) is not None:
        done = draft.else_(otherwise, done)
    return done + frame.breaks


def _head_access(
    draft: Draft, node: tree_sitter.Node, clause: tree_sitter.Node, body: tree_sitter.Node | None
) -> tuple[Access, bool]:
    """Return what the head of a loop reads and writes, and whether the loop never ends by itself."""
    names, ignored = draft.names, draft.syntax.ignored
    items = first_field(clause, "right", "value")
    if items is not None and clause.child_by_field_name("condition") is None:
        access = names.access(items)
        if (target := first_field(clause, "left", "name")) is not None:
            access.add(names.binding(target))
        return access, False
    condition = clause.child_by_field_name("condition")
    if condition is None and clause is node and not node.type.startswith(("for_in", "while")):
        plain = [child for child in node.named_children if child != body and child.type not in ignored]
        condition = plain[0] if plain and node.child_by_field_name("init") is None else None
    if condition is None or condition.type in ignored:
        return Access(), True
    text = (condition.text or b"").decode("utf-8", "replace").strip("();")
    return names.access(condition), text in ("true", "True", "1")


def add_do_loop(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    """Add a loop whose condition comes last."""
    frame = draft.enter(JumpFrame("loop", draft.take_label()))
    start = len(draft.steps)
    after = draft.body(node.child_by_field_name("body"), ends)
    draft.leave()
    condition = node.child_by_field_name("condition")
    head = draft.step("loop", condition or node, draft.names.access(condition), after + frame.continues)
    draft.link([(head, "true")], start)
    return [(head, "false"), *frame.breaks]
