"""Finds or starts the daemon and asks it: what MCP, hooks and programs use instead of a workspace of their own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Protocol, Self
from urllib.parse import quote

from cairn import __version__
from cairn.errors import CairnError, DaemonError, StoreError, StoreLockedError, TooLargeError, error_from_dict
from cairn.hints import Hint
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import MAX_BODY_BYTES, ProjectRequest
from cairn.runtime import Runtime, StateFolder
from cairn.schema import encode
from cairn.storage.lock import file_lock
from cairn.storage.own_files import open_stream
from cairn.transport import Reply, ask, read_head, read_reply, request_bytes

START_SECONDS = 20.0
STOP_SECONDS = 15.0
_STEP_SECONDS = 0.01
_HEALTH_SECONDS = 5.0
_SILENCE_SECONDS = 10.0  # after which a daemon that does not answer is asked whether it lives
_MAX_LINE_BYTES = 1 << 24


class Transport(Protocol):
    """Carries one request to the daemon, or, in tests, to its application."""

    async def send(self, method: str, path: str, body: bytes | None) -> Reply:
        """Return the whole answer.

        Raises:
            DaemonError: if there is none.
        """

    def stream(self, method: str, path: str, body: bytes | None) -> AbstractAsyncContextManager[StreamedReply]:
        """Open an answer that comes bit by bit."""


class StreamedReply(Protocol):
    """An answer that comes bit by bit."""

    status: int

    def lines(self) -> AsyncIterator[str]:
        """Yield its lines as they come."""


class _Hangs(Exception):
    """The daemon with this process id is there and does not answer: another attempt would wait as long."""


class SocketTransport:
    """Asks the daemon of this user, and starts it first when it does not run.

    Args:
        folder: where the daemon is found.
        starting: called to find or start it; a seam for tests.
        silence_seconds: how long it may work before it is asked whether it lives.
    """

    def __init__(
        self,
        folder: StateFolder,
        starting: Callable[[StateFolder], Runtime] | None = None,
        silence_seconds: float = _SILENCE_SECONDS,
    ) -> None:
        self._folder = folder
        self._starting = starting or ensure
        self._silence_seconds = silence_seconds

    async def send(self, method: str, path: str, body: bytes | None) -> Reply:
        """Return the whole answer; a daemon that goes or went meanwhile is started again, once.

        Raises:
            DaemonError: if there is none, or it hangs.
            TooLargeError: if the body is larger than the daemon takes, which would hang up on it.
        """
        if body is not None and len(body) > MAX_BODY_BYTES:
            raise TooLargeError(f"the request is larger than {MAX_BODY_BYTES:,} bytes", "ask for less at once")
        try:
            with suppress(DaemonError, StoreError):
                reply = await self._reply(method, path, body, look=False)
                if not (reply.status == 503 and "retry-after" in reply.headers):
                    return reply
            return await self._reply(method, path, body, look=True)
        except _Hangs as hangs:
            pid = hangs.args[0]
            raise DaemonError(
                f"the daemon (process {pid}) does not answer", f"kill -9 {pid}; the next call starts another"
            ) from hangs

    async def _reply(self, method: str, path: str, body: bytes | None, *, look: bool) -> Reply:
        async with self._connection(method, path, body, look=look) as reader:
            reading = asyncio.ensure_future(reader.read())
            try:
                while not (await asyncio.wait([reading], timeout=self._silence_seconds))[0]:
                    await asyncio.to_thread(self._check_alive)
                return read_reply(await _guarded(reading))
            finally:
                reading.cancel()

    def _check_alive(self) -> None:
        runtime = self._folder.find()
        if runtime is not None and _is_silent(runtime, self._silence_seconds):
            raise _Hangs(runtime.pid)

    @asynccontextmanager
    async def stream(self, method: str, path: str, body: bytes | None) -> AsyncIterator[StreamedReply]:
        """Open an answer that comes bit by bit."""
        async with self._connection(method, path, body, look=True) as reader:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (OSError, EOFError, asyncio.LimitOverrunError) as error:
                raise DaemonError(f"the daemon does not answer: {error}", Hint.of("daemon status")) from error
            status, _ = read_head(head.removesuffix(b"\r\n\r\n"))
            yield _SocketStream(status, reader)

    @asynccontextmanager
    async def _connection(
        self, method: str, path: str, body: bytes | None, *, look: bool
    ) -> AsyncIterator[asyncio.StreamReader]:
        """Connect and send a request.

        Args:
            method, path, body: the request.
            look: whether to make sure first that the daemon answers.
        """
        runtime = None if look else self._folder.find()
        if runtime is None or not _is_ours(runtime):
            runtime = await asyncio.to_thread(self._starting, self._folder)
        reader, writer = await _guarded(asyncio.open_connection(runtime.host, runtime.port, limit=_MAX_LINE_BYTES))
        try:
            writer.write(request_bytes(runtime, self._folder.read_token(), method, path, body))
            await _guarded(writer.drain())
            yield reader
        finally:
            writer.close()


class _SocketStream:
    def __init__(self, status: int, reader: asyncio.StreamReader) -> None:
        self.status = status
        self._reader = reader

    async def lines(self) -> AsyncIterator[str]:
        """Yield lines; the marks of HTTP's chunks stand on lines of their own, between events, and are left out."""
        while line := await _guarded(self._reader.readline()):
            yield line.decode("utf-8").rstrip("\r\n")


async def _guarded(waiting: Awaitable[Any]) -> Any:  # noqa: ANN401 - what is waited for
    try:
        return await waiting
    except OSError as error:
        raise DaemonError(f"the daemon does not answer: {error}", Hint.of("daemon status")) from error


