"""Builds of an index that somebody started on a page: one at a time for each project, with how far it is."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import NamedTuple

from cairn.daemon.http import log_unexpected
from cairn.daemon.projects import Projects
from cairn.errors import CairnError
from cairn.source.text import pluralize
from cairn.workspace import Workspace


class BuildState(NamedTuple):
    """How far a build is, in files; once it has ended, what is to be said of that."""

    done: int = 0
    total: int = 0
    outcome: str = ""


class Builds:
    """The last build of each project since the daemon started.

    Args:
        projects: that are built.
    """

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._states: dict[str, BuildState] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    def state(self, project: str) -> BuildState | None:
        """Return how far the last build of a project is; None if nobody started one.

        Raises:
            ProjectError: if there is no such project.
        """
        return self._states.get(self._root(project))

    def start(self, project: str, *, full: bool) -> bool:
        """Start a build that goes on when the page is closed; return False if one is running.

        Raises:
            ProjectError: if there is no such project.
        """
        root = self._root(project)
        if root in self._running:
            return False
        self._states[root] = BuildState()
        task = self._running[root] = asyncio.create_task(self._build(root, full=full))
        task.add_done_callback(lambda _: self._running.pop(root))
        return True

    def _root(self, project: str) -> str:
        return self._projects.registry.find(project).root

    async def _build(self, root: str, *, full: bool) -> None:
        try:
            outcome = await self._projects.run_apart(root, partial(self._index, root, full))
        except CairnError as error:
            outcome = f"{error}; {error.hint}"
        except Exception as error:  # noqa: BLE001 - the edge of a task; it is logged
            outcome = str(log_unexpected(error))
        self._states[root] = self._states[root]._replace(outcome=outcome)

    def _index(self, root: str, full: bool, workspace: Workspace) -> str:
        def report(done: int, total: int) -> None:
            self._states[root] = BuildState(done, total)

        made = workspace.index(full=full, progress=report)
        return f"{pluralize(made.files, 'file')} indexed in {made.seconds:.1f} s"
