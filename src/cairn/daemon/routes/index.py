"""`/api/index/status` and `/api/index/build`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cairn.daemon.http import Events, Reply, Request, Route
from cairn.errors import CairnError, InternalError, resource_error
from cairn.fields import Rule
from cairn.hints import Hint, show
from cairn.protocol.documents import error_to_dict
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_log = logging.getLogger("cairn.daemon")


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


async def _status(request: Request) -> Reply:
    asked = request.query(ProjectRequest)
    return Reply(await request.daemon.projects.run(asked.project, lambda workspace: workspace.upkeep.status()))


async def _health(request: Request) -> Reply:
    asked = request.query(ProjectRequest)

    def examine(workspace: Workspace) -> list[FindingDocument]:
        return [
            {
                "check": finding.check,
                "level": finding.level,
                "message": finding.message,
                "hint": show(finding.hint, asked.hints),
            }
            for finding in workspace.upkeep.doctor()
        ]

    return Reply(await request.while_connected(request.daemon.projects.run(asked.project, examine)))


async def _build(request: Request) -> Events:
    asked = await request.read(BuildRequest)
    request.daemon.projects.registry.find(asked.project)  # a mistake is told before the events begin
    return Events(_progress(request, asked))


async def _progress(request: Request, asked: BuildRequest) -> AsyncIterator[tuple[str, Any]]:
    """Yield how far a run is, and then what it did, or why it failed. It goes on when nobody listens any more."""
    loop = asyncio.get_running_loop()
    news: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def tell(done: int, total: int) -> None:
        loop.call_soon_threadsafe(news.put_nowait, ("progress", {"done": done, "total": total}))

    def work(workspace: Workspace) -> dict[str, Any]:
        return asdict(workspace.index(branch=asked.branch, full=asked.full, progress=tell))

    async def run() -> None:
        try:
            news.put_nowait(("done", await request.daemon.projects.run_apart(asked.project, work)))
        except CairnError as error:
            news.put_nowait(("error", error_to_dict(error)))
        except Exception as error:  # noqa: BLE001 - the edge of a request, as in app.py
            _log.exception("internal error")
            told = InternalError(f"internal error: {type(error).__name__}", Hint.of("daemon logs"))
            news.put_nowait(("error", error_to_dict(resource_error(error) or told)))
        finally:
            news.put_nowait(None)

    running = asyncio.create_task(run())
    while (one := await news.get()) is not None:
        yield one
    await running


ROUTES = [
    Route("GET", "/api/index/status", _status, "Show what is indexed", ProjectRequest, dict[str, Any]),
    Route("GET", "/api/index/health", _health, "Examine the index", ProjectRequest, list[FindingDocument]),
    Route("POST", "/api/index/build", _build, "Build or update the index, with events", BuildRequest),
]