class Client:
    """Asks the daemon; each method is one of its addresses.

    Args:
        transport: by default to the daemon of this user, which is started when needed.
    """

    def __init__(self, transport: Transport | None = None) -> None:
        self._transport = transport or SocketTransport(StateFolder.of_user())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is kept between requests."""

    async def call(self, operation: str, request: ProjectRequest) -> Any:  # noqa: ANN401 - JSON
        """Carry out one of `cairn.protocol.OPERATIONS` and return its answer, of the type `answer_type` names.

        Raises:
            CairnError: with the code, message and hint of the daemon's error.
        """
        return await self.post(f"/api/{operation}", encode(request))

    async def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """Return what is at an address."""
        asked = "&".join(f"{name}={quote(value, safe='', errors='surrogatepass')}" for name, value in query.items())
        return _checked(await self._transport.send("GET", f"{path}?{asked}" if asked else path, None))

    async def post(self, path: str, document: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Send a document to an address and return the answer."""
        return _checked(await self._transport.send("POST", path, json.dumps(document).encode("ascii")))

    async def events(self, path: str, document: dict[str, Any]) -> AsyncIterator[tuple[str, Any]]:
        """Send a document and yield the events (name, data) of the answer; an event `error` is raised.

        Raises:
            CairnError: as `call`.
        """
        async with self._transport.stream("POST", path, json.dumps(document).encode("ascii")) as stream:
            name = ""
            async for line in stream.lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data = json.loads(line.removeprefix("data: "))
                    if name == "error":
                        raise _error(data)
                    yield name, data
                elif stream.status >= 400 and line.startswith("{"):
                    raise _error(json.loads(line))


def _checked(reply: Reply) -> Any:  # noqa: ANN401 - JSON
    try:
        document = json.loads(reply.body)
    except ValueError as error:
        raise DaemonError("the daemon answers what is no JSON", Hint.of("daemon logs")) from error
    if reply.status >= 400:
        raise _error(document)
    return document


def _error(document: dict[str, str]) -> CairnError:
    return error_from_dict(document)


# -- starting and stopping ---------------------------------------------------------------------------------------------


def ensure(folder: StateFolder) -> Runtime:
    """Return the daemon of this user once it answers; start it if none runs, replace it if it is of another version.

    Any number of processes may call it at once: one of them starts the daemon.

    Raises:
        DaemonError: if it does not start, or one of another version does not stop.
    """
    runtime = folder.find()
    if runtime is not None and _is_ours(runtime) and answers(runtime):
        return runtime
    folder.create()
    try:
        with file_lock(folder.start_lock, START_SECONDS):
            runtime = folder.find()
            if runtime is not None and not (_is_ours(runtime) and answers(runtime)):
                stop(folder)
                runtime = None
            return runtime or _start(folder)
    except StoreLockedError as error:
        raise DaemonError(
            f"another process has been starting the daemon for over {START_SECONDS:.0f} s", Hint.of("daemon logs")
        ) from error


def _is_ours(runtime: Runtime) -> bool:
    return (runtime.version, runtime.protocol) == (__version__, PROTOCOL_VERSION)


def answers(runtime: Runtime, timeout_seconds: float = _HEALTH_SECONDS) -> bool:
    """Tell whether a daemon answers, and is not about to stop."""
    try:
        reply = ask(runtime, "", "GET", "/api/health", timeout_seconds=timeout_seconds)
        return reply.status == 200 and json.loads(reply.body)["status"] == "ok"
    except (DaemonError, ValueError, KeyError, TypeError):
        return False


def _is_silent(runtime: Runtime, timeout_seconds: float) -> bool:
    """Tell whether a daemon takes a connection and says nothing; one that works does, for its threads do the work."""
    try:
        ask(runtime, "", "GET", "/api/health", timeout_seconds=timeout_seconds)
    except DaemonError as error:
        return isinstance(error.__cause__, TimeoutError)
    return False


def _start(folder: StateFolder) -> Runtime:
    command = [sys.executable, "-P", "-m", "cairn", "daemon", "start", "--detached"]
    with open_stream(folder.log, "ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder.path, **_detached()
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        runtime = folder.find()
        if runtime is not None and answers(runtime):
            # What was started ends now (`cairn.daemon.lifecycle.detach`), and somebody has to take its exit code.
            threading.Thread(target=process.wait, name="cairn-daemon-exit", daemon=True).start()
            return runtime
        if process.poll() is not None and folder.find() is None:
            break
        time.sleep(_STEP_SECONDS)
    raise DaemonError("the daemon does not start", Hint(f"its log is {folder.log}; read it", "daemon logs"))


def _detached() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def stop(folder: StateFolder, timeout_seconds: float = STOP_SECONDS) -> bool:
    """Ask the daemon of this user to stop, wait until it has, and tell whether one ran.

    Raises:
        DaemonError: if it does not stop. It is never killed.
    """
    runtime = folder.find()
    if runtime is None:
        return False
    with suppress(StoreError, DaemonError):  # it may be ending by itself; whether it ends is what counts
        ask(runtime, folder.read_token(), "POST", "/api/shutdown", b"{}", timeout_seconds=timeout_seconds)
    deadline = time.monotonic() + timeout_seconds
    while (now := folder.find()) is not None and now.pid == runtime.pid:
        if time.monotonic() > deadline:
            raise DaemonError(f"the daemon (process {runtime.pid}) does not stop", f"kill {runtime.pid}")
        time.sleep(_STEP_SECONDS)
    return True
