"""`/api/session/…` and `/api/hook/…`: what agents report about their work."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from cairn.daemon.http import Handler, Request, Response, Route
from cairn.errors import BusyError, RequestError
from cairn.fields import Rule
from cairn.loading import load
from cairn.memory.ids import new_id
from cairn.memory.moments import EVENTS, Moment, parse_moment
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.memory.inbox import Taken
    from cairn.workspace import Workspace

_HOOK_SECONDS = 3.0  # after which an event is spooled to disk instead
_FORGETTING = ("session-start", "before-compaction")  # events after which an agent no longer has what it was sent
_Agent = Annotated[str, Rule("which agent asks, such as claude-code", max_length=100)]
_Session = Annotated[
    str, Rule("the session's id, AGENT:ID if its hooks report it, or empty for a new one", max_length=200)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest(ProjectRequest):
    """Begin a session that was sent nothing yet."""

    session: _Session = ""
    agent: _Agent = ""
    capture: Annotated[bool, Rule("whether anything of the session is kept; if not, also nothing of before")] = True
    inject: Annotated[bool, Rule("whether anything of earlier sessions is shown in it")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRequest(ProjectRequest):
    """End a session."""

    session: Annotated[str, Rule("the session's id", min_length=1, max_length=200)]
    agent: _Agent = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRequest(ProjectRequest):
    """Report a hook event. `payload` says what happened, as JSON in a string: see docs/http-api.md."""

    protocol: Annotated[int, Rule("the protocol version of this request", least=1, most=PROTOCOL_VERSION)] = (
        PROTOCOL_VERSION
    )
    session: Annotated[
        str, Rule("the session's id, AGENT:ID if its hooks report it, too", min_length=1, max_length=200)
    ]
    agent: _Agent = ""
    payload: Annotated[str, Rule("JSON", max_length=100_000)] = ""


class SessionDocument(TypedDict):
    """A session. `known` says whether a session that ended was open."""

    session: str
    known: bool


class HookDocument(TypedDict):
    """The outcome of a hook event: whether it was kept, and what to show the agent."""

    protocol: int
    event: str
    captured: bool
    context: str


async def _start(request: Request) -> Response:
    arguments = await request.read(StartRequest)
    session = request.daemon.sessions.start(arguments.session)
    if arguments.project:
        root = request.daemon.projects.registry.find(arguments.project).root
        wishes = partial(_apply_wishes, session=session, capture=arguments.capture, inject=arguments.inject)
        await request.daemon.projects.run_at_once(root, wishes)
        moment = Moment("", "session-start", session, arguments.agent, 0.0, details={"source": "api"})
        await _take(request, root, moment)
    elif not (arguments.capture and arguments.inject):
        raise RequestError("`capture` and `inject` need a `project`", "name the project that the session is about")
    answer: SessionDocument = {"session": session, "known": True}
    return Response(answer)


def _apply_wishes(workspace: Workspace, session: str, *, capture: bool, inject: bool) -> None:
    """Apply the user's wishes for a session, unless they are in effect anyway."""
    sessions = workspace.memory.sessions
    before = sessions.find(session)
    if capture == (before is not None and before.is_muted):
        sessions.mute(session, is_muted=not capture)
    if inject == (before is not None and before.is_fresh):
        sessions.freshen(session, is_fresh=not inject)


async def _end(request: Request) -> Response:
    arguments = await request.read(EndRequest)
    known = request.daemon.sessions.end(arguments.session)
    if arguments.project:
        root = request.daemon.projects.registry.find(arguments.project).root
        known |= await request.daemon.projects.run_at_once(root, partial(_is_open, session=arguments.session))
        moment = Moment("", "session-end", arguments.session, arguments.agent, 0.0, details={"reason": "api"})
        await _take(request, root, moment)
    answer: SessionDocument = {"session": arguments.session, "known": known}
    return Response(answer)


def _is_open(workspace: Workspace, session: str) -> bool:
    recorded = workspace.memory.sessions.find(session)
    return recorded is not None and not recorded.ended


def _hook(event: str) -> Handler:
    async def handle(request: Request) -> Response:
        arguments = await request.read(HookRequest)
        root = request.daemon.projects.registry.find(arguments.project).root
        moment = parse_moment(event, arguments.session, arguments.agent, arguments.payload or "{}")
        taken = await _take(request, root, moment)
        if event in _FORGETTING:
            request.daemon.sessions.start(arguments.session)
        elif event == "session-end":
            request.daemon.sessions.end(arguments.session)
        answer: HookDocument = {
            "protocol": PROTOCOL_VERSION,
            "event": event,
            "captured": taken.is_captured,
            "context": taken.context,
        }
        return Response(answer)

    return handle


async def _take(request: Request, root: str, moment: Moment) -> Taken:
    """Process a moment in the lane that never waits for questions; if that is full, spool it to disk."""
    moment = moment._replace(id=moment.id or new_id(time.time()))

    def take(workspace: Workspace) -> Taken:
        return workspace.memory.take(moment)

    try:
        return await request.daemon.projects.run_at_once(root, take, timeout_seconds=_HOOK_SECONDS)
    except BusyError:
        taken: Taken = await asyncio.to_thread(load("cairn.memory.inbox:let_wait"), Path(root), moment)
        return taken


ROUTES = [
    Route("POST", "/api/session/start", _start, "Begin a session", StartRequest, SessionDocument),
    Route("POST", "/api/session/end", _end, "End a session", EndRequest, SessionDocument),
    *(
        Route("POST", f"/api/hook/{event}", _hook(event), f"Report: {event}", HookRequest, HookDocument)
        for event in EVENTS
    ),
]
