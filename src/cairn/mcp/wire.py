"""JSON-RPC in all revisions of the protocol, for the front end on stdin and stdout.

The official SDK speaks it too, and the daemon uses that over HTTP; but importing it takes longer than an agent waits
for a first answer, and more memory than a front end may have (docs/adr/0020). Tests hold both to the same answers.
https://modelcontextprotocol.io/specification
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from cairn.mcp.about import INSTRUCTIONS, INVALID_PARAMS, ProtocolError, server_info

if TYPE_CHECKING:
    from cairn.mcp.surface import Surface

# Revisions with a handshake, oldest first, and those in which each request is self-contained.
HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_REVISIONS = ("2026-07-28",)

ROOTS_SECONDS = 5.0  # for a client to report its working folders

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INTERNAL_ERROR = -32700, -32600, -32601, -32603
UNSUPPORTED_REVISION = -32022
_META = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES, _SERVER_INFO = f"{_META}protocolVersion", f"{_META}clientCapabilities", f"{_META}serverInfo"
_CLIENT_INFO = f"{_META}clientInfo"
_CAPABILITY = {
    "tools": {"listChanged": False},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
}
# Results that a client may cache in the modern revisions. All but the last are constant while the server runs.
_CACHEABLE = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/read")

Message = dict[str, Any]
_log = logging.getLogger("cairn.mcp")


class Connection:
    """The connection to one client: receives messages, sends answers.

    Args:
        make_surface: returns what answers methods about content; called once, after the first answer or when needed,
            because its import takes longer than the first answer may.
        send: sends a line, given without its end. Called in the event loop.
    """

    def __init__(self, make_surface: Callable[[], Surface], send: Callable[[str], None]) -> None:
        self._surface = cache(make_surface)
        self._send_line = send
        self._running: dict[str | int, asyncio.Task[None]] = {}
        self._offers_roots = False
        self._client: object = None  # the client's name
        self._asked: dict[object, asyncio.Future[object]] = {}
        self._numbers = count()

    def receive(self, line: bytes) -> None:
        """Receive one line; its request is answered now, or later if that takes a while."""
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, PARSE_ERROR, "Parse error")
            return
        if isinstance(document, list) and document:  # a batch, only in 2025-03-26: answered one by one
            for message in document:
                self._take(message)
        else:
            self._take(document)

    async def roots(self) -> list[str]:
        """Ask the client for the URIs of its working folders; none if it does not support that."""
        if not self._offers_roots:
            return []
        number = f"cairn-{next(self._numbers)}"
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send({"jsonrpc": "2.0", "id": number, "method": "roots/list"})
        try:
            result = await asyncio.wait_for(answer, ROOTS_SECONDS)
        except TimeoutError:
            return []
        finally:
            del self._asked[number]
        roots = result.get("roots") if isinstance(result, dict) else None
        listed = roots if isinstance(roots, list) else []
        return [root["uri"] for root in listed if isinstance(root, dict) and isinstance(root.get("uri"), str)]

    async def drain(self, timeout_seconds: float) -> None:
        """Wait for calls in progress, and cancel those that do not finish in time."""
        tasks = list(self._running.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=timeout_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _take(self, message: object) -> None:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._fail(None, INVALID_REQUEST, "Invalid request")
            return
        method = message.get("method")
        if not isinstance(method, str):
            if "result" not in message and "error" not in message:
                self._fail(_id_of(message), INVALID_REQUEST, "Invalid request")
            elif (asked := self._asked.get(_id_of(message))) is not None and not asked.done():
                asked.set_result(message.get("result"))  # drop an answer to no request
            return
        params = message.get("params")
        params = {} if params is None else params
        if "id" not in message:
            if method == "notifications/cancelled" and isinstance(params, dict):
                self._cancel(params.get("requestId"))
            return
        number = _id_of(message)
        if number is None or not isinstance(params, dict) or number in self._running:
            self._fail(number, INVALID_REQUEST, "Invalid request")
            return
        task = asyncio.get_running_loop().create_task(self._answer(number, method, params))
        self._running[number] = task
        task.add_done_callback(lambda _: self._running.pop(number, None))

    def _cancel(self, number: object) -> None:
        if isinstance(number, str | int) and (task := self._running.get(number)) is not None:
            task.cancel()  # nobody is waiting for an answer any more

    async def _answer(self, number: str | int, method: str, params: Message) -> None:
        try:
            meta = params.get("_meta")
            meta = meta if isinstance(meta, dict) else {}
            if _VERSION in meta and method != "initialize":
                result = await self._modern(method, params, meta)
            else:
                result = await self._after_handshake(method, params, meta)
        except ProtocolError as error:
            self._fail(number, error.code, str(error), error.data)
        except Exception as error:  # noqa: BLE001 - a client would wait for ever; it is logged
            _log.exception("internal error in %s", method)
            self._fail(number, INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        else:
            self._send({"jsonrpc": "2.0", "id": number, "result": result})
        asyncio.get_running_loop().call_soon(self._surface)  # the next request will probably need it

    async def _after_handshake(self, method: str, params: Message, meta: Message) -> Message:
        if method == "initialize":
            wanted = params.get("protocolVersion")
            if not isinstance(wanted, str):
                raise ProtocolError(INVALID_PARAMS, "protocolVersion must be a string")
            self._client = _name_of(params.get("clientInfo"))
            offered = params.get("capabilities")
            self._offers_roots = isinstance(offered, dict) and isinstance(offered.get("roots"), dict)
            return {
                "protocolVersion": wanted if wanted in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1],
                "capabilities": _CAPABILITY,
                "serverInfo": server_info(),
                "instructions": INSTRUCTIONS,
            }
        if method == "ping":
            return {}
        return await self._content(method, params, meta)

    async def _modern(self, method: str, params: Message, meta: Message) -> Message:
        version = meta[_VERSION]
        if _CAPABILITIES not in meta:
            raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {_CAPABILITIES}")
        if not isinstance(version, str):
            raise ProtocolError(INVALID_PARAMS, f"{_VERSION} must be a string")
        if version not in MODERN_REVISIONS:
            data = {"supported": list(MODERN_REVISIONS), "requested": version}
            raise ProtocolError(UNSUPPORTED_REVISION, "Unsupported protocol version", data)
        if method == "server/discover":
            result: Message = {
                "supportedVersions": list(MODERN_REVISIONS),
                "capabilities": _CAPABILITY,
                "instructions": INSTRUCTIONS,
            }
        else:
            result = await self._content(method, params, meta)
        if method in _CACHEABLE:
            result |= {"ttlMs": 0, "cacheScope": "private"}
        return result | {"resultType": "complete", "_meta": {_SERVER_INFO: server_info()}}

    async def _content(self, method: str, params: Message, meta: Message) -> Message:
        surface = self._surface()
        if not surface.handles(method):
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)
        client = _name_of(meta.get(_CLIENT_INFO)) or self._client
        return await surface.handle(method, params, self._reporter(meta.get("progressToken")), client)

    def _reporter(self, token: object) -> Callable[[float, float, str], Any]:
        """Return the progress reporter of a call, if the client gave a token; progress never decreases."""
        last = -1.0

        async def report(done: float, total: float, message: str) -> None:
            nonlocal last
            if isinstance(token, str | int) and done > last:
                last = done
                news = {"progressToken": token, "progress": done, "total": total, "message": message}
                self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": news})

        return report

    def _fail(self, number: str | int | None, code: int, message: str, data: object = None) -> None:
        error: Message = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self._send({"jsonrpc": "2.0", "id": number, "error": error})

    def _send(self, message: Message) -> None:
        self._send_line(json.dumps(message, ensure_ascii=True, separators=(",", ":")))


def _id_of(message: Message) -> str | int | None:
    number = message.get("id")
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def _name_of(info: object) -> object:
    return info.get("name") if isinstance(info, dict) else None
