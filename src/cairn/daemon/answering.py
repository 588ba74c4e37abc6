"""Answers an operation on a project: opens the project, checks for changes, and runs the question in a thread."""

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

# Operations that take the index as it is.
_NEED_NO_INDEX = ("fetch", "flow", "outline", "core/list", "core/add", "core/remove")
_EVENTS_SECONDS = 2.0  # that a question about memories waits for events that wait on disk
_SLOW = ("graph/", "core/suggest")  # operations on the symbol graph, which may have to be built first


async def answer(daemon: Daemon, operation: str, arguments: ProjectRequest, project: str | None = None) -> Any:  # noqa: ANN401 - JSON
    """Return the answer of an operation as JSON.

    Args:
        daemon: the daemon.
        operation: the operation's name.
        arguments: of the class that the operation takes.
        project: by name or folder; by default the one in the arguments.

    Raises:
        CairnError: whatever the operation raises.
    """
    is_of_memory = operation in MEMORY_OPERATIONS or getattr(arguments, "type", "") == "memory"
    if is_of_memory:  # what was reported before this question belongs to its answer
        await daemon.hooks.catch_up(_EVENTS_SECONDS)
    needs_index = operation not in _NEED_NO_INDEX and not is_of_memory
    updates = hasattr(arguments, "update")  # the operation says so itself if the index is behind
    if updates and getattr(arguments, "branch", None) is not None:
        updates = False  # a branch is answered from its index; the current one may be answered from the checkout
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
