"""A daemon inside the process of a test: its application, and a server for it at a port of its own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from cairn.client import StreamedReply
from cairn.config import Settings
from cairn.daemon.app import Application, create_app
from cairn.daemon.lifecycle import bind
from cairn.daemon.server import Protocol, create_server
from cairn.daemon.state import Limits
from cairn.registry import Registry
from cairn.runtime import Runtime, StateFolder
from cairn.transport import HttpReply, ask

TOKEN = "a-token-of-a-test"


def make_app(
    state: Path, *projects: Path, limits: Limits | None = None, settings: Settings | None = None
) -> Application:
    """Return the application of a daemon that may serve some folders, each under its own name."""
    folder = StateFolder(state)
    for root in projects:
        Registry(folder).add(root, root.name)
    return create_app(settings or Settings(), folder=folder, token=TOKEN, limits=limits)


class AsgiTransport:
    """Carries a client's requests straight to an application."""

    def __init__(self, app: Application, token: str = TOKEN) -> None:
        self._app = app
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    async def send(self, method: str, path: str, body: bytes | None) -> HttpReply:
        """Return the whole answer."""
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            got = await client.request(method, path, content=body, headers=self._headers)
        return HttpReply(got.status_code, dict(got.headers), got.content)

    def stream(self, method: str, path: str, body: bytes | None) -> AbstractAsyncContextManager[StreamedReply]:
        """Give the whole answer at once, which is all that this way of asking can do."""
        return _Whole(self, method, path, body)


class _Whole(AbstractAsyncContextManager[StreamedReply]):
    def __init__(self, transport: AsgiTransport, method: str, path: str, body: bytes | None) -> None:
        self._asked = transport, method, path, body

    async def __aenter__(self) -> StreamedReply:
        transport, method, path, body = self._asked
        reply = await transport.send(method, path, body)
        self.status = reply.status
        self._lines = reply.body.decode("utf-8").split("\n")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    async def lines(self) -> AsyncIterator[str]:
        """Yield the lines."""
        for line in self._lines:
            yield line


class Served:
    """A daemon that listens."""

    def __init__(self, app: Application, port: int) -> None:
        self.app = app
        self.port = port
        self.runtime = Runtime(0, "", "127.0.0.1", port, "", 0, "")

    def ask(self, method: str, path: str, document: object | None = None, token: str = TOKEN) -> tuple[int, Any]:
        """Return the status and the document of an answer."""
        body = None if document is None else json.dumps(document).encode()
        reply = ask(self.runtime, token, method, path, body)
        return reply.status, json.loads(reply.body)

    def connect(self) -> socket.socket:
        """Return a bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def say(self, text: bytes) -> bytes:
        """Send some bytes and return all that comes back until the connection ends, perhaps before all is sent."""
        received = b""
        with self.connect() as connection, suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(text)
            while chunk := connection.recv(65_536):
                received += chunk
        return received


@contextmanager
def serving(app: Application, protocol: type[Protocol] = Protocol, port: int = 0) -> Iterator[Served]:
    """Serve an application from a thread, until the block ends or the daemon does; at a free port if none is given."""
    with bind("127.0.0.1", port) as listener:
        listener.listen()
        server = create_server(app, protocol)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
        thread.start()
        try:
            yield Served(app, listener.getsockname()[1])
        finally:
            app.daemon.stop()
            thread.join(30)
            assert not thread.is_alive()
