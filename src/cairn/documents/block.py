"""Edits of YAML in block style."""

from __future__ import annotations

import re
from typing import Any

from cairn.documents import brackets
from cairn.documents.layout import Layout
from cairn.documents.nodes import Node, PathStep, Splice
from cairn.documents.rendering import FileStyle, render, render_name

_KEEPS_LINES = re.compile(rb"[|>][0-9]?\+")


def insert(layout: Layout, steps: list[PathStep], node: Node, name: str | None, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
    """Return the changes that add a value at the end of a node, which may be written in either style.

    Args:
        layout: of the file.
        steps: from the root to the node.
        node: the mapping or list; null counts as an empty one.
        name: of the value; None in a list.
        value: of JSON.
    """
    step = steps[-1] if steps else None
    if node.form == "block":
        column = layout.column(node.members[0].start)
        outer = max((layout.column(step.member.start) for step in steps if step.holder.form == "block"), default=-1)
        at = _end_of_lines(layout, node, column if column > outer else column + 1)
        return [layout.insert_lines(at, _lines(name, value, layout.style, " " * column))]
    is_empty = node.kind == "scalar" or not (node.members or layout.body[node.start + 1 : node.end - 1].strip())
    if step is None or step.holder.form != "block" or step.holder.kind != "mapping" or not is_empty:
        return brackets.insert(layout, node, name, value)
    column = layout.column(step.member.start)
    indent = layout.style.unit if name is not None else layout.style.dash_indent
    at = _end_of_lines(layout, node, column + 1)
    added = layout.insert_lines(at, _lines(name, value, layout.style, " " * column + indent))
    if node.start == node.end:
        return [added]
    return [layout.cut(layout.last_text(step.member.start, node.start), node.end), added]


def start(layout: Layout, name: str, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
    """Return the change that adds the first value to an empty file."""
    return [layout.insert_lines(len(layout.body), _lines(name, value, layout.style, ""))]


def replace(layout: Layout, steps: list[PathStep], node: Node, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
    """Return the change that replaces a value."""
    step = steps[-1] if steps else None
    if step is None or step.holder.form != "block" or (not _is_collection(value) and _is_inline(layout, node)):
        text = render(value, layout.style)
        return [layout.cut(node.start, node.end, text if node.start < node.end else f" {text}")]
    indent = " " * layout.column(step.member.start)
    name = None if step.holder.kind == "sequence" else "x"
    lines = _lines(name, value, layout.style, indent)
    begin = layout.last_text(step.member.start, node.start)
    first = lines[0].removeprefix(f"{indent}-" if name is None else f"{indent}x:")
    return [layout.cut(begin, node.end, layout.newline.join([first, *lines[1:]]))]


def remove(layout: Layout, steps: list[PathStep], node: Node, index: int) -> list[Splice]:
    """Return the changes that remove a member with its lines; a mapping or list without members stays, empty."""
    if node.form != "block":
        return brackets.remove(layout, node, index)
    if len(node.members) == 1:
        return [_empty(layout, steps[-1] if steps else None, node)]
    member = node.members[index]
    if not layout.begins_line(member.start):
        return [layout.cut(member.start, node.members[index + 1].start)]
    begin, end = layout.line_start(member.start), _next_line(layout, member.node)
    if end == len(layout.body) and not layout.body.endswith(b"\n"):
        begin -= len(layout.newline) if begin else 0
    return [layout.cut(begin, end)]


def _empty(layout: Layout, step: PathStep | None, node: Node) -> Splice:
    if step is None:
        return layout.cut(layout.line_start(node.start), _next_line(layout, node))
    text = "{}" if node.kind == "mapping" else "[]"
    begin = layout.last_text(step.member.start, node.start)
    if step.holder.kind == "mapping" and b"#" not in layout.body[step.member.start : begin]:
        return layout.cut(begin, node.end, f" {text}")
    return layout.cut(node.start, node.end, text)


def _is_collection(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, dict | list) and bool(value)


def _is_inline(layout: Layout, node: Node) -> bool:
    return node.form == "brackets" and b"\n" not in layout.body[node.start : node.end]


def _lines(name: str | None, value: Any, style: FileStyle, indent: str) -> list[str]:  # noqa: ANN401 - JSON
    """Return a member of a mapping, or an item of a list if it has no name."""
    if name is None:
        return _item_lines(value, style, indent)
    head = f"{indent}{render_name(name, 'yaml')}:"
    if not _is_collection(value):
        return [f"{head} {render(value, style)}"]
    if isinstance(value, dict):
        return [head, *_mapping_lines(value, style, indent + style.unit)]
    items = [line for item in value for line in _item_lines(item, style, indent + style.dash_indent)]
    return [head, *items]


def _mapping_lines(value: dict[str, Any], style: FileStyle, indent: str) -> list[str]:
    return [line for name, inner in value.items() for line in _lines(name, inner, style, indent)]


def _item_lines(value: Any, style: FileStyle, indent: str) -> list[str]:  # noqa: ANN401 - JSON
    if not isinstance(value, dict) or not value:
        return [f"{indent}- {render(value, style)}"]
    first, *rest = _mapping_lines(value, style, f"{indent}  ")
    return [f"{indent}- {first.lstrip(' ')}", *rest]


def _next_line(layout: Layout, node: Node) -> int:
    """Return where the line after a node begins."""
    return node.end if layout.body[node.end - 1 : node.end] == b"\n" else layout.line_end(node.end)


def _end_of_lines(layout: Layout, node: Node, column: int) -> int:
    """Return where the line after a node begins, skipping comments below it that are indented at least as far."""
    last = node
    while last.members and last.form == "block":
        last = last.members[-1].node
    end = at = _next_line(layout, last)
    keeps = bool(_KEEPS_LINES.match(layout.body, last.start))
    while at < len(layout.body):
        after = layout.line_end(at)
        line = layout.body[at:after]
        text = line.lstrip(b" ")
        if text.startswith(b"#") and len(line) - len(text) >= column:
            end, keeps = after, False
        elif text.strip():
            break
        elif keeps:
            end = after
        at = after
    return end
