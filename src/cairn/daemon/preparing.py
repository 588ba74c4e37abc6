"""Resolves the symbol graphs of open projects while the daemon is idle, so that nobody has to wait for it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from cairn.daemon.projects import Projects
from cairn.errors import CairnError

if TYPE_CHECKING:
    from cairn.workspace import Workspace

# Between two preparations of a project; after a mere edit, the next question catches up quickly.
REST_SECONDS = 300.0
_END_SECONDS = 2.0

Process = subprocess.Popen[bytes]


def prepare_graph(workspace: Workspace) -> Process | None:
    """Start to prepare a project that needs it."""
    return workspace.upkeep.prepare_graph()


class Preparer:
    """Runs one preparation at a time, each in its own low-priority process.

    Args:
        projects: those that are open.
        prepare: starts one; a seam for tests.
        steady: the seconds of a clock that is never set; a seam for tests.
    """

    def __init__(
        self,
        projects: Projects,
        prepare: Callable[[Workspace], Process | None] = prepare_graph,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._projects = projects
        self._prepare = prepare
        self._steady = steady
        self._process: Process | None = None
        self._looked_at: dict[str, float] = {}  # by root

    async def look(self) -> None:
        """Start a preparation if a project needs one and none is running; call this while the daemon is idle."""
        if self._process is not None and self._process.poll() is None:
            return
        self._process = None
        now = self._steady()
        for opened in self._projects.states():
            if now - self._looked_at.get(opened.root, -REST_SECONDS) >= REST_SECONDS:
                self._looked_at[opened.root] = now
                with suppress(CairnError):  # it is not indexed yet, or its folder is gone
                    self._process = await self._projects.run_at_once(opened.root, self._prepare)
                if self._process is not None:
                    return

    def close(self) -> None:
        """Stop the running preparation; what it has stored is kept."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
