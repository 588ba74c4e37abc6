"""Runs work that was started on a page, one at a time for each project, with progress and a way to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from cairn.daemon.http import log_unexpected
from cairn.daemon.projects import Projects
from cairn.errors import CairnError
from cairn.operations import perform
from cairn.protocol.memory_requests import EmbedRequest
from cairn.source.text import pluralize
from cairn.workspace import Workspace

Report = Callable[[int, int], None]


class WorkState(NamedTuple):
    """The progress of a run, or once it has ended, its outcome."""

    done: int = 0
    total: int = 0
    outcome: str = ""


class _StopRun(Exception):
    """Raised in a progress report to end the run."""


class StartedWork:
    """The last run of each project since the daemon started.

    Args:
        projects: the projects.
    """

    unit: str  # the word for what is counted

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._states: dict[str, WorkState] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()

    def state(self, project: str) -> WorkState | None:
        """Return the state of a project's last run; None if there was none.

        Raises:
            ProjectError: if there is no such project.
        """
        return self._states.get(self._root(project))

    def stop(self, project: str) -> bool:
        """End a run after its present batch; return False if none is running.

        Raises:
            ProjectError: if there is no such project.
        """
        root = self._root(project)
        if root in self._running:
            self._stopped.add(root)
        return root in self._running

    def _begin(self, project: str, work: Callable[[Report, Workspace], str]) -> bool:
        """Start a run that goes on when the page is closed; return False if one is running."""
        root = self._root(project)
        if root in self._running:
            return False
        self._stopped.discard(root)
        self._states[root] = WorkState()
        task = self._running[root] = asyncio.create_task(self._run(root, work))
        task.add_done_callback(lambda _: self._running.pop(root))
        return True

    def _root(self, project: str) -> str:
        return self._projects.registry.find(project).root

    async def _run(self, root: str, work: Callable[[Report, Workspace], str]) -> None:
        try:
            outcome = await self._projects.run_apart(root, partial(work, partial(self._report, root)))
        except _StopRun:
            outcome = f"stopped after {pluralize(self._states[root].done, self.unit)}; the rest is as it was"
        except CairnError as error:
            outcome = f"{error}; {error.hint}"
        except Exception as error:  # noqa: BLE001 - the edge of a task; it is logged
            outcome = str(log_unexpected(error))
        self._states[root] = self._states[root]._replace(outcome=outcome)

    def _report(self, root: str, done: int, total: int) -> None:
        self._states[root] = WorkState(done, total)
        if root in self._stopped:
            raise _StopRun


class Builds(StartedWork):
    """Builds of the index."""

    unit = "file"

    def start(self, project: str, *, full: bool) -> bool:
        """Start a build that goes on when the page is closed; return False if one is running.

        Raises:
            ProjectError: if there is no such project.
        """

        def build(report: Report, workspace: Workspace) -> str:
            made = workspace.index(full=full, progress=report)
            return f"{pluralize(made.files, 'file')} indexed in {made.seconds:.1f} s"

        return self._begin(project, build)


class Embeddings(StartedWork):
    """Embeddings of all memories again."""

    unit = "vector"

    def start(self, project: str) -> bool:
        """Start a run that goes on when the page is closed; return False if one is running.

        Raises:
            ProjectError: if there is no such project.
        """

        def embed(report: Report, workspace: Workspace) -> str:
            return _words(perform(workspace, "memories/embed", EmbedRequest(), report))

        return self._begin(project, embed)


def _words(answer: Any) -> str:  # noqa: ANN401 - JSON
    models = answer["models"]
    failed = [f"{model['model']}: {model['error']}" for model in models if model["error"]]
    done = pluralize(sum(model["embedded"] for model in models), "vector")
    return "; ".join([f"{done} written", *failed])
