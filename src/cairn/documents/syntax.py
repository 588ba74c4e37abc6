"""Finds the positions of values in TOML and YAML with tree-sitter's grammars."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from cairn.documents.json_syntax import read_json_nodes
from cairn.documents.nodes import (
    MAX_DEPTH,
    MISSING,
    Format,
    Member,
    Names,
    Node,
    Reference,
    line_of,
    not_editable,
    too_deep,
)
from cairn.documents.values import without_comments
from cairn.loading import load

if TYPE_CHECKING:
    import tree_sitter

_GRAMMARS: dict[Format, str] = {
    "toml": "tree_sitter_toml:language",
    "yaml": "tree_sitter_yaml:language",
}
_MAX_SHOWN = 2_000
_FLOW = {"flow_mapping": "mapping", "flow_sequence": "sequence"}
_BLOCK = {"block_mapping": "mapping", "block_sequence": "sequence"}
_YAML_CONTENT = frozenset([*_FLOW, *_BLOCK])


def read_nodes(body: bytes, values: Any, format: Format, source: str) -> Node | None:  # noqa: ANN401 - what it says
    """Return the root of a text; None if it is empty.

    Raises:
        ConfigError: if the grammar and the parser of values disagree, or nesting is too deep.
    """
    if values is MISSING:
        return None
    if format in ("json", "jsonc"):
        return read_json_nodes(without_comments(body) if format == "jsonc" else body, values, source)
    root = _tree(body, format)
    try:
        if format == "toml":
            toml: Node = load("cairn.documents.toml_syntax:read_sections")(body, root, source)
            return toml
        if root.has_error:
            raise _DisagreementError
        return _YamlReader(body, source).read(_only(_parts(_only(_parts(root)))), values, 0)
    except _DisagreementError:
        raise not_editable(source) from None


class _DisagreementError(Exception):
    """The syntax tree does not match the values."""


class _YamlReader:
    """Finds the nodes of values in a YAML tree."""

    def __init__(self, body: bytes, source: str) -> None:
        self._body = body
        self._source = source

    def read(self, at: tree_sitter.Node, value: Any, depth: int) -> Node:  # noqa: ANN401 - as above
        self._check_depth(at, depth)
        content = next((part for part in _parts(at) if part.type in _YAML_CONTENT), None)
        is_plain = content is not None and not isinstance(value, Reference)
        if content is None or not is_plain or at.type not in ("block_node", "flow_node"):
            if isinstance(value, list):
                raise _DisagreementError
            return Node("scalar", at.start_byte, at.end_byte)
        kind = {**_FLOW, **_BLOCK}[content.type]
        if (kind == "mapping") != isinstance(value, Names) or not isinstance(value, list):
            raise _DisagreementError
        parts = _same_count(_parts(content), value)
        if kind == "mapping":
            members = tuple(
                Member(name, part.start_byte, self._value(part, inner, depth))
                for part, (name, inner) in zip(parts, value, strict=True)
            )
        else:
            members = tuple(
                Member(index, part.start_byte, self._item(part, inner, depth))
                for index, (part, inner) in enumerate(zip(parts, value, strict=True))
            )
        if content.type in _FLOW:
            return Node(kind, content.start_byte, content.end_byte, "brackets", members)  # type: ignore[arg-type] # the pairs are of the kind that the node has
        end = members[-1].node.end  # the grammar includes comments after it
        return Node(kind, content.start_byte, end, "block", members)  # type: ignore[arg-type] # the pairs are of the kind that the node has

    def _value(self, pair: tree_sitter.Node, value: Any, depth: int) -> Node:  # noqa: ANN401 - as above
        at = pair.child_by_field_name("value")
        if at is not None:
            return self.read(at, value, depth + 1)
        last = pair.children[-1] if pair.children else pair
        return Node("scalar", last.end_byte, last.end_byte)

    def _item(self, item: tree_sitter.Node, value: Any, depth: int) -> Node:  # noqa: ANN401 - as above
        if item.type != "block_sequence_item":
            if item.type == "flow_pair":  # a mapping without braces
                return Node("scalar", item.start_byte, item.end_byte)
            return self.read(item, value, depth + 1)
        inner = _parts(item)
        if not inner:
            dash = item.start_byte + 1
            return Node("scalar", dash, dash)
        return self.read(_only(inner), value, depth + 1)

    def _check_depth(self, at: tree_sitter.Node, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise too_deep(self._source, line_of(self._body, at.start_byte))


@cache
def _language(format: Format) -> tree_sitter.Language:
    language: tree_sitter.Language = load("tree_sitter:Language")(load(_GRAMMARS[format])())
    return language


def _tree(body: bytes, format: Format) -> tree_sitter.Node:
    parser = load("tree_sitter:Parser")(_language(format))
    root: tree_sitter.Node = parser.parse(body).root_node
    return root


def _parts(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the named children except comments and YAML's anchors and tags."""
    return [child for child in node.named_children if child.type not in _ASIDE]


_ASIDE = frozenset(["comment", "anchor", "tag", "yaml_directive", "tag_directive", "reserved_directive"])


def _only(nodes: list[tree_sitter.Node]) -> tree_sitter.Node:
    if len(nodes) != 1:
        raise _DisagreementError
    return nodes[0]


def _same_count(nodes: list[tree_sitter.Node], values: list[Any]) -> list[tree_sitter.Node]:
    if len(nodes) != len(values):
        raise _DisagreementError
    return nodes


def iter_members(node: Node) -> Iterator[tuple[Node, Member]]:
    """Yield members with their parents, from the top down: enough to see the style of a file."""
    queue = [node]
    for holder in queue:
        for member in holder.members:
            yield holder, member
            queue.append(member.node)
            if len(queue) > _MAX_SHOWN:
                return
