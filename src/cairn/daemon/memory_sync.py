"""Exchanges open projects' memories with their teams, in its own thread, so that no question waits for a server."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cairn.daemon.projects import Projects
from cairn.daemon.watching import open_workspace
from cairn.errors import CairnError
from cairn.loading import load

REST_SECONDS = 60.0  # between two exchanges of a project
MOST_SECONDS = 1_800.0  # longest pause; each failed exchange doubles it
_log = logging.getLogger("cairn.daemon")


def exchange_memories(root: str) -> None:
    """Exchange the memories of a project, if it shares them with a team.

    Raises:
        CairnError: if that fails.
    """
    with open_workspace(Path(root)) as workspace:
        if not workspace.has_memory:
            return
        memories = load("cairn.memory.team_memories:TeamMemories")(workspace.memory.store)
        if memories.link() is not None:
            load("cairn.remote.memories:exchange")(memories)


class MemorySync:
    """Exchanges the memories of one open project at a time.

    Args:
        projects: those that are open.
        exchange: exchanges the memories of a root; a seam for tests.
        steady: a monotonic clock, in seconds; a seam for tests.
    """

    def __init__(
        self,
        projects: Projects,
        exchange: Callable[[str], None] = exchange_memories,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._projects = projects
        self._exchange = exchange
        self._steady = steady
        self._due: dict[str, float] = {}  # by root
        self._n_failures: dict[str, int] = {}
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Start an exchange if one is due and none is running, without waiting for it."""
        if self._thread is not None and self._thread.is_alive():
            return
        now = self._steady()
        for opened in self._projects.states():
            if now >= self._due.get(opened.root, now):
                self._thread = threading.Thread(
                    target=self._run, args=(opened.root,), name="cairn-memories", daemon=True
                )
                self._thread.start()
                return

    def _run(self, root: str) -> None:
        try:
            self._exchange(root)
            self._n_failures.pop(root, None)
        except CairnError as error:
            self._n_failures[root] = self._n_failures.get(root, 0) + 1
            _log.info("memories of %s are not exchanged: %s", Path(root).name, error)
        except Exception:  # noqa: BLE001 - the edge of a thread; it is logged
            self._n_failures[root] = self._n_failures.get(root, 0) + 1
            _log.exception("exchanging memories failed")
        rest = min(MOST_SECONDS, REST_SECONDS * 2 ** min(self._n_failures.get(root, 0), 10))
        self._due[root] = self._steady() + rest

    def wait(self, seconds: float) -> None:
        """Wait for the running exchange."""
        if self._thread is not None:
            self._thread.join(seconds)
