#!/usr/bin/env python3
"""Stock keeping for a small warehouse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Generic, TypeVar, overload

try:
    import orjson
    HAVE_ORJSON = True
except ImportError:
    HAVE_ORJSON = False

if TYPE_CHECKING:
    Handler = Callable[["Item"], None]

T = TypeVar("T")
MAX_ITEMS: int = 10_000
_DEFAULT_UNIT = "piece"
low, high = 0, 100
first = last = None
__all__ = ["Item", "Shelf"]
type Pair[K, V] = tuple[K, V]
type Code = str | int

double = lambda n: n * 2  # noqa: E731


def retry(times: int = 3) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Call the function again when it fails.

    Only the last error escapes.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @wraps(function)
        def wrapper(*args: object) -> T:
            attempt = 0
            while True:
                try:
                    return function(*args)
                except OSError:
                    attempt += 1
                    if attempt == times:
                        raise

        return wrapper

    return decorate


# One thing that lies on a shelf.
# It never changes.
@dataclass(
    frozen=True,
    slots=True,
)
class Item:
    """An item."""

    code: Code
    unit: str = _DEFAULT_UNIT
    tags: list[str] = field(default_factory=list)

    @property
    def label(self) -> str: return f"{self.code} ({self.unit})"

    @overload
    def scaled(self, by: int) -> Item: ...

    @overload
    def scaled(self, by: float) -> Item: ...

    def scaled(self, by):
        r"""Return a \larger item."""
        return Item(self.code, f"{by} {self.unit}")

    class Meta:
        ordering = ("code",)


class Shelf(Generic[T],
            metaclass=type):
    def __init__(self, name: str) -> None:
        self.name = name
        self._items: dict[str, T] = {}

    async def load(
        self,
        path: str,
    ) -> None:
        'Read the shelf from a file.'
        await asyncio.sleep(0)

    def __iter__(self) -> Iterator[T]:
        yield from self._items.values()

    if HAVE_ORJSON:
        def dump(self) -> bytes:
            return orjson.dumps(self._items)


def größe(shelf: Shelf[Item]) -> int: return sum(1 for _ in shelf)


if __name__ == "__main__":
    shelf = Shelf("a")
    asyncio.run(shelf.load("a.json"))
