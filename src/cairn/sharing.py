"""What threads share: things that are closed once nobody uses them any more, and work that one does for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Shared(Generic[_T]):
    """A thing that several threads use at once. Once it is retired, it is closed as soon as nobody uses it.

    Args:
        thing: what is shared.
        close: releases it. Whoever uses it after that opens it again, and it is closed again behind them.
    """

    def __init__(self, thing: _T, close: Callable[[_T], object]) -> None:
        self.thing = thing
        self._close = close
        self._change = threading.Condition()
        self._users = 0
        self._retired = False

    @contextmanager
    def use(self) -> Iterator[_T]:
        """Give the thing to the block; it stays open until the block is left."""
        with self._change:
            self._users += 1
        try:
            yield self.thing
        finally:
            with self._change:
                self._users -= 1
                is_last = self._retired and not self._users
                self._change.notify_all()
            if is_last:
                self._close(self.thing)

    def retire(self, timeout_seconds: float = 0.0) -> bool:
        """Close the thing once nobody uses it, and tell whether that was so in time. Once is enough."""
        with self._change:
            is_first, self._retired = not self._retired, True
            is_unused = not self._users
        if is_unused and is_first:
            self._close(self.thing)
        with self._change:
            return self._change.wait_for(lambda: not self._users, timeout_seconds)


class OneForAll(Generic[_T]):
    """Work that many threads want done at once: one does it, for all who came before it began."""

    def __init__(self) -> None:
        self.n_waiting = 0  # for their turn, or for the outcome of another's work
        self._counting = threading.Lock()
        self._working = threading.Lock()
        self._begun = self._done = 0  # the numbers of the last time that it was begun, and done
        self._outcome: _T

    def run(self, work: Callable[[], _T]) -> _T:
        """Return the outcome of work that began after this call did, perhaps in another thread.

        Where it fails, that one thread gets the error, and the next does the work itself.
        """
        mine = self._begun + 1
        self._count(1)
        with self._working:
            self._count(-1)
            if self._done < mine:
                self._begun += 1
                self._outcome = work()
                self._done = self._begun
            return self._outcome

    def _count(self, more: int) -> None:
        with self._counting:
            self.n_waiting += more
