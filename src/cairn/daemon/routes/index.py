"""`/api/index/status` and `/api/index/build`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cairn.daemon.http import EventStream, Request, Response, Route, log_unexpected
from cairn.errors import CairnError
from cairn.fields import Rule
from cairn.hints import show
from cairn.hooks.errors import with_errors
from cairn.protocol.documents import error_to_dict
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest(ProjectRequest):
    """Build or update the index of a project."""

    branch: Annotated[str | None, Rule("index this branch, tag or commit", min_length=1, max_length=1_000)] = None
    full: Annotated[bool, Rule("build from scratch instead of updating")] = False


class FindingDocument(TypedDict):
    """What one check found."""

    check: str
    level: str
    message: str
    hint: str


async def _status(request: Request) -> Response:
    arguments, projects = request.query(ProjectRequest), request.daemon.projects
    status: Any = await projects.run(arguments.project, lambda workspace: workspace.upkeep.status())
    return Response(await asyncio.to_thread(with_errors, status, projects.registry.folder.path))


async def _health(request: Request) -> Response:
    arguments = request.query(ProjectRequest)

    def examine(workspace: Workspace) -> list[FindingDocument]:
        return [
            {
                "check": finding.check,
                "level": finding.level,
                "message": finding.message,
                "hint": show(finding.hint, arguments.hints),
            }
            for finding in workspace.upkeep.doctor()
        ]

    return Response(await request.while_connected(request.daemon.projects.run(arguments.project, examine)))


async def _build(request: Request) -> EventStream:
    arguments = await request.read(BuildRequest)
    request.daemon.projects.registry.find(arguments.project)  # an unknown project is an error before the stream begins
    return EventStream(_progress(request, arguments))


async def _progress(request: Request, arguments: BuildRequest) -> AsyncIterator[tuple[str, Any]]:
    """Yield the progress of a build, then its report or error. The build continues if the client hangs up."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def report(done: int, total: int) -> None:
        loop.call_soon_threadsafe(events.put_nowait, ("progress", {"done": done, "total": total}))

    def work(workspace: Workspace) -> dict[str, Any]:
        return asdict(workspace.index(branch=arguments.branch, full=arguments.full, progress=report))

    async def run() -> None:
        try:
            events.put_nowait(("done", await request.daemon.projects.run_apart(arguments.project, work)))
        except CairnError as error:
            events.put_nowait(("error", error_to_dict(error)))
        except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
            events.put_nowait(("error", error_to_dict(log_unexpected(error))))
        finally:
            events.put_nowait(None)

    running = asyncio.create_task(run())
    while (event := await events.get()) is not None:
        yield event
    await running


ROUTES = [
    Route("GET", "/api/index/status", _status, "Show what is indexed", ProjectRequest, dict[str, Any]),
    Route("GET", "/api/index/health", _health, "Examine the index", ProjectRequest, list[FindingDocument]),
    Route("POST", "/api/index/build", _build, "Build or update the index, with events", BuildRequest),
]
