"""Finds the positions of tables and values in a TOML file; a table may be defined in several places."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.documents.nodes import MAX_DEPTH, Member, Node, line_of, too_deep

if TYPE_CHECKING:
    import tree_sitter


@dataclass(slots=True)
class _Table:
    """A table being read."""

    start: int = 0
    own_end: int = -1
    prefix: tuple[str, ...] = ()
    spans: list[tuple[int, int]] = field(default_factory=list)
    members: dict[str, tuple[int, _Table | _Tables | Node]] = field(default_factory=dict)


@dataclass(slots=True)
class _Tables:
    """An array of tables being read."""

    items: list[tuple[int, _Table]] = field(default_factory=list)


def read_sections(body: bytes, root: tree_sitter.Node, source: str) -> Node:
    """Return the nodes of a valid text.

    Raises:
        ConfigError: if there are too many levels.
    """
    return _finish(_TomlReader(body, source).read(root))


class _TomlReader:
    """Walks the statements of a file."""

    def __init__(self, body: bytes, source: str) -> None:
        self._body = body
        self._source = source
        self._root = _Table()

    def read(self, document: tree_sitter.Node) -> _Table:
        for part in document.named_children:
            if part.type == "pair":
                self._pair(self._root, part)
            elif part.type in ("table", "table_array_element"):
                self._section(part)
        return self._root

    def _section(self, part: tree_sitter.Node) -> None:
        header = next(child for child in part.named_children if child.type != "comment")
        end = next(child.end_byte for child in part.children if child.type in ("]", "]]"))
        *outer, name = self._names(header)
        table = self._root
        for step in outer:
            table = _inner(table, step, part.start_byte)
        if part.type == "table":
            table = _inner(table, name, part.start_byte)
            table.prefix = ()
        else:
            array = table.members.setdefault(name, (part.start_byte, _Tables()))[1]
            assert isinstance(array, _Tables)
            table = _Table(part.start_byte)
            array.items.append((part.start_byte, table))
        table.spans.append((part.start_byte, end))
        table.own_end = end
        for child in part.named_children:
            if child.type == "pair":
                self._pair(table, child)

    def _pair(self, table: _Table, pair: tree_sitter.Node) -> None:
        key, value = [child for child in pair.named_children if child.type != "comment"]
        *outer, name = self._names(key)
        table.own_end = value.end_byte
        for length, step in enumerate(outer, 1):
            table = _inner(table, step, pair.start_byte)
            table.own_end, table.prefix = value.end_byte, tuple(outer[:length])
        spans = ((pair.start_byte, value.end_byte),)
        table.members[name] = (pair.start_byte, self._value(value, spans))

    def _value(self, at: tree_sitter.Node, spans: tuple[tuple[int, int], ...] = (), depth: int = 1) -> Node:
        if depth > MAX_DEPTH:
            raise too_deep(self._source, line_of(self._body, at.start_byte))
        parts = [child for child in at.named_children if child.type != "comment"]
        if at.type == "array":
            items = tuple(
                Member(index, part.start_byte, self._value(part, depth=depth + 1)) for index, part in enumerate(parts)
            )
            return Node("sequence", at.start_byte, at.end_byte, members=items, spans=spans)
        if at.type != "inline_table":
            return Node("scalar", at.start_byte, at.end_byte, spans=spans)
        members = []
        for part in parts:
            key, value = [child for child in part.named_children if child.type != "comment"]
            name, *rest = self._names(key)
            inner = Node("scalar", value.start_byte, value.end_byte) if rest else self._value(value, depth=depth + 1)
            members.append(Member(name, part.start_byte, inner))
        return Node("mapping", at.start_byte, at.end_byte, members=tuple(members), spans=spans)

    def _names(self, key: tree_sitter.Node) -> list[str]:
        text = self._body[key.start_byte : key.end_byte].decode()
        names, value = [], tomllib.loads(f"{text} = 0")
        while isinstance(value, dict):
            ((name, value),) = value.items()
            names.append(name)
        return names


def _inner(table: _Table, name: str, start: int) -> _Table:
    """Return the table with a name; of an array of tables the last one."""
    found = table.members.setdefault(name, (start, _Table(start)))[1]
    if isinstance(found, _Tables):
        found = found.items[-1][1]
    assert isinstance(found, _Table)
    return found


def _finish(table: _Table | _Tables | Node) -> Node:
    if isinstance(table, Node):
        return table
    if isinstance(table, _Tables):
        members = tuple(Member(index, start, _finish(item)) for index, (start, item) in enumerate(table.items))
    else:
        members = tuple(Member(name, start, _finish(inner)) for name, (start, inner) in table.members.items())
    own = table.spans if isinstance(table, _Table) else []
    spans = tuple(sorted([*own, *(span for member in members for span in member.node.spans)]))
    kind = "sequence" if isinstance(table, _Tables) else "mapping"
    start, end = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    own_end, prefix = (table.own_end, table.prefix) if isinstance(table, _Table) else (-1, ())
    return Node(kind, start, end, "sections", members, spans, own_end, prefix)  # type: ignore[arg-type] # as in syntax
