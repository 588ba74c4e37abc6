"""Has projects tuned, and versions on trial judged, while nobody asks: one at a time, and never on battery."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from cairn.daemon.projects import Projects
from cairn.errors import CairnError

if TYPE_CHECKING:
    from cairn.workspace import Workspace

QUIET_SECONDS = 180.0  # without a request, before anything begins
_END_SECONDS = 2.0

Process = subprocess.Popen[bytes]


def learn(workspace: Workspace) -> Process | None:
    """Start what a project needs; None if it needs nothing. Without anything to learn from, that costs nothing."""
    settings = workspace.settings.memory
    is_wanted = settings is None or settings.optimize
    is_tuned = (workspace.state.path / "tuning.json").exists()
    if not workspace.has_memory or not (is_tuned or (is_wanted and _has_evidence(workspace))):
        return None
    return workspace.tuning.start_due()


def _has_evidence(workspace: Workspace) -> bool:
    """Tell whether there may be commits, or anything was done with an answer."""
    return workspace.branch != "" or workspace.memory.feedback.counts().n_used > 0


class Learner:
    """Runs one process at a time, at low priority, and ends it when a request comes.

    What a run has found so far is kept, so the next goes on from there. Each open project is looked at once between
    two requests.

    Args:
        projects: those that are open.
        start: starts a process; a seam for tests.
    """

    def __init__(self, projects: Projects, start: Callable[[Workspace], Process | None] = learn) -> None:
        self._projects = projects
        self._start = start
        self._process: Process | None = None
        self._looked_at: set[str] = set()  # roots, since the last request

    async def look(self, quiet_seconds: float) -> None:
        """Start something if a project needs it and nothing is running.

        Args:
            quiet_seconds: for how long no request has come.
        """
        if self._is_running or quiet_seconds < QUIET_SECONDS:
            return
        for opened in self._projects.states():
            if opened.root not in self._looked_at:
                self._looked_at.add(opened.root)
                with suppress(CairnError):  # it is not indexed yet, or its folder is gone
                    self._process = await self._projects.run_at_once(opened.root, self._start)
                if self._process is not None:
                    return

    @property
    def _is_running(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            self._process = None
        return self._process is not None

    def give_way(self) -> None:
        """End what is running, as a request came; nothing waits for that."""
        if self._looked_at:
            self._looked_at.clear()
            if self._is_running and self._process is not None:
                self._process.terminate()

    def close(self) -> None:
        """End what is running."""
        self.give_way()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
