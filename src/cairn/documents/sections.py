"""Edits of TOML tables, which are lines below headers."""

from __future__ import annotations

from typing import Any

from cairn.documents.layout import Layout
from cairn.documents.nodes import Node, Path, PathStep, Splice
from cairn.documents.rendering import FileStyle, render, render_name

_INLINE_CHARS = 100


def insert(
    layout: Layout,
    steps: list[PathStep],
    node: Node,
    path: Path,
    name: str | None,
    value: Any,  # noqa: ANN401 - JSON
) -> list[Splice]:
    """Return the changes that add a value to a table, or a table to an array of tables.

    Args:
        layout: of the file.
        steps: from the root to the node.
        node: the table or array of tables.
        path: of the node.
        name: of the value; None in an array.
        value: of JSON.
    """
    names = [name for name in path if isinstance(name, str)]
    if name is None:
        return _insert_sections(layout, steps, _sections(names, [value], layout.style))
    if _is_table(value) or _is_tables(value):
        return _insert_sections(layout, steps, _sections([*names, name], value, layout.style))
    line = f"{_dotted([*node.prefix, name])} = {render(value, layout.style, '')}"
    if node.own_end >= 0:
        at = layout.line_end(node.own_end)
        indent = layout.indent_at(node.own_end)
        return [layout.insert_lines(at, [indent + line])]
    if node is layout.root:
        at = _before_headers(layout)
        return [layout.insert_lines(at, [line] if at == len(layout.body) else [line, ""])]
    return _insert_sections(layout, steps, [[f"[{_dotted(names)}]", line]])


def remove(layout: Layout, node: Node) -> list[Splice]:
    """Return the changes that remove the lines of a value, table or array of tables; comments in between stay."""
    cuts: list[tuple[int, int]] = []
    for start, end in node.spans:
        begin, after = layout.line_start(start), layout.line_end(end)
        if layout.body[start : start + 1] == b"[" and _is_blank_before(layout, begin):
            begin = layout.line_start(begin - 1)
        if cuts and begin <= cuts[-1][1]:
            cuts[-1] = (cuts[-1][0], max(after, cuts[-1][1]))
        else:
            cuts.append((begin, after))
    if cuts and cuts[-1][1] == len(layout.body) and not layout.body.endswith(b"\n") and cuts[-1][0]:
        cuts[-1] = (cuts[-1][0] - len(layout.newline), cuts[-1][1])
    return [layout.cut(begin, after) for begin, after in cuts]


def _is_blank_before(layout: Layout, line: int) -> bool:
    return line > 0 and not layout.body[layout.line_start(line - 1) : line].strip()


def _is_table(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, dict)


def _is_tables(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, list) and bool(value) and all(isinstance(inner, dict) for inner in value)


def _sections(names: list[str], value: Any, style: FileStyle) -> list[list[str]]:  # noqa: ANN401 - JSON
    """Return the lines of a table and its subtables, each under its header."""
    if isinstance(value, list):
        return [section for table in value for section in _table(f"[[{_dotted(names)}]]", names, table, style)]
    if value and all(_is_table(inner) and inner for inner in value.values()):
        return [section for name, inner in value.items() for section in _sections([*names, name], inner, style)]
    if value and all(_is_tables(inner) for inner in value.values()):
        return [section for name, inner in value.items() for section in _sections([*names, name], inner, style)]
    return _table(f"[{_dotted(names)}]", names, value, style)


def _table(header: str, names: list[str], table: dict[str, Any], style: FileStyle) -> list[list[str]]:
    lines, below = [header], []
    for name, value in table.items():
        text = render(value, style)
        if _is_tables(value) or (_is_table(value) and len(text) > _INLINE_CHARS):
            below += _sections([*names, name], value, style)
        else:
            lines.append(f"{render_name(name, 'toml')} = {text}")
    return [lines, *below]


def _insert_sections(layout: Layout, steps: list[PathStep], sections: list[list[str]]) -> list[Splice]:
    at = len(layout.body)
    for step in steps:  # what belongs to a table in an array comes before the next one
        is_array = step.holder.kind == "sequence" and step.holder.form == "sections"
        if is_array and step.place < len(step.holder.members) - 1:
            at = layout.line_end(max(end for _, end in step.member.node.spans))
            break
    lines = [line for section in sections for line in ["", *section]]
    is_first = not layout.body[:at].strip() or _is_blank_before(layout, at)
    return [layout.insert_lines(at, lines[1:] if (is_first and layout.body[:at].endswith(b"\n")) or not at else lines)]


def _before_headers(layout: Layout) -> int:
    """Return where the first header, or the comment above it, begins; the end if there is none."""
    root = layout.root
    if root is None or not root.spans:
        return len(layout.body)
    at = layout.line_start(root.spans[0][0])
    while at:
        line = layout.line_start(at - 1)
        if not layout.body[line:at].lstrip().startswith(b"#"):
            break
        at = line
    return at


def _dotted(names: list[str]) -> str:
    return ".".join(render_name(name, "toml") for name in names)
