"""Carries out the operations of `cairn.protocol` on an opened project: a request in, a JSON document out.

The command line does it in its own process, the daemon for everybody else; so both give the same answer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.protocol.requests import ProjectRequest
    from cairn.workspace import Workspace

# Where the operations whose names begin so are, by their whole names in `PERFORM`; a search need not load the others.
_MODULES = {
    "search": "cairn.operations.search",
    "similar": "cairn.operations.search",
    "fetch": "cairn.operations.read",
    "outline": "cairn.operations.read",
    "context": "cairn.operations.context",
    "graph": "cairn.operations.graph",
    "history": "cairn.operations.history",
    "core": "cairn.operations.core",
    "remember": "cairn.operations.memory",
    "recall": "cairn.operations.memory",
    "memories": "cairn.operations.memory",
    "savings": "cairn.operations.savings",
    "sessions": "cairn.operations.sessions",
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
    module = import_module(_MODULES[operation.partition("/")[0]])
    return module.PERFORM[operation](workspace, request, progress)
