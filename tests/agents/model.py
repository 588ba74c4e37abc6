"""A model that follows a script, behind a local HTTP server: what agents are tested against instead of a real one.

Each vendor's streaming protocol is a module of its own; here is what they share. Nothing leaves the machine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol


class Call(NamedTuple):
    """What the model does: it calls a tool of our server by the name that it has there, or one of the agent's own."""

    tool: str
    arguments: dict[str, Any]
    is_own: bool = False


class Seen(NamedTuple):
    """What of a request concerns the script: which tools are offered, and the results of calls so far, as text."""

    tools: list[str]
    results: list[str]


Step = Call | str  # a call, or the last words
Script = Callable[[Seen], Step]


class Vendor(Protocol):
    """A streaming protocol."""

    def serves(self, path: str) -> bool:
        """Tell whether a path is the one that models are asked at."""

    def read(self, document: dict[str, Any]) -> Seen:
        """Return what a request says."""

    def reply(self, document: dict[str, Any], step: Step) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the events (name, data) of the answer to a request."""

    def other(self, path: str) -> dict[str, Any]:
        """Return the answer to anything else an agent asks."""


def full_name(call: Call, offered: Sequence[str]) -> str:
    """Return what an agent calls a tool; for one of ours, each puts the server's name in front in its own way."""
    tool = call.tool
    if call.is_own:
        return tool
    wanted = (f"mcp__cairn__{tool}", f"mcp_cairn_{tool}", f"cairn-{tool}", f"cairn_{tool}")
    return next((name for name in offered if name in wanted), wanted[0])


class Endpoint:
    """A running model. `seen` are the requests that offered tools, in order; `failures` what went wrong here."""

    def __init__(self, vendor: Vendor, script: Script) -> None:
        self._vendor = vendor
        self._script = script
        self.url = ""
        self.seen: list[Seen] = []
        self.documents: list[dict[str, Any]] = []
        self.failures: list[str] = []

    def answer(self, path: str, body: bytes) -> tuple[str, bytes]:
        """Return the kind and the body of an answer."""
        if not self._vendor.serves(path):
            return "application/json", json.dumps(self._vendor.other(path)).encode()
        document = json.loads(body)
        seen = self._vendor.read(document)
        step: Step = "a title"  # agents ask small questions beside the work, without tools
        if seen.tools:
            self.seen.append(seen)
            self.documents.append(document)
            step = self._script(seen)
        events = self._vendor.reply(document, step)
        lines = (f"event: {name}\n" * bool(name) + f"data: {json.dumps(data)}\n\n" for name, data in events)
        return "text/event-stream", "".join(lines).encode()


@contextmanager
def serving(vendor: Vendor, script: Script) -> Iterator[Endpoint]:
    """Serve a model that follows a script until the block ends."""
    endpoint = Endpoint(vendor, script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                kind, answer = endpoint.answer(self.path.partition("?")[0], body)
                status = 200
            except Exception as error:  # noqa: BLE001 - the edge of a request; the test tells it
                endpoint.failures.append(f"{self.path}: {type(error).__name__}: {error}")
                kind, answer, status = "application/json", b"{}", 500
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
