"""What a team's server answers over HTTP: the operations on published projects, for whoever bears a token."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cairn.daemon.http import log_unexpected, render, status_of
from cairn.errors import (
    AccessError,
    BusyError,
    CairnError,
    NotFoundError,
    RequestError,
    RouteError,
    TeamError,
    TooLargeError,
    error_from,
)
from cairn.operations import perform
from cairn.protocol.documents import error_to_dict
from cairn.protocol.table import TEAM_OPERATIONS, decode_request
from cairn.team.audit import AuditLog
from cairn.team.catalog import Catalog, Manifest, list_projects, revoke_all_tokens
from cairn.team.login_routes import SignInRoutes
from cairn.team.logs import REQUEST_FIELDS
from cairn.team.memories import pull_events, push_events
from cairn.team.metrics import CONTENT_TYPE, NodeMetrics
from cairn.team.node import SearchNode
from cairn.team.state import MAX_BRANCHES, Problems, show_state
from cairn.team.tokens import token_hash
from cairn.waiting import Asker

_log = logging.getLogger("cairn.team")
# What only a project on the own machine can be asked for.
_LOCAL_FIELDS = ("project", "update", "build", "diff", "session", "repeat")
_MAX_BODY_BYTES = 2_000_000
_MAX_DIGITS = 18  # of a number in an address, such as that of an event
# As the tables have it; a node remembers what it was asked for, so nothing longer gets there.
_MAX_BRANCH_CHARS, _MAX_NAME_CHARS = 250, 100
_MAX_THREADS = 16
_MAX_WAITING = 256
ANSWER_SECONDS = 30.0
_SEE_PROJECTS = "list them: GET /api/projects"
_REQUEST_ID = "x-request-id"
_IS_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{1,64}").fullmatch


class TeamApi:
    """Answers requests.

    Args:
        catalog: with the role of a node.
        node: opens projects.
        answer_seconds: how long an answer may take.
        audit: where it is noted who asked what; the caller closes it.
        sign_in: where people get tokens; None if operators make all of them.
    """

    def __init__(
        self,
        catalog: Catalog,
        node: SearchNode,
        answer_seconds: float = ANSWER_SECONDS,
        *,
        audit: AuditLog | None = None,
        sign_in: SignInRoutes | None = None,
    ) -> None:
        self._catalog = catalog
        self._node = node
        self._answer_seconds = answer_seconds
        self._audit = audit
        self._sign_in = sign_in
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="cairn-answer")
        self._n_waiting = self._n_answered = 0
        self._problems = Problems()
        self._metrics = NodeMetrics(
            n_open=node.projects_open,
            n_opened=node.projects_opened,
            n_waiting=lambda: self._n_waiting,
            n_lost=lambda: 0 if audit is None else audit.n_lost,
        )

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/healthz", self._is_alive),
                Route("/readyz", self._is_ready),
                Route("/metrics", self._show_metrics),
                Route("/api/projects", self._answering(self._list)),
                *(() if self._sign_in is None else self._sign_in.routes()),
                Route("/api/projects/{organisation}/{name}/events", self._answering(self._pull), methods=["GET"]),
                Route("/api/projects/{organisation}/{name}/events", self._answering(self._push), methods=["POST"]),
                Route("/api/admin/revoke", self._answering(self._revoke), methods=["POST"]),
                Route("/api/admin/state", self._answering(self._state), methods=["GET"]),
                Route(
                    "/api/projects/{organisation}/{name}/{operation:path}",
                    self._answering(self._perform),
                    methods=["POST"],
                ),
            ],
            exception_handlers={404: _nothing_there, 405: _nothing_there},
        )

    # -- requests -----------------------------------------------------------------------------------------------------

    def _answering(self, handler: Callable[[Request, bytes], Awaitable[object]]) -> Callable[..., Awaitable[Response]]:
        """Return what answers a request of somebody with a token, with an error as JSON if need be."""

        async def answer(request: Request) -> Response:
            begun = time.monotonic()
            outcome = "ok"
            _SHOWN.set(_shown_text(request))
            try:
                response = _as_json(await handler(request, _token_of(request)))
            except TeamError as error:
                outcome = error.code
                _log.warning("%s", error)  # it may name hosts and buckets, which are operators' business alone
                self._problems.note(error.code, str(error))
                told = type(error)("the server cannot answer this at the moment", "ask again in a moment")
                response = _as_json(error_to_dict(told), status_of(told))
            except CairnError as error:
                outcome = error.code
                response = _as_json(error_to_dict(error), status_of(error))
                if response.status_code >= 500:
                    self._problems.note(error.code, str(error))
            except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
                outcome = "internal"
                response = _as_json(error_to_dict(log_unexpected(error)), 500)
                self._problems.note(outcome, type(error).__name__)  # its words may be those of a question
            self._note(request, outcome)
            operation = _operation_of(request)
            label = operation if operation in (*TEAM_OPERATIONS, "projects", "events") else "other"
            seconds = time.monotonic() - begun
            self._n_answered += 1
            self._metrics.count(label, response.status_code, seconds)
            _log_request(request, label, response, seconds)
            return response

        return answer

    def _note(self, request: Request, outcome: str) -> None:
        """Note for operators who asked what."""
        token = _shown_token(request)
        if self._audit is None or token is None:
            return
        asked = request.path_params
        of_project = asked.get("operation") or f"{_operation_of(request)}/{request.method.lower()}"
        operation = of_project if "name" in asked else request.url.path.removeprefix("/api/")
        project = f"{asked['organisation']}/{asked['name']}" if "name" in asked else ""
        values = getattr(request.state, "asked", None)
        words = json.dumps(values) if values and self._audit.keeps_queries else ""
        self._audit.add(token, operation, project, outcome, words)

    async def _list(self, request: Request, token: bytes) -> object:
        def read() -> object:
            readable = list_projects(self._catalog, token)
            return {"projects": readable.projects, **({"operator": True} if readable.is_operator else {})}

        return await self._in_thread(read)

    async def _pull(self, request: Request, token: bytes) -> object:
        after = _number_of(request, "after", 0)
        return await self._in_thread(partial(pull_events, self._catalog, token, _project_of(request), after))

    async def _push(self, request: Request, token: bytes) -> object:
        values = await _body_of(request)
        return await self._in_thread(partial(push_events, self._catalog, token, _project_of(request), values))

    async def _revoke(self, request: Request, token: bytes) -> object:
        person = (await _body_of(request)).get("person")
        if not isinstance(person, str):
            raise RequestError("person must be a string", 'send {"person": NAME}')
        return {"revoked": await self._in_thread(partial(revoke_all_tokens, self._catalog, token, person))}

    async def _state(self, request: Request, token: bytes) -> object:
        limit = _number_of(request, "limit", MAX_BRANCHES)
        return await self._in_thread(partial(show_state, self._catalog, token, limit))

    async def _perform(self, request: Request, token: bytes) -> object:
        operation = request.path_params["operation"]
        if operation not in TEAM_OPERATIONS:
            raise NotFoundError(
                f"there is no operation {operation[:100]!r}", f"there are: {', '.join(TEAM_OPERATIONS)}"
            )
        values = request.state.asked = await _body_of(request)
        branch = values.pop("branch", None)
        if branch is not None and not isinstance(branch, str):
            raise RequestError("branch must be a string", "name a branch, or leave it out")
        if len(branch or "") > _MAX_BRANCH_CHARS:
            raise RequestError(f"no branch has a name of over {_MAX_BRANCH_CHARS} characters", "leave it out")
        if wrong := next((name for name in _LOCAL_FIELDS if name in values), None):
            raise RequestError(f"a project of the team takes no {wrong!r}", "leave it out")
        return await self._in_thread(partial(self._answer, token, _project_of(request), branch, operation, values))

    def _answer(
        self, token: bytes, project: str, branch: str | None, operation: str, values: Mapping[str, object]
    ) -> object:
        with self._node.project(token, project, branch) as (manifest, workspace):
            try:
                document = perform(workspace, operation, decode_request(operation, values))
            except CairnError as error:
                place = str(workspace.root)
                message, hint = (str(text).replace(place, project) for text in (error, error.hint))
                raise error_from(error.code, message, hint) from error
            return _as_remote(document, manifest)

    async def _in_thread(self, work: Callable[[], object]) -> object:
        if self._n_waiting >= _MAX_WAITING:
            raise BusyError("too many questions are waiting", "ask again in a moment")
        self._n_waiting += 1
        asker, token = Asker(), _SHOWN.get()

        def serve() -> object:
            with asker.serve():
                return work() if self._sign_in is None else self._sign_in.with_grants(token, work)

        try:
            async with asyncio.timeout(self._answer_seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, serve)
        except TimeoutError as error:
            raise BusyError(f"no answer within {self._answer_seconds:g} s", "ask again, or ask for less") from error
        finally:
            asker.leave()  # a thread cannot be ended, but checks whether anybody waits
            self._n_waiting -= 1

    # -- for operators ------------------------------------------------------------------------------------------------

    def figures(self) -> Mapping[str, object]:
        """Return what this node did since the start and does now, as JSON."""
        return {
            "answered": self._n_answered,
            "failed": self._problems.count,
            "waiting": self._n_waiting,
            "open_projects": self._node.projects_open(),
            "problems": self._problems.rows(),
        }

    async def _is_alive(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _is_ready(self, request: Request) -> Response:
        """Tell a proxy whether to send requests here: cached projects are answered without the database, too."""
        try:
            await asyncio.to_thread(self._catalog.ping)
        except CairnError as error:
            _log.warning("%s", error)
            return PlainTextResponse("the database does not answer\n", 503)
        return PlainTextResponse("ok\n")

    async def _show_metrics(self, request: Request) -> Response:
        return Response(self._metrics.text(), media_type=CONTENT_TYPE)


def _log_request(request: Request, label: str, response: Response, seconds: float) -> None:
    """Log what was asked for and how it went, under the name that the proxy gave it; neither words nor tokens."""
    name = request.headers.get(_REQUEST_ID, "")
    if not _IS_REQUEST_ID(name):
        name = os.urandom(8).hex()
    response.headers[_REQUEST_ID] = name
    project = "/".join(request.path_params.get(part, "")[:100] for part in ("organisation", "name")).strip("/")
    values = (name, label, project, response.status_code, round(1_000 * seconds, 1))
    _log.info("answered", extra=dict(zip(REQUEST_FIELDS, values, strict=True)))


def _as_remote(document: Any, manifest: Manifest) -> object:  # noqa: ANN401 - JSON
    """Return an answer that says where it is from, and nothing of this node's folders."""
    remote = {"project": manifest.project, "commit": manifest.commit}
    if isinstance(document, list):
        return [{**item, "remote": remote} for item in document]
    shown = {"view": manifest.project, "branch": manifest.branch} if "view" in document else {}
    return {**document, **shown, "remote": remote}


