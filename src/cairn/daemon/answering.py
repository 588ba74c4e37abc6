"""Answers an operation on a project: opens it, looks for changes first, and gives the question a thread."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.daemon.state import Daemon
from cairn.operations import perform
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_NEED_NO_INDEX = ("fetch", "flow", "outline", "core/list", "core/add", "core/remove")  # or take it as it is
_SLOW = ("graph/", "core/suggest")  # need the symbol graph, which may have to be built first


async def answer(daemon: Daemon, operation: str, arguments: ProjectRequest, project: str | None = None) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of an operation as JSON.

    Args:
        daemon: whose projects.
        operation: its name.
        arguments: of the class that the operation takes.
        project: by name or folder; by default the one that the arguments name.

    Raises:
        CairnError: whatever the operation raises.
    """
    needs_index = operation not in (*_NEED_NO_INDEX, *MEMORY_OPERATIONS) and getattr(arguments, "type", "") != "memory"
    updates = hasattr(arguments, "update")  # then it says so in its answer if the index is behind
    if updates and getattr(arguments, "branch", None) is not None:
        updates = False  # a branch is answered as it was indexed, and the one checked out perhaps by the checkout
    elif updates and needs_index:
        arguments = replace(arguments, update=True)  # type: ignore[call-arg] # it has this field
    return await daemon.projects.run(
        arguments.project if project is None else project,
        partial(_perform, operation, arguments),
        fresh=needs_index and not updates,
        build=arguments.build or not needs_index,
        slow=operation.startswith(_SLOW),
        timeout_seconds=daemon.limits.answer_seconds,
    )


def _perform(operation: str, arguments: ProjectRequest, workspace: Workspace) -> Any:  # noqa: ANN401 - JSON
    return perform(workspace, operation, arguments)
