"""Carries out the operations of `cairn.protocol` on an opened project: a request in, a JSON document out.

The command line does it in its own process, the daemon for everybody else; so both give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.operations.context import context
from cairn.operations.core import add_core, list_core, remove_core, suggest_core
from cairn.operations.graph import QUESTIONS, answer
from cairn.operations.read import fetch, outline
from cairn.operations.search import search, similar
from cairn.protocol.requests import ProjectRequest
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_PERFORM: dict[str, Callable[[Workspace, Any, Progress | None], Any]] = {
    "search": search,
    "similar": similar,
    "fetch": fetch,
    "context": context,
    "outline": outline,
    **{f"graph/{name}": partial(answer, question) for name, question in QUESTIONS.items()},
    "core/list": list_core,
    "core/add": add_core,
    "core/remove": remove_core,
    "core/suggest": suggest_core,
}


def perform(workspace: Workspace, operation: str, request: ProjectRequest, progress: Progress | None = None) -> Any:  # noqa: ANN401 - JSON
    """Carry out an operation and return its answer as JSON, within the tokens the request gives.

    Args:
        operation: a name in `cairn.protocol.OPERATIONS`.
        request: of the class given there.
        progress: called with (files done, files to do) while files are read.

    Raises:
        CairnError: whatever the workspace raises.
    """
    return _PERFORM[operation](workspace, request, progress)
