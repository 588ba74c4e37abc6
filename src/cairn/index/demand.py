"""Lets those who ask wait until a watcher has taken in all that was saved before they asked."""

from __future__ import annotations

import math
import threading

# How long an answer waits for that, and how long it does once another has waited so long for the same.
PATIENCE_SECONDS = 5.0
IMPATIENCE_SECONDS = 0.05


class Demand:
    """Numbers what is asked. A watcher that has met a number has met all before it."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._n_asked = self._n_met = 0
        self._n_refused: float = 0
        self._is_outwaited = False

    def raise_one(self) -> int:
        """Ask, and return the number of that."""
        with self._change:
            self._n_asked += 1
            return self._n_asked

    def wait(self, number: int, timeout_seconds: float = PATIENCE_SECONDS) -> bool | None:
        """Wait until a number is met; return whether it was in time, None if it is refused."""
        with self._change:
            seconds = IMPATIENCE_SECONDS if self._is_outwaited else timeout_seconds
            self._change.wait_for(lambda: max(self._n_met, self._n_refused) >= number, seconds)
            if self._n_met >= number:
                return True
            if self._n_refused >= number:
                return None
            self._is_outwaited = True
            return False

    def last(self) -> int:
        """Return the number of the last that was asked."""
        return self._n_asked

    def is_open(self, number: int) -> bool:
        """Tell whether somebody may wait for this number or one before it."""
        return number > max(self._n_met, self._n_refused)

    def meet(self, number: int) -> None:
        """Note that all is taken in that was saved before this was asked."""
        with self._change:
            if number > self._n_met:
                self._n_met = number
                self._is_outwaited = False
                self._change.notify_all()

    def refuse(self, *, for_good: bool = False) -> None:
        """Let those who wait know that nobody will meet what they asked; `for_good`: nor what is asked from now on."""
        with self._change:
            self._n_refused = math.inf if for_good else self._n_asked
            self._is_outwaited = False
            self._change.notify_all()
