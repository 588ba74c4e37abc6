"""Performs the operations of `cairn.protocol` on an open project: a request in, a JSON document out.

The command line does this in its own process and the daemon for everybody else, so both give the same answers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.protocol.requests import ProjectRequest
    from cairn.workspace import Workspace

# The modules of operations by the beginning of their names; each has `PERFORM`. A search does not load the others.
_MODULES = {
    "search": "cairn.operations.search",
    "similar": "cairn.operations.search",
    "fetch": "cairn.operations.read",
    "outline": "cairn.operations.read",
    "context": "cairn.operations.context",
    "flow": "cairn.operations.flow",
    "graph": "cairn.operations.graph",
    "history": "cairn.operations.history",
    "core": "cairn.operations.core",
    "remember": "cairn.operations.memory",
    "recall": "cairn.operations.memory",
    "memories": "cairn.operations.memory",
    "feedback": "cairn.operations.feedback",
    "memories/change": "cairn.operations.memory_bulk",
    "memories/export": "cairn.operations.memory_bulk",
    "memories/code": "cairn.operations.memory_upkeep",
    "memories/doubtful": "cairn.operations.doubtful",
    "memories/keep": "cairn.operations.memory_upkeep",
    "memories/embed": "cairn.operations.memory_upkeep",
    "optimize": "cairn.operations.tuning",
    "eval": "cairn.operations.tuning",
    "savings": "cairn.operations.savings",
    "sessions": "cairn.operations.sessions",
}


def perform(workspace: Workspace, operation: str, request: ProjectRequest, progress: Progress | None = None) -> Any:  # noqa: ANN401 - JSON
    """Perform an operation and return its answer as JSON, within the request's token budget.

    Args:
        operation: a name in `cairn.protocol.table.OPERATIONS`.
        request: of the class given there.
        progress: called with (files done, files to do) while files are read.

    Raises:
        CairnError: whatever the workspace raises.
    """
    module = import_module(_MODULES.get(operation) or _MODULES[operation.partition("/")[0]])
    return module.PERFORM[operation](workspace, request, progress)
