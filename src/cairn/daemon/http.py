"""Requests and answers over ASGI: bodies within limits, JSON in and out, events, every error as JSON."""

from __future__ import annotations

import asyncio
import json
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
    SlowError,
    StoreError,
    TooLargeError,
)
from cairn.protocol.documents import error_to_dict
from cairn.schema import decode

if TYPE_CHECKING:
    from cairn.daemon.state import Daemon

_T = TypeVar("_T")
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON, EVENTS = b"application/json", b"text/event-stream"
# By the class of the error, the nearest base first; what is not here is the asker's mistake.
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
    StoreError: 409,
    CairnError: 400,
}


class Reply(NamedTuple):
    """An answer: JSON, or a text of some other kind."""

    document: Any
    status: int = 200
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Events:
    """An answer that comes bit by bit: named events with a JSON document each (server-sent events)."""

    def __init__(self, events: AsyncIterator[tuple[str, Any]]) -> None:
        self.events = events


@dataclass(slots=True)
class Request:
    """One request. `daemon` is whom it is asked of."""

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
        """Return a header, None when it is missing.

        Raises:
            RequestError: if it is there twice, so that others might read another one.
        """
        found = [value for key, value in self.scope["headers"] if key == name]
        if len(found) > 1:
            raise RequestError(f"the header {name.decode()} is there {len(found)} times", "send it once")
        return found[0].decode("latin-1") if found else None

    def query(self, kind: type[_T]) -> _T:
        """Return the query of the address as a request.

        Raises:
            RequestError: if it is none.
        """
        try:
            text = self.scope["query_string"].decode("ascii")
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=20, errors="surrogatepass")
        except ValueError as error:
            raise RequestError("the query of the address cannot be read", "see docs/http-api.md") from error
        if len({name for name, _ in pairs}) != len(pairs):
            raise RequestError("the query of the address says something twice", "see docs/http-api.md")
        return decode(kind, dict(pairs))

    async def read(self, kind: type[_T]) -> _T:
        """Return the body as a request.

        Raises:
            TooLargeError: if it is beyond the limit, whatever its length claims to be.
            SlowError: if it does not come in time.
            RequestError: if it is no such request, or did not come whole.
        """
        sort = (self.header(b"content-type") or "application/json").partition(";")[0].strip().lower()
        if sort != "application/json":  # a form of a foreign page can send other kinds without being asked first
            raise RequestError("the body must be application/json", "see docs/http-api.md")
        if (self.header(b"content-encoding") or "identity").strip().lower() != "identity":
            raise RequestError("the body must not be compressed", "send it without Content-Encoding")
        body = await self._body()
        try:
            document = json.loads(body or b"{}")
        except (ValueError, RecursionError) as error:
            raise RequestError("the body is no JSON", "see docs/http-api.md") from error
        return decode(kind, document)

    async def while_connected(self, answer: Coroutine[Any, Any, _T]) -> _T:
        """Return an answer; it is cancelled when whoever asked hangs up. The body has been read before.

        Raises:
            BusyError: if they did. Nobody is there to read it.
        """
        answering, hanging_up = asyncio.ensure_future(answer), asyncio.ensure_future(self._disconnected())
        try:
            await asyncio.wait((answering, hanging_up), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise BusyError("nobody waits for this answer any more", "ask again")
            return await answering
        finally:
            answering.cancel()
            hanging_up.cancel()

    async def _disconnected(self) -> None:
        if (await self.receive())["type"] != "http.disconnect":
            await asyncio.Event().wait()  # whoever carries the request says more than there is, and nothing of its end

    async def _body(self) -> bytes:
        limits = self.daemon.limits
        length = self.header(b"content-length")
        if length is not None and int(length) > limits.body_bytes:
            raise _too_large(limits.body_bytes)
        body = bytearray()
        try:
            async with asyncio.timeout(limits.body_seconds):
                while True:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":  # what is left out may say something else
                        raise RequestError("the body ended before it was whole", "send as much as Content-Length says")
                    body += message.get("body", b"")
                    if len(body) > limits.body_bytes:
                        raise _too_large(limits.body_bytes)
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError as error:
            raise SlowError(f"the body did not come within {limits.body_seconds:g} s", "send it at once") from error


def _too_large(n_bytes: int) -> TooLargeError:
    return TooLargeError(f"the body is larger than {n_bytes:,} bytes", "ask for less at once")


def status_of(error: CairnError) -> int:
    """Return the HTTP status of an error."""
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def error_reply(error: CairnError, status: int | None = None) -> Reply:
    """Return an error as an answer."""
    return Reply(error_to_dict(error), status or status_of(error))


def render(document: object) -> bytes:
    """Return a document as JSON. Bytes of paths that are no UTF-8 stay as lone surrogates, escaped."""
    return json.dumps(document, ensure_ascii=True).encode("ascii")


async def send_reply(send: Send, reply: Reply, *, close: bool = False) -> None:
    """Send a whole answer.

    Args:
        send: ASGI's.
        reply: the answer.
        close: whether the connection ends behind it, as when a body was not read to its end.
    """
    body = render(reply.document) if reply.kind == JSON else str(reply.document).encode("utf-8")
    headers = [(b"content-type", reply.kind), (b"content-length", str(len(body)).encode()), *_GUARDS, *reply.headers]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# Nothing here is to be shown in a page of somebody else, guessed to be of another kind, or kept.
_GUARDS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


# An application goes on with the request by itself.
Handler = Callable[[Request], Awaitable[Reply | Events | App]]


class Route(NamedTuple):
    """What is at an address. The types describe it: what it takes, and what it answers, which are events when None.

    An `answer` may be the name of one of `cairn.protocol.OPERATIONS`. `open_to_all` needs no token; `unavailable` is in
    the protocol, but not in this version.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    request: type | None = None
    answer: Any = None
    open_to_all: bool = False
    unavailable: bool = False


async def send_events(send: Send, events: Events) -> None:
    """Send events as they come; a line break in JSON is escaped, so each has one line."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", EVENTS), *_GUARDS]})
    async for name, data in events.events:
        text = b"event: " + name.encode("ascii") + b"\ndata: " + render(data) + b"\n\n"
        await send({"type": "http.response.body", "body": text, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
