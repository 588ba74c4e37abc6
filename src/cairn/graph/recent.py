"""Keeps recently used values up to a total weight, and work that was begun; both can be done again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, Self, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Room(NamedTuple):
    """How much the graph of one project keeps in memory, beyond its arrays.

    `files`, `facts` and `contents` are bytes, by estimates, `unstored` those of facts that are not in the index yet;
    `names`, `places`, `answers` and `rows` count definitions that were looked up by name, modules that were looked up,
    expressions that were evaluated, and references that were resolved.
    """

    files: int
    facts: int
    contents: int
    unstored: int
    names: int
    places: int
    answers: int
    rows: int

    @classmethod
    def of(cls, kept_bytes: int) -> Self:
        """Divide the memory that may be used; the shares and sizes were measured.

        Facts that are not in the index come on top, where another process writes it during the first question to a
        project: dropping them would mean parsing their files again, one by one.
        """
        return cls(
            files=kept_bytes // 2,
            facts=kept_bytes // 5,
            contents=kept_bytes // 10,
            unstored=3 * kept_bytes // 5,
            names=kept_bytes // 400,
            places=kept_bytes // 5_000,
            answers=kept_bytes // 1_800,
            rows=kept_bytes // 2_000,
        )


class Unfinished(Generic[K]):
    """Work that a question did not finish for want of time, to be gone on with; the last few.

    Args:
        limit: how many.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._works: dict[K, object] = {}

    def take(self, key: K) -> object | None:
        """Return what was begun, None for nothing; work that fails now is not gone on with."""
        return self._works.pop(key, None)

    def keep(self, key: K, work: object) -> None:
        """Keep what is not done."""
        while len(self._works) >= self._limit:
            del self._works[next(iter(self._works))]
        self._works[key] = work


class Recent(Generic[K, V]):
    """Values by key; the least recently used ones are dropped.

    There are two generations. Values that are used move to the younger one. Once that weighs half of the limit, it
    replaces the older one, which is dropped. That is nearly as good as strict order of use, and costs a hit nothing.

    Args:
        limit: what all values may weigh together.
        weigh: returns what a value weighs, in any unit.
    """

    def __init__(self, limit: int, weigh: Callable[[V], int]) -> None:
        self._limit = limit
        self._weigh = weigh
        self._younger: dict[K, V] = {}
        self._older: dict[K, V] = {}
        self._weight = 0

    def get(self, key: K) -> V | None:
        """Return a value, None if there is none or it was dropped."""
        found = self._younger.get(key)
        if found is None and (found := self._older.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: K, value: V) -> V:
        """Add or replace a value, and return it."""
        self._weight += self._weigh(value)
        if 2 * self._weight > self._limit and self._younger:
            self._older, self._younger = self._younger, {}
            self._weight = self._weigh(value)
        self._younger[key] = value
        return value

    def add_weight(self, weight: int) -> None:
        """Note that a value became heavier by so much since it was put."""
        self._weight += weight

    def clear(self) -> None:
        """Drop all."""
        self._younger.clear()
        self._older.clear()
        self._weight = 0
