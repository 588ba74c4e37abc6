"""Reads what a comment above a declaration says of types: `@var`, `@param` and `@return` as PHP writes them."""

from __future__ import annotations

import re
from typing import NamedTuple

# A type may have brackets with spaces in them.
_TAG = re.compile(
    r"@(?:phpstan-|psalm-)?(?P<tag>var|param|return)[ \t]+"
    r"(?P<type>(?:[^\s<({]|<(?:[^<>]|<[^<>]*>)*>|\{[^{}]*\}|\([^()]*\))+)"
    r"(?:[ \t]+(?:&|\.\.\.)?(?P<name>\$\w+))?"
)
_ANYTHING = frozenset({"mixed", "object", "iterable", "callable", "resource", "closure", "class-string"})


class DocType(NamedTuple):
    """What one tag says; `name` is that of a variable or parameter, empty for none."""

    tag: str
    type: str
    name: str


def read_doc_types(text: str) -> list[DocType]:
    """Return the types that a comment declares, without those that may be anything."""
    return [
        DocType(match["tag"], match["type"], match["name"] or "")
        for match in _TAG.finditer(text)
        if match["type"].lower() not in _ANYTHING
    ]
