"""Work that recurs every few seconds beside the answers, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from cairn.errors import CairnError

_log = logging.getLogger("cairn.team")


class Recurring:
    """Does some work every few seconds, and a last time when it is closed; an error does not end it.

    Args:
        work: what is done; it is told whether this is the last time.
        rest_seconds: between two times.
        name: of the thread.
        trouble: what it means, in the log, that the work failed.
        at_once: do it at the start, too.
    """

    def __init__(
        self, work: Callable[[bool], None], rest_seconds: float, name: str, trouble: str, *, at_once: bool = False
    ) -> None:
        self._work = work
        self._rest_seconds = rest_seconds
        self._trouble = trouble
        self._at_once = at_once
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Do the work a last time, and wait until that is done."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        if self._at_once:
            self._try(is_last=False)
        is_last = False
        while not is_last:
            is_last = self._end.wait(self._rest_seconds)
            self._try(is_last=is_last)

    def _try(self, *, is_last: bool) -> None:
        try:
            self._work(is_last)
        except CairnError as error:
            _log.warning("%s: %s", self._trouble, error)
