"""Finds the positions of values in a JSON file. Only scans along a path, since a file may be large."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, overload

from cairn.documents.nodes import MAX_DEPTH, Member, Names, Node, too_deep

_SPACE = re.compile(r"[ \t\r\n]*+")
_DECODER = json.JSONDecoder(object_pairs_hook=len, parse_int=len, parse_float=len)  # builds no values


def read_json_nodes(body: bytes, values: Any, source: str) -> Node:  # noqa: ANN401 - what it says
    """Return the root of a valid text without comments.

    Raises:
        ConfigError: if there are too many levels.
    """
    level = [values]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for holder in level for inner in _inner(holder) if isinstance(inner, list)]
    if level:
        raise too_deep(source, 1)
    text = body.decode("latin-1")  # one character per byte; JSON's syntax is ASCII
    start = _after_space(text, 0)
    return _node(text, start, len(text.rstrip(" \t\r\n")), values)


def _inner(value: Any) -> list[Any]:  # noqa: ANN401 - as above
    return [inner for _, inner in value] if isinstance(value, Names) else value if isinstance(value, list) else []


def _node(text: str, start: int, end: int, value: Any) -> Node:  # noqa: ANN401 - as above
    if not isinstance(value, list):
        return Node("scalar", start, end)
    return Node("mapping" if isinstance(value, Names) else "sequence", start, end, members=_Members(text, start, value))


class _Members(Sequence[Member]):
    """The members of a mapping or sequence, found on demand."""

    def __init__(self, text: str, start: int, value: list[Any]) -> None:
        self._text, self._start, self._value = text, start, value
        self._found: list[Member] = []
        self._rest = self._find()

    def __len__(self) -> int:
        return len(self._value)

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Member]: ...
    def __getitem__(self, index: int | slice) -> Member | Sequence[Member]:
        last = index if isinstance(index, int) and index >= 0 else len(self) - 1
        self._found.extend(islice(self._rest, max(0, last + 1 - len(self._found))))
        return self._found[index]

    def _find(self) -> Iterator[Member]:
        text, at = self._text, self._start
        names = self._value if isinstance(self._value, Names) else enumerate(self._value)
        for name, value in names:
            start = at = _after_space(text, at + 1)  # after the bracket, or a comma
            if isinstance(self._value, Names):
                at = _after_space(text, _after_space(text, _end(text, at)) + 1)
            end = _end(text, at)
            yield Member(name, start, _node(text, at, end, value))
            at = _after_space(text, end)


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
