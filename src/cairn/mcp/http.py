"""`/mcp`: the server over streamable HTTP, inside the daemon and behind its checks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from cairn.client import Client
from cairn.daemon.app import Application
from cairn.daemon.http import App, Message, Scope
from cairn.transport import Reply


async def serve(app: Application) -> App:
    """Return what answers at `/mcp` of a daemon; without sessions, so a client needs to keep nothing.

    The SDK is imported here, beside the loop: it takes seconds, and daemons that nobody asks this way do without.
    """
    manager_module: Any = await asyncio.to_thread(import_module, "mcp.server.streamable_http_manager")
    server_module: Any = await asyncio.to_thread(import_module, "cairn.mcp.server")
    server = server_module.create_server(Client(InProcess(app)))
    manager = manager_module.StreamableHTTPSessionManager(
        server, stateless=True, max_request_body_size=app.daemon.limits.body_bytes
    )
    started = asyncio.Event()

    async def live() -> None:
        async with manager.run():
            started.set()
            await asyncio.Event().wait()  # until the loop ends, which cancels this

    app.keep(asyncio.create_task(live()))
    await started.wait()
    answer: App = manager.handle_request
    return answer


class InProcess:
    """Carries requests to an application of this process, as a transport of `cairn.client.Client`."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def send(self, method: str, path: str, body: bytes | None) -> Reply:
        """Return the whole answer."""
        async with self.stream(method, path, body) as answer:
            return Reply(answer.status, {}, b"".join([part async for part in answer.parts()]))

    @asynccontextmanager
    async def stream(self, method: str, path: str, body: bytes | None) -> AsyncIterator[_Answer]:
        """Open an answer that comes bit by bit. The work goes on when nobody waits for the rest."""
        answer = _Answer()
        self._app.keep(asyncio.create_task(self._app(self._scope(method, path), _receiver(body), answer.take)))
        await answer.begun.wait()
        yield answer

    def _scope(self, method: str, path: str) -> Scope:
        path, _, query = path.partition("?")
        secret = f"Bearer {self._app.daemon.token}".encode("ascii")
        headers = [(b"host", b"localhost"), (b"authorization", secret), (b"content-type", b"application/json")]
        return {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": headers}


def _receiver(body: bytes | None) -> Any:  # noqa: ANN401 - ASGI's `receive`
    async def receive() -> Message:
        return {"type": "http.request", "body": body or b"", "more_body": False}

    return receive


class _Answer:
    """An answer as an application sends it."""

    def __init__(self) -> None:
        self.status = 0
        self.begun = asyncio.Event()
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def take(self, message: Message) -> None:
        """Take what the application sends: ASGI's `send`."""
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
