"""HTTP/1.1 to the daemon over a plain socket: as much of it as commands and hooks need, and quick to import.

Importing an HTTP library takes longer than the daemon takes to answer (docs/adr/0018), and `socket` with what it loads
to look up names as long as sending the request.
"""

from __future__ import annotations

import _socket
from typing import NamedTuple

from cairn.errors import DaemonError
from cairn.hints import Hint
from cairn.runtime import Runtime

_MAX_HEAD_BYTES = 65_536
_READ_BYTES = 262_144
_HINT = Hint.of("daemon status")


class HttpReply(NamedTuple):
    """What a request got back: status, headers by lower-case name, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


def ask(
    runtime: Runtime, token: str, method: str, path: str, body: bytes | None = None, *, timeout_seconds: float = 60.0
) -> HttpReply:
    """Send one request to a daemon and return its answer.

    Args:
        runtime: where it listens.
        token: empty where none is needed.
        method, path: as in HTTP, the path quoted.
        body: JSON.
        timeout_seconds: how long each step may take: to connect, and to wait for the next bytes.

    Raises:
        DaemonError: if it cannot be reached, or does not speak HTTP.
    """
    family = _socket.AF_INET6 if ":" in runtime.host else _socket.AF_INET
    connection = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_seconds)
        connection.connect((runtime.host, runtime.port))
        connection.sendall(request_bytes(runtime, token, method, path, body))
        received = bytearray()
        while chunk := connection.recv(_READ_BYTES):
            received += chunk
    except OSError as error:
        raise DaemonError(f"the daemon does not answer: {error}", _HINT) from error
    finally:
        connection.close()
    return read_reply(bytes(received))


def request_bytes(runtime: Runtime, token: str, method: str, path: str, body: bytes | None) -> bytes:
    """Return a request as it goes over the wire; the daemon closes the connection after its reply."""
    lines = [f"{method} {path} HTTP/1.1", f"host: {authority(runtime)}", "connection: close"]
    if token:
        lines.append(f"authorization: Bearer {token}")
    if body is not None:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


def authority(runtime: Runtime) -> str:
    """Return the daemon's host and port as in a URL."""
    host = f"[{runtime.host}]" if ":" in runtime.host else runtime.host
    return f"{host}:{runtime.port}"


def read_reply(received: bytes) -> HttpReply:
    """Return a whole reply from its bytes.

    Raises:
        DaemonError: if it is cut short, or is not HTTP.
    """
    head, mark, body = received.partition(b"\r\n\r\n")
    status, headers = read_head(head if mark else b"")
    if headers.get("transfer-encoding") == "chunked":
        body = _join_chunks(body)
    elif len(body) != int(headers.get("content-length", len(body))):
        raise DaemonError("the daemon's reply is cut short", _HINT)
    return HttpReply(status, headers, body)


def read_head(head: bytes) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of a reply.

    Raises:
        DaemonError: if it is not HTTP.
    """
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit() or len(head) > _MAX_HEAD_BYTES:
        raise DaemonError("what listens there is not the daemon: it does not speak HTTP", _HINT)
    pairs = (line.partition(":") for line in lines)
    return int(words[1]), {name.lower(): value.strip() for name, _, value in pairs}


def _join_chunks(body: bytes) -> bytes:
    parts: list[bytes] = []
    while True:
        size, mark, body = body.partition(b"\r\n")
        if not mark:
            raise DaemonError("the daemon's reply is cut short", _HINT)
        n_bytes = int(size.partition(b";")[0], 16)
        if n_bytes == 0:
            return b"".join(parts)
        parts.append(body[:n_bytes])
        body = body[n_bytes + 2 :]
