"""Whether anybody still waits for the work at hand: what takes long asks now and then, and stops when nobody does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cairn.errors import BusyError


class GiveWay(Exception):
    """Raised where work in a place for what is quick would become slow; it is done again in another place. No error."""


class Asker:
    """Whoever waits for an answer that another thread works on; `leave` may be called from any thread.

    Args:
        in_haste: the work is done in a place for what is quick, and is to give way before it becomes slow.
    """

    def __init__(self, *, in_haste: bool = False) -> None:
        self.is_gone = False
        self.in_haste = in_haste

    def leave(self) -> None:
        """Wait no longer."""
        self.is_gone = True

    def check(self) -> None:
        """Stop the work at hand if this one waits no longer.

        Raises:
            BusyError: if so. Nobody is there to read it.
        """
        if self.is_gone:
            raise BusyError("nobody waits for this answer any more", "ask again")

    @contextmanager
    def serve(self) -> Iterator[None]:
        """Do what the block does for this one: once they are gone, the function `check` stops it, in this thread."""
        before = _ASKER.set(self)
        try:
            yield
        finally:
            _ASKER.reset(before)


_ASKER: ContextVar[Asker | None] = ContextVar("asker", default=None)


def check() -> None:
    """Stop the work at hand if nobody waits for it any more; costs some 100 ns.

    What others profit from too, such as an update of the index, is done without it.

    Raises:
        BusyError: if so. Nobody is there to read it.
    """
    asker = _ASKER.get()
    if asker is not None:
        asker.check()


def give_way() -> None:
    """Stop the work at hand, which is about to become slow, if it is done in a place for what is quick.

    Raises:
        GiveWay: if so. Whoever gave it that place does it again in another.
    """
    asker = _ASKER.get()
    if asker is not None and asker.in_haste:
        raise GiveWay
