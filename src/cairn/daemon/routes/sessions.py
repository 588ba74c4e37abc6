"""`/api/session/…`, `/api/hook/…` and `/api/remember`: what agents tell of their work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from cairn.daemon.http import Reply, Request, Route
from cairn.errors import NotAvailableError
from cairn.fields import Rule
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import ProjectRequest

# The moments of an agent's work, whatever the agent calls them.
HOOK_EVENTS = (
    "session-start", "prompt", "before-tool", "after-tool", "before-compaction", "turn-end", "session-end",
)  # fmt: skip
_Agent = Annotated[str, Rule("which agent asks, such as claude-code", max_length=100)]
_Session = Annotated[str, Rule("the session's id; the agent's own, or empty for a new one", max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest(ProjectRequest):
    """Begin a session: nothing was sent to it yet."""

    session: _Session = ""
    agent: _Agent = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRequest:
    """End a session."""

    session: Annotated[str, Rule("the session's id", min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRequest(ProjectRequest):
    """Tell of a moment in an agent's work. `payload` is what the agent said of it, as JSON in a text."""

    protocol: Annotated[int, Rule("the version of this form", least=1, most=PROTOCOL_VERSION)] = PROTOCOL_VERSION
    session: _Session = ""
    agent: _Agent = ""
    payload: Annotated[str, Rule("JSON", max_length=100_000)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberRequest(ProjectRequest):
    """Keep something for later sessions."""

    text: Annotated[str, Rule("what to remember", min_length=1, max_length=10_000)]
    type: Annotated[str, Rule("what kind of thing it is", max_length=50)] = ""
    files: Annotated[tuple[str, ...], Rule("which files it is about", max_length=100)] = ()


class SessionDocument(TypedDict):
    """A session. `known` tells of one that ended whether it was there."""

    session: str
    known: bool


class HookDocument(TypedDict):
    """What became of an event: whether it was kept, and what to show the agent."""

    protocol: int
    event: str
    captured: bool
    context: str


class RememberedDocument(TypedDict):
    """What was kept."""

    id: str


async def _start(request: Request) -> Reply:
    asked = await request.read(StartRequest)
    if asked.project:
        request.daemon.projects.registry.find(asked.project)
    answer: SessionDocument = {"session": request.daemon.sessions.start(asked.session), "known": True}
    return Reply(answer)


async def _end(request: Request) -> Reply:
    asked = await request.read(EndRequest)
    answer: SessionDocument = {"session": asked.session, "known": request.daemon.sessions.end(asked.session)}
    return Reply(answer)


async def _hook(request: Request) -> Reply:
    asked = await request.read(HookRequest)
    if asked.project:
        request.daemon.projects.registry.find(asked.project)
    raise NotAvailableError(
        "this version does not keep what hooks report", "nothing was kept; do not install hooks yet"
    )


async def _remember(request: Request) -> Reply:
    await request.read(RememberRequest)
    raise NotAvailableError("this version has no memory yet", "nothing was kept; write it down in the project's files")


ROUTES = [
    Route("POST", "/api/session/start", _start, "Begin a session", StartRequest, SessionDocument),
    Route("POST", "/api/session/end", _end, "End a session", EndRequest, SessionDocument),
    *(
        Route("POST", f"/api/hook/{event}", _hook, f"Report: {event}", HookRequest, HookDocument, unavailable=True)
        for event in HOOK_EVENTS
    ),
    Route(
        "POST",
        "/api/remember",
        _remember,
        "Keep something for later",
        RememberRequest,
        RememberedDocument,
        unavailable=True,
    ),
]
