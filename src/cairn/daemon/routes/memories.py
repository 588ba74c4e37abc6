"""`/api/remember`, `/api/recall`, `/api/memories…` and `/api/sessions…`: what earlier sessions learned and did."""

from __future__ import annotations

from cairn.daemon.answering import answer
from cairn.daemon.http import Handler, Request, Response, Route
from cairn.daemon.noting import note_later
from cairn.hints import show_notes
from cairn.protocol.memory_requests import RecallRequest
from cairn.protocol.memory_table import MEMORY_ANSWERS, MEMORY_OPERATIONS
from cairn.protocol.table import Operation


def _handler(operation: Operation) -> Handler:
    async def handle(request: Request) -> Response:
        arguments = await request.read(operation.request)
        # Memories are saved even if the client hangs up.
        document = await answer(request.daemon, operation.name, arguments)
        if isinstance(arguments, RecallRequest):
            note_later(request.daemon, operation.name, arguments, document)
            if arguments.session and not arguments.repeat:
                root = request.daemon.projects.registry.find(arguments.project).root
                request.daemon.sessions.ledger(arguments.session).shorten(operation.name, root, document)
        return Response(show_notes(document, arguments.hints))

    return handle


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
