"""Embedding all memories of a project again, started on a page: how far it is, and stopping it."""

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


class EmbeddingState(NamedTuple):
    """How far a run is, in vectors; once it has ended, what is to be said of that."""

    done: int = 0
    total: int = 0
    outcome: str = ""


class _StopEmbedding(Exception):
    """Ends a run from its report of how far it is."""


class Embeddings:
    """The last run of each project since the daemon started.

    Args:
        projects: whose memories are embedded.
    """

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._states: dict[str, EmbeddingState] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()

    def state(self, project: str) -> EmbeddingState | None:
        """Return how far the last run of a project is; None if nobody started one.

        Raises:
            ProjectError: if there is no such project.
        """
        return self._states.get(self._root(project))

    def start(self, project: str) -> bool:
        """Start a run that goes on when the page is closed; return False if one is running.

        Raises:
            ProjectError: if there is no such project.
        """
        root = self._root(project)
        if root in self._running:
            return False
        self._stopped.discard(root)
        self._states[root] = EmbeddingState()
        task = self._running[root] = asyncio.create_task(self._run(root))
        task.add_done_callback(lambda _: self._running.pop(root))
        return True

    def stop(self, project: str) -> bool:
        """End a run after its present batch; return False if none is running.

        Raises:
            ProjectError: if there is no such project.
        """
        root = self._root(project)
        if root in self._running:
            self._stopped.add(root)
        return root in self._running

    def _root(self, project: str) -> str:
        return self._projects.registry.find(project).root

    async def _run(self, root: str) -> None:
        try:
            answer = await self._projects.run_apart(root, partial(_embed, partial(self._report, root)))
            outcome = _words(answer)
        except _StopEmbedding:
            outcome = f"stopped after {pluralize(self._states[root].done, 'vector')}; the rest is as it was"
        except CairnError as error:
            outcome = f"{error}; {error.hint}"
        except Exception as error:  # noqa: BLE001 - the edge of a task; it is logged
            outcome = str(log_unexpected(error))
        self._states[root] = self._states[root]._replace(outcome=outcome)

    def _report(self, root: str, done: int, total: int) -> None:
        self._states[root] = EmbeddingState(done, total)
        if root in self._stopped:
            raise _StopEmbedding


def _embed(report: Callable[[int, int], None], workspace: Workspace) -> Any:  # noqa: ANN401 - JSON
    return perform(workspace, "memories/embed", EmbedRequest(), report)


def _words(answer: Any) -> str:  # noqa: ANN401 - JSON
    models = answer["models"]
    failed = [f"{model['model']}: {model['error']}" for model in models if model["error"]]
    done = pluralize(sum(model["embedded"] for model in models), "vector")
    return "; ".join([f"{done} written", *failed])
