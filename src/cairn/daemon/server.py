"""uvicorn for the daemon: one process, the timeouts that uvicorn lacks, and errors as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from cairn.daemon.app import Application
from cairn.daemon.http import JSON, render

HEAD_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 30
MAX_CONNECTIONS = 256
MAX_HEAD_BYTES = 16_384
_GRACE_SECONDS = 5


class Protocol(H11Protocol):
    """A connection with a time limit for the head of a request.

    uvicorn closes a connection that sends nothing, but not one that sends a byte a minute. Here the head of a request
    must arrive within `head_seconds` of its first byte or of the connection.
    """

    head_seconds: ClassVar[float] = HEAD_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn narrows it, too
        """Accept the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Receive bytes of a request."""
        if self._is_waiting():
            self._set_deadline()
        super().data_received(data)
        if not self._is_waiting():
            self._forget_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request; part of it may have arrived."""
        super().on_response_complete()
        if self._is_waiting() and self.conn.trailing_data[0]:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._forget_deadline()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer anything that is not HTTP with a JSON error like any other."""
        self._send_error(400, "request", msg, "speak HTTP/1.1")

    def _is_waiting(self) -> bool:
        """Tell whether the connection is waiting for the head of the next request."""
        return self.cycle is None or self.cycle.response_complete

    def _end_late(self) -> None:
        self._deadline = None
        if self.transport.is_closing() or not self._is_waiting():
            return
        if self.conn.our_state is h11.IDLE:
            self._send_error(408, "slow", "the request did not arrive in time", "send it without pauses")
        else:
            self.transport.abort()

    def _set_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._end_late)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _send_error(self, status: int, code: str, message: str, hint: str) -> None:
        body = render({"code": code, "message": message, "hint": hint})
        headers = [("content-type", JSON.decode()), ("content-length", str(len(body))), ("connection", "close")]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """A server that shuts down in order on a signal and does not raise it again afterwards."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the termination signals."""
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
                if (number := getattr(signal, name, None)) is not None:
                    signal.signal(number, self._end)
        yield

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.should_exit = True


def create_server(app: Application, protocol: type[Protocol] = Protocol) -> Server:
    """Return a server for an application; `app.daemon.stop` ends it.

    Args:
        app: the application.
        protocol: handles each connection; a seam for tests.
    """
    options: dict[str, Any] = {"loop": "asyncio", "lifespan": "on", "interface": "asgi3", "ws": "none"}
    config = uvicorn.Config(
        app,
        http=protocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        **options,
    )
    server = Server(config)

    def end() -> None:
        server.should_exit = True

    app.daemon.on_stop = end
    return server
