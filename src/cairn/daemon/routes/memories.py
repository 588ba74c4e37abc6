"""`/api/remember`, `/api/recall`, `/api/memories…` and `/api/sessions…`: what earlier sessions learned and did."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.daemon.http import Handler, Request, Response, Route
from cairn.daemon.noting import note_later
from cairn.hints import show_notes
from cairn.operations import perform
from cairn.protocol.memory_requests import RecallRequest
from cairn.protocol.memory_table import MEMORY_ANSWERS, MEMORY_OPERATIONS
from cairn.protocol.table import Operation

if TYPE_CHECKING:
    from cairn.protocol.requests import ProjectRequest
    from cairn.workspace import Workspace


def _handler(operation: Operation) -> Handler:
    async def handle(request: Request) -> Response:
        arguments = await request.read(operation.request)
        # What is asked to be kept is kept, even if the client hangs up.
        document = await request.daemon.projects.run(
            arguments.project,
            partial(_perform, operation.name, arguments),
            timeout_seconds=request.daemon.limits.answer_seconds,
        )
        if isinstance(arguments, RecallRequest):
            note_later(request.daemon, arguments, document)
            if arguments.session and not arguments.repeat:
                root = request.daemon.projects.registry.find(arguments.project).root
                request.daemon.sessions.ledger(arguments.session).shorten(operation.name, root, document)
        return Response(show_notes(document, arguments.hints))

    return handle


def _perform(operation: str, arguments: ProjectRequest, workspace: Workspace) -> Any:  # noqa: ANN401 - JSON
    return perform(workspace, operation, arguments)


ROUTES = [
    Route(
        "POST",
        f"/api/{operation.name}",
        _handler(operation),
        operation.summary,
        operation.request,
        MEMORY_ANSWERS[operation.name],
    )
    for operation in MEMORY_OPERATIONS.values()
]
