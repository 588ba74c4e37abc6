"""Tunes projects and judges versions on trial while the daemon is idle: one at a time, never on battery."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from cairn.daemon.projects import Projects
from cairn.errors import CairnError

if TYPE_CHECKING:
    from cairn.workspace import Workspace

QUIET_SECONDS = 180.0  # of idle time before anything starts
_END_SECONDS = 2.0

Process = subprocess.Popen[bytes]


def learn(workspace: Workspace) -> Process | None:
    """Start what a project needs, None if it needs nothing. Free of cost if there is nothing to learn from."""
    settings = workspace.settings.memory
    is_wanted = settings is None or settings.optimize
    is_tuned = (workspace.state.path / "tuning.json").exists()
    if not workspace.has_memory or not (is_tuned or (is_wanted and _has_evidence(workspace))):
        return None
    return workspace.tuning.start_due()


def _has_evidence(workspace: Workspace) -> bool:
    """Tell whether there may be commits, or uses of answers."""
    return workspace.branch != "" or workspace.memory.feedback.counts().n_used > 0


class Learner:
    """Runs one low-priority process at a time, and stops it when a request comes.

    A run saves what it has found, so that the next one continues from there. Between two requests, each open project is
    checked once.

    Args:
        projects: the open ones.
        start: starts a process; a seam for tests.
    """

    def __init__(self, projects: Projects, start: Callable[[Workspace], Process | None] = learn) -> None:
        self._projects = projects
        self._start = start
        self._process: Process | None = None
        self._looked_at: set[str] = set()  # roots checked since the last request

    async def look(self, quiet_seconds: float) -> None:
        """Start a process if a project needs one and none is running.

        Args:
            quiet_seconds: the time since the last request.
        """
        if self._is_running or quiet_seconds < QUIET_SECONDS:
            return
        for opened in self._projects.states():
            if opened.root not in self._looked_at:
                self._looked_at.add(opened.root)
                with suppress(CairnError):  # not indexed yet, or its folder is gone
                    self._process = await self._projects.run_at_once(opened.root, self._start)
                if self._process is not None:
                    return

    @property
    def _is_running(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            self._process = None
        return self._process is not None

    def give_way(self) -> None:
        """Stop the running process because a request came, without waiting for it."""
        if self._looked_at:
            self._looked_at.clear()
            if self._is_running and self._process is not None:
                self._process.terminate()

    def close(self) -> None:
        """Stop the running process."""
        self.give_way()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
