"""Adds what leaves the order of statements to a control-flow graph: `try`, `return`, `raise`, `break`, `continue`.

A `finally` stands in the graph once for each way through it, as compilers lay it out. Exceptions are taken to be
possible at every statement in a `try`, and nowhere else but at `raise` and `throw`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.structure.draft import Draft, Ends, JumpFrame, first_line, last_head_line, last_line_of
from cairn.structure.names import Access
from cairn.structure.steps import CONTROL_ONLY, DATA_ONLY

if TYPE_CHECKING:
    import tree_sitter


def add_try(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    """Add a `try` with its handlers, its `else` and its `finally`."""
    syntax = draft.syntax
    handlers = [child for child in node.named_children if child.type in syntax.handlers]
    final = next((child for child in node.named_children if child.type in syntax.finals), None)
    head = _add_head(draft, node, ends)
    if final is not None:
        draft.enter(JumpFrame("finally", final=final))
    frame = draft.enter(JumpFrame("try", catches=bool(handlers)))
    after = draft.body(node.child_by_field_name("body"), [(head, "")])
    draft.leave()
    otherwise = next((child for child in node.named_children if child.type in syntax.elses), None)
    if otherwise is not None:
        after = draft.else_(otherwise, after)
    thrown: Ends = [(step, DATA_ONLY) for step in frame.steps]
    for handler in handlers:
        after = after + _add_handler(draft, handler, [(head, "raise"), *frame.raised, *thrown])
    if final is not None:
        draft.leave()
        after = _add_finally(draft, final, after + ([] if handlers else thrown))
    return after


def _add_head(draft: Draft, node: tree_sitter.Node, ends: Ends) -> int:
    resources = node.child_by_field_name("resources")
    last = last_line_of(resources) if resources is not None else first_line(node)
    return draft.step("try", node, draft.names.access(resources), ends, last_line=last)


def _add_handler(draft: Draft, handler: tree_sitter.Node, ends: Ends) -> Ends:
    body = handler.child_by_field_name("body") or [handler, *draft.parts(handler)][-1]
    access = Access()
    for child in handler.named_children:
        if child == body:
            continue
        if child.type == "catch_formal_parameter" or handler.child_by_field_name("parameter") == child:
            access.add(draft.names.binding(child))
        else:
            access.add(draft.names.access(child))
    start = draft.step("handler", handler, access, ends, last_line=last_head_line(handler, body))
    return draft.body(body, [(start, "")])


def _add_finally(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    return draft.body(node.child_by_field_name("body") or [node, *draft.parts(node)][-1], ends)


def add_jump(draft: Draft, node: tree_sitter.Node, ends: Ends) -> Ends:
    """Add a jump, and let it go where it leads, by way of each `finally` in between."""
    syntax = draft.syntax
    leaves_loop = node.type in syntax.breaks | syntax.continues
    step = draft.step("jump", node, draft.names.access(None if leaves_loop else node), ends)
    label = ""
    if leaves_loop and node.named_child_count:
        label = (node.named_children[0].text or b"").decode("utf-8", "replace")
    out: Ends = [(step, "raise" if node.type in syntax.raises else "")]
    frames = draft.frames
    for depth in range(len(frames) - 1, -1, -1):
        frame = frames[depth]
        if frame.kind == "finally" and frame.final is not None:
            draft.frames = frames[:depth]
            out = _add_finally(draft, frame.final, out)
            draft.frames = frames
        elif (goal := _goal(frame, node.type, label, syntax)) is not None:
            goal.extend(out)
            return [(step, CONTROL_ONLY)]
    draft.returns.extend(out)
    return [(step, CONTROL_ONLY)]


def _goal(frame: JumpFrame, kind: str, label: str, syntax: FlowSyntax) -> Ends | None:
    """Return the ends in a frame that a jump of some kind joins, None when it goes past the frame."""
    if kind in syntax.raises:
        return frame.raised if frame.kind == "try" and frame.catches else None
    if label and frame.label != label:
        return None
    if kind in syntax.breaks and (frame.kind in ("loop", "switch") or (frame.kind == "label" and label)):
        return frame.breaks if frame.kind != "switch" or syntax.breaks_switches else None
    if kind in syntax.continues and frame.kind == "loop":
        return frame.continues
    return None
