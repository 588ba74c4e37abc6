"""Lets agents go first: a page waits while they are asking, but never for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

MOST_SECONDS = 0.25  # that one page waits in all
_QUIET_SECONDS = 0.02  # after an answer; an agent with further questions asks within this time
_STEP_SECONDS = 0.005


class Courtesy:
    """How long one page still waits for agents.

    Args:
        quiet_seconds: returns for how long no agent has asked, 0 while one does.
        nap: sleeps in a thread; a seam for tests.
    """

    def __init__(self, quiet_seconds: Callable[[], float], nap: Callable[[float], object] = time.sleep) -> None:
        self._quiet_seconds = quiet_seconds
        self._nap = nap
        self._left_seconds = MOST_SECONDS

    async def wait(self) -> None:
        """Wait until no agent is asking."""
        for seconds in self._steps():
            await asyncio.sleep(seconds)

    def hold(self) -> None:
        """Wait likewise, blocking the calling thread."""
        for seconds in self._steps():
            self._nap(seconds)

    def _steps(self) -> Iterator[float]:
        """Yield each time to sleep, while that is needed."""
        while self._left_seconds > 0 and self._quiet_seconds() < _QUIET_SECONDS:
            self._left_seconds -= _STEP_SECONDS
            yield _STEP_SECONDS
