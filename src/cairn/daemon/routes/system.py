"""`/api/health`, `status`, `projects`, `config`, `shutdown` and the description of the whole."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict

from cairn import __version__
from cairn.daemon.http import Reply, Request, Route
from cairn.daemon.usage import UsageDocument, usage
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.workspace import Workspace


class HealthDocument(TypedDict):
    """That the daemon lives, and what it takes."""

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


class StoppingDocument(TypedDict):
    """That the daemon will end once it has answered."""

    stopping: bool


@dataclass(frozen=True, slots=True)
class Nothing:
    """A request without fields."""


async def _health(request: Request) -> Reply:
    found: HealthDocument = {
        "status": "stopping" if request.daemon.stopping else "ok",
        "version": __version__,
        "protocol": PROTOCOL_VERSION,
        "usage": usage(request.daemon.settings),
    }
    return Reply(found)


async def _status(request: Request) -> Reply:
    daemon = request.daemon
    found: StatusDocument = {
        "version": __version__,
        "protocol": PROTOCOL_VERSION,
        "uptime_seconds": round(time.time() - daemon.started_at, 1),
        "requests": daemon.n_requests,
        "sessions": len(daemon.sessions),
        "open": [
            {"name": one.name, "root": one.root, "idle_seconds": one.idle_seconds, "waiting": one.waiting}
            for one in daemon.projects.states()
        ],
        "usage": usage(daemon.settings),
    }
    return Reply(found)


async def _projects(request: Request) -> Reply:
    opened = {one.root for one in request.daemon.projects.states()}
    found: list[ProjectDocument] = [
        {"name": one.name, "root": one.root, "open": one.root in opened}
        for one in request.daemon.projects.registry.projects()
    ]
    return Reply(found)


async def _config(request: Request) -> Reply:
    asked = request.query(ProjectRequest)
    return Reply(await request.daemon.projects.run(asked.project, _settings_of))


def _settings_of(workspace: Workspace) -> dict[str, Any]:
    settings = workspace.settings
    values = {one.name: getattr(settings, one.name) for one in fields(settings) if one.name != "embedding"}
    return {**values, "embedding": [f"{one.provider}: {one.model}" for one in settings.chain]}


async def _shutdown(request: Request) -> Reply:
    await request.read(Nothing)
    request.daemon.stop()
    answer: StoppingDocument = {"stopping": True}
    return Reply(answer)


ROUTES = [
    Route("GET", "/api/health", _health, "Tell that the daemon lives", answer=HealthDocument, open_to_all=True),
    Route("GET", "/api/status", _status, "Show what the daemon does", answer=StatusDocument),
    Route("GET", "/api/projects", _projects, "List the projects that the user allowed", answer=list[ProjectDocument]),
    Route("GET", "/api/config", _config, "Show the settings of a project", ProjectRequest, dict[str, Any]),
    Route("POST", "/api/shutdown", _shutdown, "Stop the daemon", Nothing, StoppingDocument),
]
