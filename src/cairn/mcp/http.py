"""`/mcp`: the server over streamable HTTP, inside the daemon and behind its checks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any

from cairn.client import Client
from cairn.daemon.app import Application
from cairn.daemon.http import App, Message, Request, Route, Scope
from cairn.daemon.projects import Projects
from cairn.errors import CairnError
from cairn.mcp.project import texts_of
from cairn.transport import HttpReply

PATH = "/mcp"


def mcp_routes(app: Application) -> Sequence[Route]:
    """Return the daemon's MCP route."""
    return [Route("POST", PATH, _Endpoint(app), "Answer an agent (MCP, streamable HTTP)")]


class _Endpoint:
    """The endpoint at `/mcp`. Created on first use, because the SDK takes seconds to import."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self._making: asyncio.Task[App] | None = None

    async def __call__(self, request: Request) -> App:
        """Return the ASGI application that continues the request."""
        if self._making is None or (self._making.done() and self._making.exception() is not None):
            self._making = asyncio.create_task(_make(self._app))
        return await asyncio.shield(self._making)


async def _make(app: Application) -> App:
    """Return a stateless server, for which clients keep no session and nothing outlives a request."""
    manager_module: Any = await asyncio.to_thread(import_module, "mcp.server.streamable_http_manager")
    server_module: Any = await asyncio.to_thread(import_module, "cairn.mcp.server")
    manager = manager_module.StreamableHTTPSessionManager(
        server_module.create_server(Client(InProcess(app)), texts=partial(_texts_of_the_only, app.daemon.projects)),
        stateless=True,
        max_request_body_size=app.daemon.limits.body_bytes,
    )
    started = asyncio.Event()

    async def live() -> None:
        async with manager.run():
            started.set()
            await asyncio.Event().wait()  # until the event loop ends and cancels this

    await _until(started, _keep(asyncio.create_task(live())))
    answer: App = manager.handle_request
    return answer


def _texts_of_the_only(projects: Projects) -> Mapping[str, str]:
    """Return the tool descriptions from the tuning of the only project; none if there are several projects."""
    try:
        return texts_of(projects.registry.find("").root)
    except CairnError:
        return {}


_KEPT: set[asyncio.Task[None]] = set()  # keeps the tasks alive, since the event loop only has weak references


def _keep(task: asyncio.Task[None]) -> asyncio.Task[None]:
    _KEPT.add(task)
    task.add_done_callback(_KEPT.discard)
    return task


async def _until(event: asyncio.Event, task: asyncio.Task[None]) -> None:
    """Wait for an event that a task sets; raise if the task fails before."""
    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if not event.is_set():
        task.result()
        raise RuntimeError("it ended without an answer")


class InProcess:
    """Carries requests to an application in this process; a transport for `cairn.client.Client`."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def send(self, method: str, path: str, body: bytes | None) -> HttpReply:
        """Return the whole reply."""
        async with self.stream(method, path, body) as answer:
            return HttpReply(answer.status, {}, b"".join([part async for part in answer.parts()]))

    @asynccontextmanager
    async def stream(self, method: str, path: str, body: bytes | None) -> AsyncIterator[_Answer]:
        """Open a streamed reply; leaving the block hangs up."""
        answer, left = _Answer(), asyncio.Event()
        asked = self._app(self._scope(method, path), _receiver(body, left), answer.take)
        try:
            await _until(answer.begun, _keep(asyncio.create_task(asked)))
            yield answer
        finally:
            left.set()

    def _scope(self, method: str, path: str) -> Scope:
        path, _, query = path.partition("?")
        secret = f"Bearer {self._app.daemon.token}".encode("ascii")
        headers = [(b"host", b"localhost"), (b"authorization", secret), (b"content-type", b"application/json")]
        return {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": headers}


def _receiver(body: bytes | None, left: asyncio.Event) -> Any:  # noqa: ANN401 - ASGI's `receive`
    messages: list[Message] = [{"type": "http.request", "body": body or b"", "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    return receive


class _Answer:
    """A reply as sent by an application."""

    def __init__(self) -> None:
        self.status = 0
        self.begun = asyncio.Event()
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def take(self, message: Message) -> None:
        """Receive what the application sends, as ASGI's `send`."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.begun.set()
            return
        self._parts.put_nowait(message.get("body", b""))
        if not message.get("more_body"):
            self._parts.put_nowait(None)

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes."""
        while (part := await self._parts.get()) is not None:
            yield part

    async def lines(self) -> AsyncIterator[str]:
        """Yield the body's lines as they come."""
        rest = b""
        async for part in self.parts():
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                yield line.decode("utf-8")
        if rest:
            yield rest.decode("utf-8")