def _operation_of(request: Request) -> str:
    """Return what is asked for: the last part of the path where that is not the name of an operation."""
    operation: str = request.path_params.get("operation", request.url.path.rpartition("/")[2])
    return operation


async def _nothing_there(request: Request, error: Exception) -> Response:
    """Say as JSON, as every other error, that there is nothing at a path, or that it does not take a method."""
    assert isinstance(error, HTTPException)
    path, allowed = request.url.path[:200], (error.headers or {}).get("Allow", "")
    told = RouteError(f"there is nothing at {path!r}", "docs/team.md names what there is")
    if allowed:
        told = RouteError(f"{path} does not take {request.method[:20]}", f"use {allowed}")
    response = _as_json(error_to_dict(told), error.status_code)
    response.headers.update(error.headers or {})
    return response


def _as_json(document: object, status: int = 200) -> Response:
    return Response(render(document), status, media_type="application/json")


def _number_of(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, f"{default}")
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise RequestError(f"{name} must be a whole number", "send digits, or leave it out")
    return int(text)


def _project_of(request: Request) -> str:
    parts = [request.path_params[part] for part in ("organisation", "name")]
    project = "/".join(parts)
    if any(len(part) > _MAX_NAME_CHARS for part in parts):
        raise NotFoundError(f"no project has a name of over {_MAX_NAME_CHARS} characters", _SEE_PROJECTS)
    return project


def _token_of(request: Request) -> bytes:
    token = _shown_token(request)
    if token is None:
        raise AccessError("a token is needed", "send the header Authorization: Bearer TOKEN")
    return token


def _shown_token(request: Request) -> bytes | None:
    """Return the hash of the token that came with a request, None if there is none."""
    token = _shown_text(request)
    return token_hash(token) if token else None


# The token of the request that is being answered.
_SHOWN: ContextVar[str] = ContextVar("shown")


def _shown_text(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def _body_of(request: Request) -> dict[str, Any]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY_BYTES:
            raise TooLargeError(f"the body is larger than {_MAX_BODY_BYTES:,} bytes", "send less at once")
    try:
        values = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not JSON", "send a JSON object") from error
    if not isinstance(values, dict):
        raise RequestError("the body is not a JSON object", "send a JSON object")
    return values
