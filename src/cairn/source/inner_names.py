"""Finds names in code that a grammar leaves as text: C macros, and types in JavaScript comments.

The comments are JSDoc, which begins with `/**`. They have types in braces after a tag, and import them with
`@import { Cart } from './cart'` or `import('./cart').Cart`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from cairn.source.imports import Import, ImportFlag, read_import

if TYPE_CHECKING:
    import tree_sitter

_TYPED = frozenset({"javascript", "typescript", "tsx", "svelte", "vue"})
_MACRO_BODY = "preproc_arg"
_CALLED = re.compile(rb"[ \t]?\(")
_MEMBER = re.compile(rb"(?:->|\.)[ \t]*$")
_TAGGED = re.compile(rb"@\w+[ \t\r\n*]*\{(?P<type>(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_IMPORTED = re.compile(
    rb"@import[ \t]{1,20}(?P<names>[\w$*{][\w$*{},\s]{0,2000}?)\sfrom\s{1,20}[\"'](?P<module>[^\"'\n]{1,1000})[\"']"
    rb"|import\([\"'](?P<from>[^\"'\n]{1,1000})[\"']\)(?:\.(?P<name>[\w$]+))?"
)
_MAX_BYTES = 20_000  # of a macro or comment to search; for each name, the text before it is read again
_ROW = re.compile(r"\r?\n[ \t]*\*?")
_TYPEDEF = re.compile(rb"@typedef[ \t]*\{[ \t]*$")
_NAME_BEHIND = re.compile(rb"[ \t]*\}[ \t]*([\w$]+)")
_IMPORT_BEFORE = re.compile(rb"import\([\"'][^\"'\n]+[\"']\)\.$")


class InnerName(NamedTuple):
    """The use of a name in such text: a role of `Occurrence`, and whether it is a member of something."""

    role: str
    is_member: bool = False


def read_inner_name(leaf: tree_sitter.Node, data: bytes, start: int, end: int, language: str) -> InnerName | None:
    """Return how a leaf of the tree uses the name between two bytes; None if it is just a word."""
    if leaf.end_byte - leaf.start_byte > _MAX_BYTES:
        return None
    if leaf.type == _MACRO_BODY:
        return _in_macro(leaf, data, start, end)
    if leaf.type == "comment" and language in _TYPED and data.startswith(b"/**", leaf.start_byte):
        return _in_comment(leaf.text or b"", start - leaf.start_byte)
    return None


def _in_macro(leaf: tree_sitter.Node, data: bytes, start: int, end: int) -> InnerName | None:
    before, name = data[leaf.start_byte : start], data[start:end]
    if before.count(b'"') % 2 or b"//" in before or before.rfind(b"/*") > before.rfind(b"*/"):
        return None
    parameters = leaf.parent.child_by_field_name("parameters") if leaf.parent is not None else None
    if parameters is not None and any(child.text == name for child in parameters.named_children):
        return None
    role = "call" if _CALLED.match(data, end) else "read"
    return InnerName(role, _MEMBER.search(before) is not None)


def _in_comment(text: bytes, at: int) -> InnerName | None:
    if _IMPORT_BEFORE.search(text, 0, at):
        return InnerName("import")
    for found in _IMPORTED.finditer(text):
        if found["names"] is not None and found.start("names") <= at < found.end("names"):
            return InnerName("import")
    if any(found.start("type") <= at < found.end("type") for found in _TAGGED.finditer(text)):
        return InnerName("type", text[at - 1 : at] == b".")
    return None


def imports_in_comments(data: bytes, starts: Sequence[int], language: str) -> Iterator[Import]:
    """Yield the type imports in the comments of a file.

    Args:
        data: the file.
        starts: the offsets of its lines.
        language: of the file.
    """
    if language not in _TYPED or (b"@import" not in data and b"import(" not in data):
        return
    for found in chain.from_iterable(_IMPORTED.finditer(data, *comment) for comment in _comments(data)):
        at = found.start()
        line = bisect_right(starts, at)
        if found["names"] is not None:
            names = _ROW.sub(" ", _text(found["names"]))
            statement = f"import {names} from '{_text(found['module'])}'"
            yield from read_import(statement, "typescript", line, ImportFlag.TYPE_ONLY)
        else:
            is_typedef = _TYPEDEF.search(data, max(0, at - 40), at) and found["name"]
            alias = _NAME_BEHIND.match(data, found.end()) if is_typedef else None
            name = _text(found["name"] or b"")
            yield Import(_text(found["from"]), name, _text(alias[1]) if alias else "", line, ImportFlag.TYPE_ONLY)


def _comments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each possible JSDoc comment."""
    end = 0
    while (start := data.find(b"/**", end)) >= 0 and (end := data.find(b"*/", start + 3)) >= 0:
        yield start, end


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
