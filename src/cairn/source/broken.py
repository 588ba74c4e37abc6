"""Looks into code that the grammar cannot parse, such as half-typed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.source.definitions import first_error_line, parse
from cairn.source.languages import BY_NAME

if TYPE_CHECKING:
    import tree_sitter


def starts_in_errors(data: bytes, language: str, starts: tuple[int, ...]) -> tuple[int, ...]:
    """Return those byte positions that are code inside a syntax error, not in a string or comment."""
    root = parse(data, BY_NAME[language]).root_node
    if not root.has_error:
        return ()
    return tuple(start for start in starts if _is_in_error(root.descendant_for_byte_range(start, start + 1)))


def _is_in_error(node: tree_sitter.Node | None) -> bool:
    while node is not None and not node.is_error:
        if "string" in node.type or "comment" in node.type:
            return False
        node = node.parent
    return node is not None


def find_error_line(data: bytes, language: str, start: int = 1) -> int:
    """Return the first line from `start` on with a syntax error, 0 if there is none."""
    return first_error_line(parse(data, BY_NAME[language]), start)
