"""Edits between brackets: objects and lists in JSON, JSONC and YAML's flow style; inline tables and lists in TOML."""

from __future__ import annotations

from typing import Any

from cairn.documents.layout import Layout
from cairn.documents.nodes import Member, Node, PathStep, Splice
from cairn.documents.rendering import render, render_name

_LINE_COMMENTS = {"json": b"", "jsonc": b"//"}


def insert(layout: Layout, node: Node, name: str | None, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
    """Return the changes that add a value at the end.

    Args:
        layout: of the file.
        node: the mapping or list.
        name: of the value; None in a list.
        value: of JSON.
    """
    if not node.members:
        return _insert_first(layout, node, name, value)
    last = node.members[-1].node
    behind = layout.skip_blank(last.end)
    has_comma = layout.body[behind : behind + 1] == b","
    end = layout.last_text(last.end, node.end - 1)  # after any comments and comma that follow the last value
    if _is_on_own_line(layout, node, len(node.members) - 1) or _ends_with_line_comment(layout, last.end, node.end):
        indent = _member_indent(layout, node)
        text = f"{layout.newline}{indent}{_render(layout, node, name, value, indent)}"
    else:
        space = layout.style_near(node).comma[1:]
        text = f"{space}{_render(layout, node, name, value, None)}"
    if has_comma:
        return [Splice(end, "", f"{text},")]
    return [Splice(end, "", f",{text}")] if end == last.end else [Splice(last.end, "", ","), Splice(end, "", text)]


def replace(layout: Layout, step: PathStep | None, node: Node, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
    """Return the change that replaces a value, in its style."""
    start = step.member.start if step else node.start
    indent = layout.indent_at(start) if layout.begins_line(start) else None
    style = layout.style_near(step.holder if step else node)
    return [layout.cut(node.start, node.end, render(value, style, indent))]


def remove(layout: Layout, node: Node, index: int) -> list[Splice]:
    """Return the changes that remove a value, its name and its comma; comments stay."""
    members = node.members
    member = members[index]
    before = members[index - 1].node.end if index else node.start + 1
    start = layout.last_text(before, member.start)
    comma = layout.skip_blank(member.node.end)
    has_comma = layout.body[comma : comma + 1] == b","
    if len(members) == 1 and not layout.body[node.start + 1 : start]:
        rest = layout.body[comma + 1 if has_comma else member.node.end : node.end - 1]
        if not rest.strip():
            return [layout.cut(node.start + 1, node.end - 1)]
    if b"\n" in layout.body[start : member.start] and _ends_in_line_comment(layout, before, start):
        start = layout.line_start(member.start)  # the rest would become part of the comment
    if not has_comma:
        return _remove_last(layout, before, start, member, is_only=len(members) == 1)
    if layout.body[member.node.end : comma].strip():  # a comment
        return [layout.cut(start, member.node.end), layout.cut(comma, comma + 1)]
    end = comma + 1
    if index == 0 and start == member.start:  # it is on the line of the bracket, to which the next value moves
        end += len(layout.body[end : node.end]) - len(layout.body[end : node.end].lstrip(b" \t"))
    return [layout.cut(start, end)]


def _remove_last(layout: Layout, before: int, start: int, member: Member, *, is_only: bool) -> list[Splice]:
    if is_only:
        return [layout.cut(start, member.node.end)]
    comma = layout.skip_blank(before)
    if comma + 1 == start:
        return [layout.cut(comma, member.node.end)]
    return [layout.cut(comma, comma + 1), layout.cut(start, member.node.end)]


def _insert_first(layout: Layout, node: Node, name: str | None, value: Any) -> list[Splice]:  # noqa: ANN401 - JSON
    inside = layout.body[node.start + 1 : node.end - 1]
    end = layout.last_text(node.start + 1, node.end - 1)
    outer = layout.indent_at(node.start)
    indent = outer + layout.style.unit
    if b"\n" in inside:
        return [Splice(end, "", f"{layout.newline}{indent}{_render(layout, node, name, value, indent)}")]
    if inside.strip():  # a comment on the same line
        return [Splice(end, "", f" {_render(layout, node, name, value, None)}")]
    if _is_open(layout, node):
        text = f"{layout.newline}{indent}{_render(layout, node, name, value, indent)}{layout.newline}{outer}"
    else:
        pad = layout.style.pad if node.kind == "mapping" else ""
        text = f"{pad}{_render(layout, node, name, value, None)}{pad}"
    return [layout.cut(node.start + 1, node.end - 1, text)]


def _is_open(layout: Layout, node: Node) -> bool:
    """Tell whether an empty object may be spread over lines: if it is the whole file, or has its own line."""
    if layout.format in ("toml", "yaml"):
        return False
    if node is layout.root:
        return True
    return b"\n" in layout.body[: node.start].strip() or b"\n" in layout.body[node.end :].strip()


def _render(layout: Layout, node: Node, name: str | None, value: Any, indent: str | None) -> str:  # noqa: ANN401 - JSON
    style = layout.style_near(node)
    text = render(value, style, indent)
    return text if name is None else f"{render_name(name, layout.format)}{style.colon}{text}"


def _member_indent(layout: Layout, node: Node) -> str:
    for member in reversed(node.members):
        if layout.begins_line(member.start):
            return layout.indent_at(member.start)
    return layout.indent_at(node.start) + layout.style.unit


def _is_on_own_line(layout: Layout, node: Node, index: int) -> bool:
    before = node.members[index - 1].node.end if index else node.start + 1
    return b"\n" in layout.body[before : node.members[index].start]


def _ends_with_line_comment(layout: Layout, start: int, end: int) -> bool:
    mark = _LINE_COMMENTS.get(layout.format, b"#")
    tail = layout.body[start : end - 1]
    return bool(mark) and b"\n" in tail and mark in tail


def _ends_in_line_comment(layout: Layout, start: int, end: int) -> bool:
    mark = _LINE_COMMENTS.get(layout.format, b"#")
    return bool(mark) and mark in layout.body[max(start, layout.line_start(end)) : end]
