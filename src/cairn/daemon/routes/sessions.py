"""`/api/session/…` and `/api/hook/…`: what agents report about their work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from cairn.daemon.http import Request, Response, Route
from cairn.errors import NotAvailableError
from cairn.fields import Rule
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import ProjectRequest

# Hook events under our own names; each agent has other ones.
HOOK_EVENTS = (
    "session-start", "prompt", "before-tool", "after-tool", "before-compaction", "turn-end", "session-end",
)  # fmt: skip
_Agent = Annotated[str, Rule("which agent asks, such as claude-code", max_length=100)]
_Session = Annotated[str, Rule("the session's id; the agent's own, or empty for a new one", max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest(ProjectRequest):
    """Begin a session, to which nothing was sent yet."""

    session: _Session = ""
    agent: _Agent = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRequest:
    """End a session."""

    session: Annotated[str, Rule("the session's id", min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRequest(ProjectRequest):
    """Report a hook event. `payload` is what the agent said about it, as JSON in a string."""

    protocol: Annotated[int, Rule("the protocol version of this request", least=1, most=PROTOCOL_VERSION)] = (
        PROTOCOL_VERSION
    )
    session: _Session = ""
    agent: _Agent = ""
    payload: Annotated[str, Rule("JSON", max_length=100_000)] = ""


class SessionDocument(TypedDict):
    """A session. `known` says whether a session that ended was open."""

    session: str
    known: bool


class HookDocument(TypedDict):
    """What became of a hook event: whether it was kept, and what to show the agent."""

    protocol: int
    event: str
    captured: bool
    context: str


async def _start(request: Request) -> Response:
    arguments = await request.read(StartRequest)
    if arguments.project:
        request.daemon.projects.registry.find(arguments.project)
    answer: SessionDocument = {"session": request.daemon.sessions.start(arguments.session), "known": True}
    return Response(answer)


async def _end(request: Request) -> Response:
    arguments = await request.read(EndRequest)
    answer: SessionDocument = {"session": arguments.session, "known": request.daemon.sessions.end(arguments.session)}
    return Response(answer)


async def _hook(request: Request) -> Response:
    arguments = await request.read(HookRequest)
    if arguments.project:
        request.daemon.projects.registry.find(arguments.project)
    raise NotAvailableError(
        "this version does not keep what hooks report", "nothing was kept; do not install hooks yet"
    )


ROUTES = [
    Route("POST", "/api/session/start", _start, "Begin a session", StartRequest, SessionDocument),
    Route("POST", "/api/session/end", _end, "End a session", EndRequest, SessionDocument),
    *(
        Route("POST", f"/api/hook/{event}", _hook, f"Report: {event}", HookRequest, HookDocument, unavailable=True)
        for event in HOOK_EVENTS
    ),
]
