"""Lets a question wait until the watcher has indexed everything that was saved before it was asked."""

from __future__ import annotations

import math
import threading

# How long an answer waits, and how long the next one does after a first has waited in vain.
PATIENCE_SECONDS = 5.0
IMPATIENCE_SECONDS = 0.05


class Demand:
    """Numbers the demands. A watcher that has met one has met all earlier ones."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._n_asked = self._n_met = 0
        self._n_refused: float = 0
        self._is_outwaited = False

    def raise_one(self) -> int:
        """Register a demand and return its number."""
        with self._change:
            self._n_asked += 1
            return self._n_asked

    def wait(self, number: int, timeout_seconds: float = PATIENCE_SECONDS) -> bool | None:
        """Wait until a demand is met; return whether it was in time, None if it was refused."""
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
        """Return the number of the latest demand."""
        return self._n_asked

    def is_open(self, number: int) -> bool:
        """Tell whether anyone may be waiting for this demand or an earlier one."""
        return number > max(self._n_met, self._n_refused)

    def meet(self, number: int) -> None:
        """Note that everything saved before this demand has been indexed."""
        with self._change:
            if number > self._n_met:
                self._n_met = number
                self._is_outwaited = False
                self._change.notify_all()

    def refuse(self, *, for_good: bool = False) -> None:
        """Tell those waiting that their demands will not be met; `for_good`: nor will any later ones."""
        with self._change:
            self._n_refused = math.inf if for_good else self._n_asked
            self._is_outwaited = False
            self._change.notify_all()
