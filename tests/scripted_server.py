"""A small HTTP server whose answers a test writes, in the place of a team's server."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Reply(NamedTuple):
    """What is sent back: only when the server closes if it `waits`, byte by byte if it `drips`."""

    status: int = 200
    document: object = None
    raw: bytes | None = None
    headers: Mapping[str, str] = {}
    waits: bool = False
    drips: bool = False


class Asked(NamedTuple):
    """A request that came."""

    method: str
    path: str
    authorization: str
    body: bytes


class ScriptedServer:
    """Answers as `answer` says, and notes what it was asked. What waits does so until the server is closed."""

    def __init__(self, answer: Callable[[Asked], Reply], tls: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server._serve(self)

            def do_POST(self) -> None:
                server._serve(self)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._http = _Http(("127.0.0.1", 0), Handler)
        self.port = self._http.server_address[1]
        self.url = f"http{'' if tls is None else 's'}://127.0.0.1:{self.port}"
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", "0")))
        asked = Asked(handler.command, handler.path, handler.headers.get("authorization", ""), body)
        self.asked.append(asked)
        reply = self.answer(asked)
        data = json.dumps(reply.document).encode() if reply.raw is None else reply.raw
        if reply.waits:
            self.closing.wait(30)
        with suppress(OSError):  # who asked no longer waits
            handler.send_response(reply.status)
            for name, value in {"content-length": str(len(data)), **reply.headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            for piece in [data[at : at + 1] for at in range(len(data))] if reply.drips else [data]:
                handler.wfile.write(piece)
                handler.wfile.flush()
                if reply.drips and self.closing.wait(0.02):
                    return

    def close(self) -> None:
        """Stop."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # that nobody has to try again


@contextmanager
def scripted(answer: Callable[[Asked], Reply], tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """Run a server for as long as the block lasts."""
    server = ScriptedServer(answer, tls)
    try:
        yield server
    finally:
        server.close()
