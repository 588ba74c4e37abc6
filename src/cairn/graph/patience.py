"""How long a question to the symbol graph may resolve what nobody has prepared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ANSWER_SECONDS = 0.8  # leaves time to open the index and to show the answer within a second
BEHIND_SECONDS = 60.0  # for work that nobody waits for
LEAST_FILES = 300  # the symbol graph of fewer is resolved while somebody waits
_SHARES: ContextVar[int] = ContextVar("shares", default=1)


@contextmanager
def shared_time(n_questions: int) -> Iterator[None]:
    """Let so many questions that begin in the block take as long as one, each an equal share of that."""
    before = _SHARES.set(_SHARES.get() * max(1, n_questions))
    try:
        yield
    finally:
        _SHARES.reset(before)


class GraphPatience:
    """The time of one question; `begin` before each.

    Args:
        seconds: how long it may read and resolve.
        least_files: in a project with fewer, all is resolved however long that takes.
        steady: the seconds of a clock that is never set; a seam for tests.

    Attributes:
        lasting: the seconds of this question, which may share its time with others; see `shared_time`.
        is_stopped: whether the time is over because somebody asked; see `behind`.
    """

    def __init__(
        self,
        seconds: float = ANSWER_SECONDS,
        least_files: int = LEAST_FILES,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.least_files = least_files
        self._steady = steady
        self._began = steady()
        self.lasting = seconds
        self._is_awaited: Callable[[], bool] = _never
        self.is_stopped = False

    def begin(self) -> None:
        """Start the time of a question, or of a part of it; the time of work that nobody waits for goes on."""
        if self.is_behind:
            return
        self._began = self._steady()
        self.lasting = self.seconds_each
        self.is_stopped = False

    def leave_half(self) -> None:
        """Leave half of the time at least, since opening and comparing 100,000 files takes all of it."""
        if not self.is_behind:
            self._began = max(self._began, self._steady() - self.lasting / 2)

    @property
    def seconds_each(self) -> float:
        """The seconds that each question is given which shares its time with others, whoever else goes on with it."""
        return self.seconds / _SHARES.get()

    def lasts(self, share: float = 1.0) -> bool:
        """Tell whether a share of the time is left to go on with, from 0 for none of it to 1 for all of it."""
        if self._steady() - self._began >= share * self.lasting:
            return False
        self.is_stopped = self.is_stopped or self._is_awaited()  # whoever asked may be gone at the next look
        return not self.is_stopped

    @property
    def is_behind(self) -> bool:
        """Whether the current work is for nobody who waits."""
        return self._is_awaited is not _never

    @contextmanager
    def behind(self, is_awaited: Callable[[], bool]) -> Iterator[None]:
        """Give the block a longer time, which is over as soon as somebody asks."""
        self.begin()
        self.lasting, self._is_awaited = BEHIND_SECONDS, is_awaited
        try:
            yield
        finally:
            self.lasting, self._is_awaited = self.seconds, _never


def _never() -> bool:
    return False
