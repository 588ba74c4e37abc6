"""`/api/search`, `similar`, `fetch`, `context`, `outline` and `graph/…`: the operations on a project."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cairn.daemon.http import Handler, Request, Response, Route
from cairn.daemon.noting import note_later
from cairn.errors import CairnError, QueryError
from cairn.hints import show_notes
from cairn.operations import perform
from cairn.operations.search import merge_searches
from cairn.protocol.requests import ProjectRequest, SearchRequest, SessionRequest
from cairn.protocol.table import OPERATIONS, Operation
from cairn.registry import ALL

_NEED_NO_INDEX = ("fetch", "outline", "core/list", "core/add", "core/remove")  # or take it as it is
_SLOW = ("graph/", "core/suggest")  # need the symbol graph, which may have to be built first


def _handler(operation: Operation) -> Handler:
    async def handle(request: Request) -> Response:
        arguments = await request.read(operation.request)
        if isinstance(arguments, SearchRequest) and arguments.project == ALL:
            document = await _search_all(request, arguments)
        else:
            document = await _perform(request, operation.name, arguments, arguments.project)
            if isinstance(arguments, SearchRequest):
                note_later(request.daemon, arguments, document)
        if isinstance(arguments, SessionRequest) and arguments.session and not arguments.repeat:
            root = "" if arguments.project == ALL else request.daemon.projects.registry.find(arguments.project).root
            request.daemon.sessions.ledger(arguments.session).shorten(operation.name, root, document)
        return Response(show_notes(document, arguments.hints))

    return handle


async def _perform(request: Request, operation: str, arguments: ProjectRequest, project: str) -> Any:  # noqa: ANN401 - JSON
    daemon = request.daemon
    needs_index = operation not in _NEED_NO_INDEX and getattr(arguments, "type", "") != "memory"
    updates = hasattr(arguments, "update")  # then it says so in its answer if the index is behind
    if updates and needs_index and getattr(arguments, "branch", None) is None:
        arguments = replace(arguments, update=True)  # type: ignore[call-arg] # it has this field
    return await request.while_connected(
        daemon.projects.run(
            project,
            lambda workspace: perform(workspace, operation, arguments),
            fresh=needs_index and not updates,
            build=arguments.build or not needs_index,
            slow=operation.startswith(_SLOW),
            timeout_seconds=daemon.limits.answer_seconds,
        )
    )


async def _search_all(request: Request, arguments: SearchRequest) -> Any:  # noqa: ANN401 - JSON
    searches = []
    problems = []
    one_project = replace(arguments, max_tokens=None)  # the budget is that of all answers together
    for project in request.daemon.projects.registry.projects():
        try:
            searches.append((project.name, await _perform(request, "search", one_project, project.root)))
        except QueryError:  # a query that is wrong is wrong in every project
            raise
        except CairnError as error:
            problems.append(f"{project.name}: {error}")
    return merge_searches(searches, arguments, problems)


ROUTES = [
    Route("POST", f"/api/{operation.name}", _handler(operation), operation.summary, operation.request, operation.name)
    for operation in OPERATIONS.values()
]
