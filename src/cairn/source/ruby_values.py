"""Reads the values of Ruby code: the last expressions of branches, and what methods delegate to and yield to blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

    from cairn.source.closures import Blocks

EVALUATED = "instance_eval"  # a method's variable that holds what it yields to its block
_NAMED = frozenset(
    {"call", "identifier", "constant", "scope_resolution", "instance_variable", "class_variable", "self", "super"}
)
_ROWS = frozenset({"body_statement", "block_body", "then", "else", "begin", "parenthesized_statements"})
_ASIDE = frozenset({"rescue", "ensure", "else", "comment"})  # in a sequence, beside its last statement
_FIELDS = {
    "if": ("consequence", "alternative"), "elsif": ("consequence", "alternative"),
    "unless": ("consequence", "alternative"), "conditional": ("consequence", "alternative"),
    "if_modifier": ("body",), "unless_modifier": ("body",), "rescue_modifier": ("body",),
    "assignment": ("right",), "operator_assignment": ("right",), "when": ("body",), "in_clause": ("body",),
}  # fmt: skip
_CASES = frozenset({"case", "case_match"})
_MAX_DEPTH = 12
_TARGET = re.compile(r"[@\w.:]+[?!]?")


class Locals:
    """The variables of a Ruby file, collected in reading order.

    Args:
        blocks: the scopes of the file.
        n_definitions: scopes from this number on are blocks.
        starts: the first bytes of the blocks.
    """

    def __init__(self, blocks: Blocks, n_definitions: int, starts: Sequence[int]) -> None:
        self._blocks = blocks
        self._n_definitions = n_definitions
        self._starts = starts
        self._assigned: set[tuple[int, str]] = set()

    def scope_of(self, node: tree_sitter.Node) -> int:
        """Return the outermost block that has assigned to a variable before, else the given scope."""
        own = around = self._blocks.scope_at(node.start_byte)
        name = (node.text or b"").decode("utf-8", "replace")
        while node.type == "identifier" and around >= self._n_definitions:
            around = self._blocks.scope_at(self._starts[around - self._n_definitions] - 1)
            own = around if (around, name) in self._assigned else own
        self._assigned.add((own, name))
        return own


def last_values(node: tree_sitter.Node, depth: int = 0) -> Iterator[tree_sitter.Node]:
    """Yield the named expressions that a piece of Ruby may evaluate to, except in `rescue`."""
    kind = node.type
    if kind in _NAMED:
        yield node
        return
    parts: list[tree_sitter.Node] = []
    if kind in _ROWS:
        parts = [child for child in node.named_children if child.type not in _ASIDE][-1:]
    elif kind in _FIELDS:
        parts = [part for field in _FIELDS[kind] if (part := node.child_by_field_name(field)) is not None]
    elif kind in _CASES:
        parts = [child for child in node.named_children if child.type in ("when", "in_clause", "else")]
    elif kind == "binary":
        parts = _of_choice(node)
    for part in parts if depth < _MAX_DEPTH else ():
        yield from last_values(part, depth + 1)


def _of_choice(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return both sides of `a || b`, the right side of `a && b`, and nothing for other operators."""
    sign, sides = node.child_by_field_name("operator"), node.named_children
    if sign is None or sign.type not in ("||", "or", "&&", "and"):
        return []
    return sides if sign.type in ("||", "or") else sides[-1:]


def delegated(arguments: tree_sitter.Node) -> Iterator[tuple[str, str]]:
    """Yield (method, expression) for `delegate :a, to: :b`, `def_delegators :b, :a` and the like.

    Methods that are renamed there are left out.
    """
    word = arguments.prev_named_sibling
    items = [child for child in arguments.named_children if child.type != "pair"]
    pairs = [child for child in arguments.named_children if child.type == "pair"]
    if word is not None and _name(word).startswith("def_"):
        names = [_name(item) for item in items]
        if len(names) < 2:
            return
        is_renamed = _name(word).endswith("_delegator") and len(names) > 2
        for name in names[1:] if not is_renamed else ():
            yield from _delegation(name, names[0])
        return
    options = {_name(pair.named_children[0]): pair.named_children[-1] for pair in pairs if pair.named_child_count == 2}
    if "to" not in options:
        for pair in pairs:  # `delegate [:a, :b] => :c`
            for name in _names(pair.named_children[0]):
                yield from _delegation(name, _name(pair.named_children[-1]))
        return
    for item in items if "prefix" not in options else ():
        for name in _names(item):
            yield from _delegation(name, _name(options["to"]))


def _delegation(name: str, target: str) -> Iterator[tuple[str, str]]:
    if name and _TARGET.fullmatch(target):
        target = "self.class" if target == "class" else target.replace("::", ".")
        yield name, f"{target}.{name}"


def _names(node: tree_sitter.Node) -> list[str]:
    """Return the names in a symbol, a string or a list of these."""
    if "array" in node.type:
        return [_name(child) for child in node.named_children]
    return [_name(node)]


def _name(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip("\"':")
