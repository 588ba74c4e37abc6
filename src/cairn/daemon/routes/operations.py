"""`/api/search`, `similar`, `fetch`, `context`, `outline` and `graph/…`: the operations on a project."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from cairn.daemon.answering import answer
from cairn.daemon.http import Handler, Request, Response, Route
from cairn.daemon.noting import note_later
from cairn.errors import CairnError, ProjectError, QueryError
from cairn.hints import show_notes, with_note
from cairn.operations.search import for_merging, merge_searches
from cairn.protocol.requests import ProjectRequest, SearchRequest, SessionRequest
from cairn.protocol.table import OPERATIONS, Operation
from cairn.registry import ALL, AllowedProject, is_team_name


def _handler(operation: Operation) -> Handler:
    async def handle(request: Request) -> Response:
        arguments = await request.read(operation.request)
        if isinstance(arguments, SearchRequest) and arguments.project == ALL:
            root, document = "", await _search_all(request, arguments)
        else:
            root, document = await _ask(request, operation.name, arguments)
        if isinstance(arguments, SessionRequest) and arguments.session and not arguments.repeat:
            request.daemon.sessions.ledger(arguments.session).shorten(operation.name, root, document)
        return Response(show_notes(document, arguments.hints))

    return handle


async def _ask(request: Request, operation: str, arguments: ProjectRequest) -> tuple[str, Any]:
    """Return the project's root, or a team project's name, and its answer."""
    note = ""
    try:
        root = request.daemon.projects.registry.find(arguments.project).root
    except ProjectError:
        if not is_team_name(arguments.project):
            raise
        found = await request.while_connected(request.daemon.elsewhere.find(arguments.project))
        if not isinstance(found.project, AllowedProject):
            asking = request.daemon.elsewhere.ask(found.project, operation, arguments, found.deadline)
            return found.project.name, await request.while_connected(asking)
        root, note = found.project.root, found.note
        arguments = replace(arguments, project=root, build=True)
    document = with_note(await _perform(request, operation, arguments, root), note)
    if isinstance(arguments, SessionRequest):
        note_later(request.daemon, operation, arguments, document)
    return root, document


async def _perform(request: Request, operation: str, arguments: ProjectRequest, project: str) -> Any:  # noqa: ANN401 - JSON
    return await request.while_connected(answer(request.daemon, operation, arguments, project))


async def _search_all(request: Request, arguments: SearchRequest) -> Any:  # noqa: ANN401 - JSON
    one_project = for_merging(arguments)
    elsewhere = asyncio.ensure_future(_search_team(request, one_project))
    try:
        searches, problems = await _search_here(request, one_project)
        of_team, problems_of_team = await elsewhere
    finally:
        elsewhere.cancel()
    return merge_searches([*searches, *of_team], arguments, [*problems, *problems_of_team])


async def _search_team(request: Request, arguments: SearchRequest) -> tuple[list[tuple[str, Any]], list[str]]:
    """Search the servers' projects; their failures are reported and do not end the local search."""
    try:
        found = await request.daemon.elsewhere.search(arguments)
    except CairnError as error:
        return [], [str(error)]
    if found is None:
        return [], []
    return [(project.name, document) for project, document in found.answers], found.problems


async def _search_here(request: Request, arguments: SearchRequest) -> tuple[list[tuple[str, Any]], list[str]]:
    """Search every project on this machine; return the answers, and why the others failed."""
    searches, problems = [], []
    for project in request.daemon.projects.registry.projects():
        try:
            searches.append((project.name, await _perform(request, "search", arguments, project.root)))
        except QueryError:  # an invalid query is invalid in every project
            raise
        except CairnError as error:
            problems.append(f"{project.name}: {error}")
    return searches, problems


ROUTES = [
    Route("POST", f"/api/{operation.name}", _handler(operation), operation.summary, operation.request, operation.name)
    for operation in OPERATIONS.values()
]
