"""Reads the types in doc comments: PHP's `@var`, `@param` and `@return`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

# A type may contain brackets with spaces in them.
_TAG = re.compile(
    r"@(?:phpstan-|psalm-)?(?P<tag>var|param|return)[ \t]+"
    r"(?P<type>(?:[^\s<({]|<(?:[^<>]|<[^<>]*>)*>|\{[^{}]*\}|\([^()]*\))+)"
    r"(?:[ \t]+(?:&|\.\.\.)?(?P<name>\$\w+))?"
)
_FUNCTIONS = frozenset({"method_declaration", "function_definition"})
_ANYTHING = frozenset({"mixed", "object", "iterable", "callable", "resource", "closure", "class-string"})


class DocType(NamedTuple):
    """The type in one tag; `name` is the variable or parameter, empty for none."""

    tag: str
    type: str
    name: str


def read_doc_types(text: str) -> list[DocType]:
    """Return the types that a comment declares, except for those that mean anything."""
    return [
        DocType(match["tag"], match["type"], match["name"] or "")
        for match in _TAG.finditer(text)
        if match["type"].lower() not in _ANYTHING
    ]


def declared_types(node: tree_sitter.Node) -> Iterator[tuple[str, str, int]]:
    """Yield a comment's types as (variable, type, a byte in its scope); a result has no variable.

    A comment is about the property or function after it, or about a variable that it names.
    """
    text, following = node.text or b"", node.next_named_sibling
    if b"@" not in text or following is None:
        return
    for tag, type_, name in read_doc_types(text.decode("utf-8", "replace")):
        if tag == "var" and name:
            yield name, type_, node.start_byte
        elif tag == "var" and following.type == "property_declaration":
            for element in following.named_children:
                if element.type == "property_element":
                    variable = (element.text or b"").decode("utf-8", "replace").partition("=")[0]
                    yield variable.strip().lstrip("$"), type_, node.start_byte
        elif tag != "var" and following.type in _FUNCTIONS:
            yield ("" if tag == "return" else name), type_, following.end_byte - 1
