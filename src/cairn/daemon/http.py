"""Requests and responses over ASGI: bodies within limits, JSON in and out, events, every error as JSON."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from cairn.errors import (
    AccessError,
    AuthorityError,
    BusyError,
    CairnError,
    InternalError,
    NotAvailableError,
    NotFoundError,
    ProjectError,
    RequestError,
    ResourceError,
    RouteError,
    ScopeError,
    SignInError,
    SlowError,
    StoreError,
    TeamError,
    TooLargeError,
    resource_error,
)
from cairn.hints import Hint
from cairn.protocol.documents import error_to_dict
from cairn.schema import decode

if TYPE_CHECKING:
    from cairn.daemon.state import Daemon

_T = TypeVar("_T")
_log = logging.getLogger("cairn.daemon")
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON, EVENTS, TEXT = b"application/json", b"text/event-stream", b"text/plain; charset=utf-8"
# HTTP status by error class; the nearest base class counts. The root class blames the client.
_STATUS: dict[type[CairnError], int] = {
    RequestError: 422,
    NotFoundError: 404,
    ProjectError: 403,
    AuthorityError: 403,
    NotAvailableError: 501,
    RouteError: 404,
    TooLargeError: 413,
    SlowError: 408,
    BusyError: 503,
    ResourceError: 503,
    InternalError: 500,
    AccessError: 401,
    ScopeError: 403,
    StoreError: 409,
    TeamError: 503,
    SignInError: 403,
    CairnError: 400,
}


class Response(NamedTuple):
    """A whole response: JSON, or text of another media type."""

    document: Any
    status: int = 200
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class EventStream:
    """A streamed response of named events, each with a JSON document (server-sent events)."""

    def __init__(self, events: AsyncIterator[tuple[str, Any]]) -> None:
        self.events = events


@dataclass(slots=True)
class Request:
    """One request to `daemon`."""

    scope: Scope
    receive: Receive
    daemon: Daemon

    @property
    def method(self) -> str:
        """GET, POST, and so on."""
        return str(self.scope["method"])

    @property
    def path(self) -> str:
        """The path, unquoted."""
        return str(self.scope["path"])

    def header(self, name: bytes) -> str | None:
        """Return a header, None if it is missing.

        Raises:
            RequestError: if it occurs twice, since another program might read the other one.
        """
        values = [value for key, value in self.scope["headers"] if key == name]
        if len(values) > 1:
            raise RequestError(f"the header {name.decode()} occurs {len(values)} times", "send it once")
        return values[0].decode("latin-1") if values else None

    def query(self, kind: type[_T]) -> _T:
        """Return the query string as a request.

        Raises:
            RequestError: if it is not one.
        """
        try:
            text = self.scope["query_string"].decode("ascii")
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=20, errors="surrogatepass")
        except ValueError as error:
            raise RequestError("the query string cannot be read", "see docs/http-api.md") from error
        if len({name for name, _ in pairs}) != len(pairs):
            raise RequestError("the query string names a field twice", "see docs/http-api.md")
        return decode(kind, dict(pairs))

    async def read(self, kind: type[_T]) -> _T:
        """Return the body as a request.

        Raises:
            TooLargeError: if it exceeds the limit, whatever Content-Length says.
            SlowError: if it does not arrive in time.
            RequestError: if it is not such a request, or is cut short.
        """
        body = await self.read_body("application/json", self.daemon.limits.body_bytes)
        try:
            document = json.loads(body or b"{}")
        except (ValueError, RecursionError) as error:
            raise RequestError("the body is not JSON", "see docs/http-api.md") from error
        return decode(kind, document)

    async def read_body(self, media_type: str, limit_bytes: int) -> bytes:
        """Return the body.

        Args:
            media_type: the required type; without a preflight, a form on a foreign page can only send others.
            limit_bytes: its maximal size.

        Raises:
            TooLargeError, SlowError: as `read`.
            RequestError: if it has another type, is compressed, or is cut short.
        """
        given = (self.header(b"content-type") or media_type).partition(";")[0].strip().lower()
        if given != media_type:
            raise RequestError(f"the body must be {media_type}", f"send the header Content-Type: {media_type}")
        if (self.header(b"content-encoding") or "identity").strip().lower() != "identity":
            raise RequestError("the body must not be compressed", "send it without Content-Encoding")
        return await self._body(limit_bytes)

    async def while_connected(self, answer: Coroutine[Any, Any, _T]) -> _T:
        """Await an answer, and cancel it if the client hangs up. The body must have been read.

        Raises:
            BusyError: if the client hung up; nobody will read it.
        """
        answering, hanging_up = asyncio.ensure_future(answer), asyncio.ensure_future(self._wait_for_disconnect())
        try:
            await asyncio.wait((answering, hanging_up), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise BusyError("the client hung up before the answer was ready", "ask again")
            return await answering
        finally:
            answering.cancel()
            hanging_up.cancel()

    async def _wait_for_disconnect(self) -> None:
        if (await self.receive())["type"] != "http.disconnect":
            await asyncio.Event().wait()  # some transports keep sending and never signal the end

    async def _body(self, limit_bytes: int) -> bytes:
        limits = self.daemon.limits
        length = self.header(b"content-length")
        if length is not None and int(length) > limit_bytes:
            raise _too_large(limit_bytes)
        body = bytearray()
        try:
            async with asyncio.timeout(limits.body_seconds):
                while True:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":  # what was cut off might change its meaning
                        raise RequestError("the body is shorter than Content-Length", "send all of it")
                    body += message.get("body", b"")
                    if len(body) > limit_bytes:
                        raise _too_large(limit_bytes)
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError as error:
            raise SlowError(
                f"the body did not arrive within {limits.body_seconds:g} s", "send it without pauses"
            ) from error


def _too_large(n_bytes: int) -> TooLargeError:
    return TooLargeError(f"the body is larger than {n_bytes:,} bytes", "send less at once")


def status_of(error: CairnError) -> int:
    """Return the HTTP status of an error."""
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def error_response(error: CairnError, status: int | None = None) -> Response:
    """Return an error as a response."""
    return Response(error_to_dict(error), status or status_of(error))


def log_unexpected(error: Exception) -> CairnError:
    """Log an unexpected error with its traceback, and return the error for the client."""
    _log.error("internal error", exc_info=error)
    return resource_error(error) or InternalError(f"internal error: {type(error).__name__}", Hint.of("daemon logs"))


def render(document: object) -> bytes:
    """Return a document as JSON. Path bytes that are not UTF-8 remain lone surrogates, escaped."""
    return json.dumps(document, ensure_ascii=True).encode("ascii")


async def send_response(send: Send, response: Response, *, close: bool = False) -> None:
    """Send a whole response.

    Args:
        send: ASGI's.
        response: what to send.
        close: whether to close the connection afterwards, as when the request's body was not fully read.
    """
    body = render(response.document) if response.kind == JSON else str(response.document).encode("utf-8")
    headers = [
        (b"content-type", response.kind),
        (b"content-length", str(len(body)).encode()),
        *_GUARDS,
        *response.headers,
    ]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# Foreign pages must not frame a response, and browsers must not sniff or cache it.
_GUARDS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


# A handler may return an ASGI application, which takes over the request.
Handler = Callable[[Request], Awaitable[Response | EventStream | App]]


@dataclass(frozen=True, slots=True)
class Nothing:
    """A request without fields."""


class Route(NamedTuple):
    """A method and path, with the types of its request and answer.

    `answer` may be the name of one of `cairn.protocol.table.OPERATIONS`; None means events. `open_to_all` routes need
    no token. `unavailable` ones are part of the protocol, but not of this version. `takes` is the media type of a body
    that is not JSON; the answer is then plain text.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    request: type | None = None
    answer: Any = None
    open_to_all: bool = False
    unavailable: bool = False
    takes: str = ""


async def send_events(send: Send, events: EventStream) -> None:
    """Send events as they come. JSON escapes line breaks, so each document takes one line."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", EVENTS), *_GUARDS]})
    async for name, data in events.events:
        text = b"event: " + name.encode("ascii") + b"\ndata: " + render(data) + b"\n\n"
        await send({"type": "http.response.body", "body": text, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
