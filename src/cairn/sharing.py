"""Sharing between threads: things that are closed once unused, process settings, and work done by one for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Shared(Generic[_T]):
    """A thing that several threads use at once. Once retired, it is closed as soon as nobody uses it.

    Args:
        thing: what is shared.
        close: releases it. A later use reopens it, and it is closed again afterwards.
    """

    def __init__(self, thing: _T, close: Callable[[_T], object]) -> None:
        self.thing = thing
        self._close = close
        self._lock = threading.RLock()  # a lock is entered without a Python call, unlike the condition
        self._change = threading.Condition(self._lock)
        self._users = 0
        self._retired = False

    def use(self) -> AbstractContextManager[_T]:
        """Return a context that yields the thing and keeps it open."""
        return _Use(self)

    def begin_use(self) -> None:
        """Keep the thing open until `end_use` is called."""
        with self._lock:
            self._users += 1

    def end_use(self) -> None:
        """Take back one `begin_use`."""
        with self._lock:
            self._users -= 1
            if not self._retired:
                return
            is_last = not self._users
            self._change.notify_all()
        if is_last:
            self._close(self.thing)

    def retire(self, timeout_seconds: float = 0.0) -> bool:
        """Close the thing once nobody uses it; return whether that was within the timeout. Call this only once."""
        with self._change:
            is_first, self._retired = not self._retired, True
            is_unused = not self._users
        if is_unused and is_first:
            self._close(self.thing)
        with self._change:
            return self._change.wait_for(lambda: not self._users, timeout_seconds)


class ProcessSetting(Generic[_T]):
    """A process-wide setting that is changed while any thread does work that needs it.

    Args:
        read, write: get and set its value.
        change: maps the original value to the temporary one.
    """

    def __init__(self, read: Callable[[], _T], write: Callable[[_T], object], change: Callable[[_T], _T]) -> None:
        self._read = read
        self._write = write
        self._change = change
        self._lock = threading.Lock()
        self._before: list[_T] = []  # the original value, while somebody is at work
        self._users = 0

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Keep the setting changed until the last block in any thread ends."""
        with self._lock:
            if not self._users:
                self._before = [self._read()]
                self._write(self._change(self._before[0]))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._write(self._before.pop())


class _Use(Generic[_T]):
    """A block that uses a shared thing; a class, because every question enters two and a generator is slower."""

    __slots__ = ("_shared",)

    def __init__(self, shared: Shared[_T]) -> None:
        self._shared = shared

    def __enter__(self) -> _T:
        self._shared.begin_use()
        return self._shared.thing

    def __exit__(self, *_: object) -> None:
        self._shared.end_use()


class OneForAll(Generic[_T]):
    """Work that many threads need at once: one of them does it for all who asked before it began."""

    def __init__(self) -> None:
        self.n_waiting = 0  # waits for a turn, or for another thread's result
        self._counting = threading.Lock()
        self._working = threading.Lock()
        self._begun = self._done = 0  # the numbers of the last run that began and that ended
        self._result: _T

    def run(self, work: Callable[[], _T]) -> _T:
        """Return the result of work that began after this call, perhaps in another thread.

        If it fails, only the thread that did it gets the error, and the next thread does the work itself.
        """
        mine = self._begun + 1
        self._count(1)
        with self._working:
            self._count(-1)
            if self._done < mine:
                self._begun += 1
                self._result = work()
                self._done = self._begun
            return self._result

    def _count(self, more: int) -> None:
        with self._counting:
            self.n_waiting += more
