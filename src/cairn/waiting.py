"""Lets long work check regularly whether anybody is still waiting, and stop if nobody is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cairn.errors import BusyError


class GiveWay(Exception):
    """Raised when a quick question is about to become slow; the work is then redone elsewhere."""


class TimeUp(Exception):
    """Raised when the time limit of a step is over; see `limited`."""


class Asker:
    """Someone who waits for another thread's answer; any thread may call `leave`.

    Args:
        in_haste: whether the work runs in a thread for quick questions, and must give way before it becomes slow.
    """

    def __init__(self, *, in_haste: bool = False) -> None:
        self.is_gone = False
        self.in_haste = in_haste

    def leave(self) -> None:
        """Stop waiting."""
        self.is_gone = True

    def check(self) -> None:
        """Stop the current work if this asker has left.

        Raises:
            BusyError: if so. Nobody is left to read it.
        """
        if self.is_gone:
            raise BusyError("nobody is waiting for this answer any more", "ask again")

    @contextmanager
    def serve(self) -> Iterator[None]:
        """Run the block for this asker; once they have left, the function `check` stops it, in this thread."""
        before = _ASKER.set(self)
        try:
            yield
        finally:
            _ASKER.reset(before)


_ASKER: ContextVar[Asker | None] = ContextVar("asker", default=None)
_MAY_GO_ON: ContextVar[Callable[[], bool] | None] = ContextVar("may_go_on", default=None)


@contextmanager
def limited(may_go_on: Callable[[], bool]) -> Iterator[None]:
    """Limit the time of the block: afterwards, the next `check` in it raises `TimeUp`, for the caller to catch."""
    before = _MAY_GO_ON.set(may_go_on)
    try:
        yield
    finally:
        _MAY_GO_ON.reset(before)


def check() -> None:
    """Stop the current work if nobody is waiting for it any more or its time is over. Takes about 150 ns.

    Work that others need too, such as an update of the index, does not call it.

    Raises:
        BusyError: if nobody waits. Nobody is left to read it.
        TimeUp: if the time is over.
    """
    asker = _ASKER.get()
    if asker is not None:
        asker.check()
    may_go_on = _MAY_GO_ON.get()
    if may_go_on is not None and not may_go_on():
        raise TimeUp


def give_way() -> None:
    """Stop the current work, which is about to become slow, if it runs in a thread for quick questions.

    Raises:
        GiveWay: if so. The work is then redone in another thread.
    """
    asker = _ASKER.get()
    if asker is not None and asker.in_haste:
        raise GiveWay
