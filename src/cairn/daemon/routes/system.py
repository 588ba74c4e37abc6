"""`/api/health`, `status`, `projects`, `logs`, `config` and `shutdown`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cairn import __version__
from cairn.daemon.http import Nothing, Request, Response, Route
from cairn.daemon.usage import UsageDocument, usage
from cairn.fields import Rule
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.workspace import Workspace


class HealthDocument(TypedDict):
    """That the daemon is up, and its use of resources."""

    status: str
    version: str
    protocol: int
    usage: UsageDocument


class OpenDocument(TypedDict):
    """An open project."""

    name: str
    root: str
    idle_seconds: float
    waiting: int


class StatusDocument(TypedDict):
    """What the daemon does."""

    version: str
    protocol: int
    uptime_seconds: float
    requests: int
    sessions: int
    open: list[OpenDocument]
    usage: UsageDocument


class ProjectDocument(TypedDict):
    """A project that the user allowed."""

    name: str
    root: str
    open: bool


class LogDocument(TypedDict):
    """The end of the daemon's log, and where it is."""

    file: str
    lines: list[str]


class StoppingDocument(TypedDict):
    """That the daemon stops after this answer."""

    stopping: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsRequest:
    """Read the end of the daemon's log."""

    lines: Annotated[str, Rule("lines at most; 0: all", pattern="[0-9]{1,9}")] = (
        "50"  # a string, like everything in a query string
    )


async def _health(request: Request) -> Response:
    health: HealthDocument = {
        "status": "stopping" if request.daemon.stopping else "ok",
        "version": __version__,
        "protocol": PROTOCOL_VERSION,
        "usage": usage(request.daemon.settings),
    }
    return Response(health)


async def _status(request: Request) -> Response:
    daemon = request.daemon
    status: StatusDocument = {
        "version": __version__,
        "protocol": PROTOCOL_VERSION,
        "uptime_seconds": round(time.time() - daemon.started_at, 1),
        "requests": daemon.n_requests,
        "sessions": len(daemon.sessions),
        "open": [
            {
                "name": project.name,
                "root": project.root,
                "idle_seconds": project.idle_seconds,
                "waiting": project.waiting,
            }
            for project in daemon.projects.states()
        ],
        "usage": usage(daemon.settings),
    }
    return Response(status)


async def _projects(request: Request) -> Response:
    roots = {project.root for project in request.daemon.projects.states()}
    projects: list[ProjectDocument] = [
        {"name": project.name, "root": project.root, "open": project.root in roots}
        for project in request.daemon.projects.registry.present()
    ]
    return Response(projects)


async def _logs(request: Request) -> Response:
    folder, limit = request.daemon.projects.registry.folder, int(request.query(LogsRequest).lines)
    lines = await asyncio.to_thread(folder.end_of_log, limit)
    document: LogDocument = {"file": str(folder.log), "lines": lines}
    return Response(document)


async def _config(request: Request) -> Response:
    arguments = request.query(ProjectRequest)
    return Response(await request.daemon.projects.run(arguments.project, _settings_of))


def _settings_of(workspace: Workspace) -> dict[str, Any]:
    settings = workspace.settings
    values = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name != "embedding"}
    return {**values, "embedding": [f"{model.provider}: {model.model}" for model in settings.chain]}


async def _shutdown(request: Request) -> Response:
    await request.read(Nothing)
    request.daemon.stop()
    answer: StoppingDocument = {"stopping": True}
    return Response(answer)


ROUTES = [
    Route("GET", "/api/health", _health, "Show that the daemon is up", answer=HealthDocument, open_to_all=True),
    Route("GET", "/api/status", _status, "Show what the daemon does", answer=StatusDocument),
    Route("GET", "/api/projects", _projects, "List the projects that the user allowed", answer=list[ProjectDocument]),
    Route("GET", "/api/logs", _logs, "Show the end of the log", LogsRequest, LogDocument),
    Route("GET", "/api/config", _config, "Show the settings of a project", ProjectRequest, dict[str, Any]),
    Route("POST", "/api/shutdown", _shutdown, "Stop the daemon", Nothing, StoppingDocument),
]
