"""Reads new commits of a watched project in its own thread, while nobody is waiting."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from cairn.loading import load

if TYPE_CHECKING:
    from cairn.config import Settings
    from cairn.history.past import Extent

PART_SECONDS = 2.0  # seconds of reading per part, after which the commits are available
_log = logging.getLogger("cairn.history")


class HistoryThread:
    """Reads unknown commits whenever it is woken, at low priority, until it is ended.

    Args:
        name: the project's name in the log.
        settings: of the project; if they disable the history, nothing is read.
        follow: reads for some seconds, and returns how much is then known, None if there is no history.
    """

    def __init__(self, name: str, settings: Settings, follow: Callable[[float], Extent | None]) -> None:
        self._name = name
        self._settings = settings
        self._follow = follow
        self._is_ending = False
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"cairn-history-{name}", daemon=True)
        if settings.history:
            self._thread.start()

    def wake(self) -> None:
        """Wake it to look for new commits."""
        self._news.set()

    def end(self, timeout_seconds: float) -> bool:
        """End it after the current part; return whether that was done in time."""
        self._is_ending = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(max(0.0, timeout_seconds))
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            load("cairn.index.limits:lower_priority")(self._settings)
            while self._news.wait() and not self._is_ending:
                self._news.clear()
                self._read()
        except Exception:  # noqa: BLE001 - the edge of a thread
            _log.exception("%s: commits are no longer read", self._name)

    def _read(self) -> None:
        """Read part by part until everything is known or nothing more can be read."""
        n_read = -1
        while not self._is_ending:
            extent = self._follow(PART_SECONDS)
            if extent is None or extent.read >= extent.listed or extent.read == n_read:
                return
            n_read = extent.read
