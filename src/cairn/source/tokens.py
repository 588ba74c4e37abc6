"""Reads expressions from flat token sequences, such as the arguments of Rust macros."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

_LINKS = frozenset({".", "::"})
_SUFFIXES = frozenset({"token_tree", "?"})
_DECLARING = frozenset({"fn", "struct", "enum", "union", "#"})
_NAMES = frozenset({"identifier", "self", "super", "crate", "metavariable", "primitive_type"})


class Call(NamedTuple):
    """A call in a token sequence: where its expression begins, and whether it is a macro call."""

    start: int
    is_macro: bool


def read_call(name: tree_sitter.Node) -> Call | None:
    """Return the call that a name before brackets makes, None if it is none."""
    following, before = name.next_sibling, name.prev_sibling
    if following is None or (before is not None and before.type in _DECLARING):
        return None
    is_macro = following.type == "!"
    if not is_macro and (not following.children or following.children[0].type != "("):
        return None
    return Call(_first_of_chain(name).start_byte, is_macro)


def begin_of_path(name: tree_sitter.Node) -> int:
    """Return the start of a path that ends in a name and is passed as a value, such as `Size::parse`; -1 for none."""
    before = name.prev_sibling
    is_path = before is not None and before.type == "::"
    return _first_of_chain(name).start_byte if is_path and read_call(name) is None else -1


def _first_of_chain(name: tree_sitter.Node) -> tree_sitter.Node:
    """Return the first element of the chain that ends in a name."""
    first = name
    while (link := first.prev_sibling) is not None and link.type in _LINKS:
        before = _without_suffixes(link.prev_sibling)
        if before is None:
            break
        first = before
        if before.type not in _NAMES:
            break
    return first


def _without_suffixes(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """Return the token before brackets and `?`, or the brackets themselves if no name precedes them."""
    while node is not None and node.type in _SUFFIXES:
        before = node.prev_sibling
        if before is not None and before.type == ">":
            before = _before_generics(before)
        if before is None or before.type not in _SUFFIXES | _NAMES:
            return node
        node = before
    return _before_generics(node) if node is not None and node.type == ">" else node


def _before_generics(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the name before type arguments, given their closing bracket."""
    depth, current = 0, node
    while True:
        depth += (current.type == ">") - (current.type == "<")
        before = current.prev_sibling
        if before is None:
            return None
        if depth <= 0:
            return before.prev_sibling if before.type == "::" else before
        current = before
