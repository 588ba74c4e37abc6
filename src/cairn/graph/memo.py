"""Remembers answers and what each depends on, its needs, so that after a change only some are computed again.

An answer may depend on itself by way of others: a base class on a name that it inherits. Such a circle is cut, and
the inner question gets a stand-in. An answer must not depend on where a circle was entered. So one that a cut took part
in is remembered only for the question where the circle began, and not used while a question of the circle is open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeVar, cast
from zlib import crc32

T = TypeVar("T")
Needs = frozenset[int]

_MAX_OPEN = 96  # questions nested in each other
_NO_CUT = _MAX_OPEN + 1
_MAX_KNOWN = 120_000


# -- needs are numbers; two may share a number, which only costs time --------------------------------------------------

INCLUDES = crc32(b"includes")  # the need for what all files include
GLOBAL_USINGS = crc32(b"global usings")  # the need for which files of C# import for others


@lru_cache(maxsize=1 << 15)
def content_of(path: str) -> int:
    """Return the need for what other files can see of a file."""
    return crc32(f"content {path}".encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=1 << 15)
def namesakes_of(name: str) -> int:
    """Return the need for all definitions of a name."""
    return crc32(f"name {name}".encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=1 << 15)
def place_called(text: str) -> int:
    """Return the need for all files and folders that a text stands for; see `cairn.graph.modules.places`."""
    return crc32(f"place {text}".encode("utf-8", "surrogateescape"))


# -- what is known ----------------------------------------------------------------------------------------------------


class _Known(NamedTuple):
    value: object
    needs: Needs
    circle: frozenset[Hashable]


@dataclass(slots=True)
class _Open:
    """A question being answered: its needs so far, the outermost question it was cut at, and what depends on that."""

    needs: set[int] = field(default_factory=set)
    lowest: int = _NO_CUT
    circle: list[Hashable] = field(default_factory=list)


class Memo:
    """The answers about one state of the code.

    Those that were not used for a while are forgotten, as in `cairn.graph.recent`, and computed again when needed.

    Args:
        limit: how many answers are remembered at most.
    """

    def __init__(self, limit: int = _MAX_KNOWN) -> None:
        self._limit = limit
        self._known: dict[Hashable, _Known] = {}
        self._older: dict[Hashable, _Known] = {}
        self._depth: dict[Hashable, int] = {}
        self._open = [_Open()]
        self._sets: dict[Needs, Needs] = {}

    def forget(self) -> None:
        """Drop all answers."""
        self._known, self._older, self._sets = {}, {}, {}

    def need(self, what: int) -> None:
        """Note a need of the question being answered."""
        self._open[-1].needs.add(what)

    def need_all(self, what: Iterable[int]) -> None:
        """Note several needs of the question being answered."""
        self._open[-1].needs.update(what)

    def recall(self, key: Hashable, stand_in: T, find: Callable[[], T]) -> T:
        """Return what `find` gives for a key, remembered; `stand_in` if `find` asks for the same key again."""
        known = self._known.get(key)
        if known is None and (known := self._older.get(key)) is not None:
            self._known[key] = known
        if known is not None and (not known.circle or known.circle.isdisjoint(self._depth)):
            self._open[-1].needs |= known.needs
            return cast("T", known.value)
        depth = len(self._depth)
        if key in self._depth or depth >= _MAX_OPEN:
            self._open[-1].lowest = min(self._open[-1].lowest, self._depth.get(key, 0))
            return stand_in
        self._depth[key] = depth
        own = _Open()
        self._open.append(own)
        try:
            value = find()
        finally:
            self._open.pop()
            del self._depth[key]
        around = self._open[-1]
        around.needs |= own.needs
        if own.lowest >= depth:
            needs = frozenset(own.needs)
            circle = frozenset((*own.circle, key)) if own.circle else frozenset()
            self._known[key] = _Known(value, self._sets.setdefault(needs, needs), circle)
            if not depth and 2 * len(self._known) >= self._limit:
                self._older, self._known, self._sets = self._known, {}, {}
        else:
            around.lowest = min(around.lowest, own.lowest)
            around.circle += (*own.circle, key)
        return value

    def known(self, key: Hashable) -> object | None:
        """Return an answer that is remembered and may be used here, without noting its needs; None if there is none."""
        known = self._usable(key)
        return known.value if known is not None else None

    def combine(self, key: Hashable, keys: Iterable[Hashable], make: Callable[[list[Needs]], object]) -> None:
        """Remember what others make up, to be had from `known`, if all of these are remembered and may be used here.

        Args:
            key: of the answer.
            keys: of the others.
            make: called with what each of the others needs.
        """
        needs: list[Needs] = []
        circle: set[Hashable] = set()
        for part in keys:
            if (known := self._usable(part)) is None:
                return
            needs.append(known.needs)
            circle |= known.circle
        self._known[key] = _Known(make(needs), frozenset(), frozenset(circle))

    def _usable(self, key: Hashable) -> _Known | None:
        """Return an answer unless a question is open that it may depend on."""
        known = self._known.get(key) or self._older.get(key)
        return known if known is not None and known.circle.isdisjoint(self._depth) else None

    @contextmanager
    def noting(self) -> Iterator[set[int]]:
        """Collect the needs of all questions answered during the block."""
        self._open.append(_Open())
        try:
            yield self._open[-1].needs
        finally:
            self._open.pop()
