"""Removes conflict markers from a file, so that both sides of an unfinished merge can be parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MARK = re.compile(rb"^(?:<{7} [^\r\n]*|\|{7}(?: [^\r\n]*)?|={7}|>{7} [^\r\n]*)(?=\r?$)", re.MULTILINE)
_NO_BREAK = re.compile(rb"[^\r\n]")


class _Conflict(NamedTuple):
    """The positions of one conflict's markers: the first, the one before the common ancestor if any, and so on."""

    first: tuple[int, int]
    base: tuple[int, int] | None
    middle: tuple[int, int]
    last: tuple[int, int]


def first_merge_line(data: bytes) -> int:
    """Return the line of the first conflict marker, 0 if there is none."""
    conflict = next(_conflicts(data), None)
    return 0 if conflict is None else data.count(b"\n", 0, conflict.first[0]) + 1


def sides_of(data: bytes) -> tuple[bytes, bytes] | None:
    """Return a file with blanked markers, once with both sides and once with only the first; None without markers.

    Both have the same number of bytes and lines as the file.
    """
    if not (conflicts := list(_conflicts(data))):
        return None
    both, one = bytearray(data), bytearray(data)
    for first, base, middle, last in conflicts:
        behind = (base or middle)[0]
        for start, end in (first, (behind, middle[1]), last):
            both[start:end] = _NO_BREAK.sub(b" ", data[start:end])
        for start, end in (first, (behind, last[1])):
            one[start:end] = _NO_BREAK.sub(b" ", data[start:end])
    return bytes(both), bytes(one)


def without_marks(head: bytes) -> bytes:
    """Return the head of a definition without conflict markers."""
    return _MARK.sub(b"", head) if b"<<<<<<< " in head else head


def _conflicts(data: bytes) -> Iterator[_Conflict]:
    if b"<<<<<<< " not in data:
        return
    marks: dict[bytes, tuple[int, int]] = {}
    for match in _MARK.finditer(data):
        sign = match[0][:1]
        if sign == b"<":
            marks = {sign: match.span()}
        elif marks and (sign != b">" or b"=" in marks):
            marks.setdefault(sign, match.span())
        if b">" in marks:
            yield _Conflict(marks[b"<"], marks.get(b"|"), marks[b"="], marks[b">"])
            marks = {}
