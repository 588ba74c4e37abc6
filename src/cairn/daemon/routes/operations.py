"""`/api/search`, `similar`, `fetch`, `context`, `outline` and `graph/…`: the operations on a project."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.daemon.http import Handler, Reply, Request, Route
from cairn.errors import CairnError, IndexLockedError, QueryError, StoreError
from cairn.operations import perform
from cairn.operations.search import merge_searches
from cairn.protocol.requests import ProjectRequest, SearchRequest, SessionRequest
from cairn.protocol.table import OPERATIONS, Operation
from cairn.registry import ALL
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_SETTLE_SECONDS = 5.0
_NEED_NO_INDEX = ("fetch", "outline", "core/list", "core/add", "core/remove")  # or take it as it is

_SLOW = ("graph/", "core/suggest")  # what asks the symbol graph, which may have to be found out first


def _handler(operation: Operation) -> Handler:
    async def handle(request: Request) -> Reply:
        asked = await request.read(operation.request)
        if isinstance(asked, SearchRequest) and asked.project == ALL:
            document = await _search_all(request, asked)
        else:
            document = await _perform(request, operation.name, asked, asked.project)
        if isinstance(asked, SessionRequest) and asked.session and not asked.repeat:
            root = "" if asked.project == ALL else request.daemon.projects.registry.find(asked.project).root
            request.daemon.sessions.ledger(asked.session).shorten(operation.name, root, document)
        return Reply(document)

    return handle


async def _perform(request: Request, operation: str, asked: ProjectRequest, project: str) -> Any:  # noqa: ANN401 - JSON
    daemon = request.daemon
    fresh = operation not in _NEED_NO_INDEX and not getattr(asked, "update", False)
    return await request.while_connected(
        daemon.projects.run(
            project,
            partial(_work, operation, asked),
            fresh=fresh,
            build=asked.build,
            slow=operation.startswith(_SLOW),
            timeout_seconds=daemon.limits.answer_seconds,
        )
    )


def _work(operation: str, asked: ProjectRequest, workspace: Workspace) -> Any:  # noqa: ANN401 - JSON
    if getattr(asked, "update", False):
        # The watcher may be at the very edit that is asked for. An update of a question's own would not wait for it.
        with suppress(IndexLockedError, StoreError), write_lock(workspace.state.lock, _SETTLE_SECONDS, INDEX):
            pass
    return perform(workspace, operation, asked)


async def _search_all(request: Request, asked: SearchRequest) -> Any:  # noqa: ANN401 - JSON
    found = []
    problems = []
    whole = replace(asked, max_tokens=None)  # the budget is that of all answers together
    for project in request.daemon.projects.registry.projects():
        try:
            found.append((project.name, await _perform(request, "search", whole, project.root)))
        except QueryError:  # what is wrong with the question is wrong in every project
            raise
        except CairnError as error:
            problems.append(f"{project.name}: {error}")
    return merge_searches(found, asked, problems)


ROUTES = [
    Route("POST", f"/api/{one.name}", _handler(one), one.summary, one.request, one.name) for one in OPERATIONS.values()
]
