"""Finds or starts the daemon and asks it, for MCP, hooks and other programs that do not open a workspace."""

from __future__ import annotations

import asyncio
import errno
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
from cairn.errors import DaemonError, StoreError, StoreLockedError, StoreVersionError, TooLargeError, error_from_dict
from cairn.hints import Hint
from cairn.protocol import PROTOCOL_VERSION
from cairn.protocol.requests import MAX_BODY_BYTES, ProjectRequest
from cairn.runtime import Runtime, StateFolder, is_replaced, program_mark
from cairn.schema import encode
from cairn.storage.lock import file_lock, holder
from cairn.storage.own_files import open_stream
from cairn.transport import HttpReply, ask, read_head, read_reply, request_bytes

START_SECONDS = 20.0
STOP_SECONDS = 15.0
_FOUND_AGAIN_SECONDS = 10.0  # a daemon checks every 5 seconds whether it can be found
_STEP_SECONDS = 0.01
_HEALTH_SECONDS = 5.0
_SILENCE_SECONDS = 10.0  # silence after which a daemon is checked for a hang
_MAX_LINE_BYTES = 1 << 24
# Errors if this machine cannot be reached at all, as in a sandbox without a network.
_NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.EPERM, errno.EACCES)


class Transport(Protocol):
    """Carries requests to the daemon or, in tests, to its application."""

    async def send(self, method: str, path: str, body: bytes | None) -> HttpReply:
        """Return the whole reply.

        Raises:
            DaemonError: if there is none.
        """

    def stream(self, method: str, path: str, body: bytes | None) -> AbstractAsyncContextManager[StreamedReply]:
        """Open a reply that comes bit by bit."""


class StreamedReply(Protocol):
    """A streamed reply."""

    status: int

    def lines(self) -> AsyncIterator[str]:
        """Yield its lines as they arrive."""


class _Hangs(Exception):
    """The daemon with this process id is running but hangs; another attempt would wait just as long."""


class SocketTransport:
    """Asks this user's daemon, starting it if none is running.

    Args:
        folder: that tells where the daemon is.
        start: finds or starts it; a seam for tests.
        silence_seconds: how long it may be silent before it is checked for a hang.
    """

    def __init__(
        self,
        folder: StateFolder,
        start: Callable[[StateFolder], Runtime] | None = None,
        silence_seconds: float = _SILENCE_SECONDS,
    ) -> None:
        self._folder = folder
        self._ensure = start or ensure
        self._silence_seconds = silence_seconds
        self._has_renewed = False
        self._was_compared = False

    async def renew(self) -> bool:
        """Stop the daemon, once, because it may be older than this program in spite of the same version.

        Returns:
            whether asking again makes sense, which starts another daemon.
        """
        if self._has_renewed:
            return False
        self._has_renewed = True
        return await asyncio.to_thread(stop, self._folder)

    async def send(self, method: str, path: str, body: bytes | None) -> HttpReply:
        """Return the whole reply; if the daemon has stopped meanwhile, it is restarted once.

        Raises:
            DaemonError: if there is no reply, or the daemon hangs.
            TooLargeError: if the body is larger than the daemon accepts; it would hang up.
        """
        if body is not None and len(body) > MAX_BODY_BYTES:
            raise TooLargeError(f"the request is larger than {MAX_BODY_BYTES:,} bytes", "send less at once")
        try:
            with suppress(DaemonError, StoreError):
                reply = await self._reply(method, path, body, check=False)
                if not (reply.status == 503 and "retry-after" in reply.headers):
                    return reply
            return await self._reply(method, path, body, check=True)
        except _Hangs as hangs:
            pid = hangs.args[0]
            raise DaemonError(
                f"the daemon (process {pid}) does not answer", f"kill -9 {pid}; the next call starts another"
            ) from hangs

    async def _reply(self, method: str, path: str, body: bytes | None, *, check: bool) -> HttpReply:
        async with self._connection(method, path, body, check=check) as reader:
            reading = asyncio.ensure_future(reader.read())
            try:
                while not (await asyncio.wait([reading], timeout=self._silence_seconds))[0]:
                    await asyncio.to_thread(self._check_alive)
                return read_reply(await _wait_for(reading))
            finally:
                reading.cancel()

    def _is_ours(self, runtime: Runtime) -> bool:
        """Tell whether a daemon runs this program; whether it was updated is looked at once, for that takes longer."""
        is_ours = _is_ours(runtime) and (self._was_compared or not _is_outdated(runtime))
        self._was_compared = True
        return is_ours

    def _check_alive(self) -> None:
        runtime = self._folder.find()
        if runtime is not None and _is_silent(runtime, self._silence_seconds):
            raise _Hangs(runtime.pid)

    @asynccontextmanager
    async def stream(self, method: str, path: str, body: bytes | None) -> AsyncIterator[StreamedReply]:
        """Open a reply that comes bit by bit."""
        async with self._connection(method, path, body, check=True) as reader:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (OSError, EOFError, asyncio.LimitOverrunError) as error:
                raise DaemonError(f"the daemon does not answer: {error}", Hint.of("daemon status")) from error
            status, _ = read_head(head.removesuffix(b"\r\n\r\n"))
            yield _SocketStream(status, reader)

    @asynccontextmanager
    async def _connection(
        self, method: str, path: str, body: bytes | None, *, check: bool
    ) -> AsyncIterator[asyncio.StreamReader]:
        """Connect and send a request.

        Args:
            method, path, body: the request.
            check: whether to make sure first that the daemon answers.
        """
        runtime = None if check else self._folder.find()
        if runtime is None or not self._is_ours(runtime):
            runtime = await asyncio.to_thread(self._ensure, self._folder)
        reader, writer = await _wait_for(asyncio.open_connection(runtime.host, runtime.port, limit=_MAX_LINE_BYTES))
        try:
            writer.write(request_bytes(runtime, self._folder.read_token(), method, path, body))
            await _wait_for(writer.drain())
            yield reader
        finally:
            writer.close()


class _SocketStream:
    def __init__(self, status: int, reader: asyncio.StreamReader) -> None:
        self.status = status
        self._reader = reader

    async def lines(self) -> AsyncIterator[str]:
        """Yield lines. HTTP's chunk sizes are lines of their own between events, where readers skip them."""
        while line := await _wait_for(self._reader.readline()):
            yield line.decode("utf-8").rstrip("\r\n")


async def _wait_for(waiting: Awaitable[Any]) -> Any:  # noqa: ANN401 - of any type
    """Await a step of the connection.

    Raises:
        DaemonError: if the connection fails.
    """
    try:
        return await waiting
    except OSError as error:
        raise DaemonError(f"the daemon does not answer: {error}", Hint.of("daemon status")) from error


class Client:
    """Asks the daemon.

    Args:
        transport: carries the requests; by default to this user's daemon, which is started on demand.

    A daemon that cannot read what a newer program wrote, as after an upgrade, is replaced.
    """

    def __init__(self, transport: Transport | None = None) -> None:
        self._transport = transport or SocketTransport(StateFolder.of_user())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Do nothing: no state is kept between requests."""

    async def call(self, operation: str, request: ProjectRequest) -> Any:  # noqa: ANN401 - JSON
        """Perform one of `cairn.protocol.table.OPERATIONS` and return its answer as an `answer_type`.

        Raises:
            CairnError: with the code, message and hint of the daemon's error.
        """
        return await self.post(f"/api/{operation}", encode(request))

    async def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a GET request."""
        query_string = "&".join(
            f"{name}={quote(value, safe='', errors='surrogatepass')}" for name, value in query.items()
        )
        return await self._ask("GET", f"{path}?{query_string}" if query_string else path, None)

    async def post(self, path: str, document: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Send a document by POST and return the answer."""
        return await self._ask("POST", path, json.dumps(document).encode("ascii"))

    async def _ask(self, method: str, path: str, body: bytes | None) -> Any:  # noqa: ANN401 - JSON
        try:
            return _document_of(await self._transport.send(method, path, body))
        except StoreVersionError:
            if not await self._renew():
                raise
        return _document_of(await self._transport.send(method, path, body))

    async def _renew(self) -> bool:
        return isinstance(self._transport, SocketTransport) and await self._transport.renew()

    async def events(self, path: str, document: dict[str, Any]) -> AsyncIterator[tuple[str, Any]]:
        """Send a document by POST and yield the reply's events as (name, data); an event `error` is raised.

        Raises:
            CairnError: as `call`.
        """
        body = json.dumps(document).encode("ascii")
        try:
            async for event in self._events(path, body):
                yield event
        except StoreVersionError:
            if not await self._renew():
                raise
            async for event in self._events(path, body):
                yield event

    async def _events(self, path: str, body: bytes) -> AsyncIterator[tuple[str, Any]]:
        async with self._transport.stream("POST", path, body) as stream:
            name = ""
            async for line in stream.lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data = json.loads(line.removeprefix("data: "))
                    if name == "error":
                        raise error_from_dict(data)
                    yield name, data
                elif stream.status >= 400 and line.startswith("{"):
                    raise error_from_dict(json.loads(line))


def _document_of(reply: HttpReply) -> Any:  # noqa: ANN401 - JSON
    """Return the document in a reply, or raise the error in it."""
    try:
        document = json.loads(reply.body)
    except ValueError as error:
        raise DaemonError("the daemon's reply is not JSON", Hint.of("daemon logs")) from error
    if reply.status >= 400:
        raise error_from_dict(document)
    return document


# -- starting and stopping ---------------------------------------------------------------------------------------------


def ensure(folder: StateFolder) -> Runtime:
    """Return this user's daemon once it answers; start it if none is running.

    One of another version is replaced, and so is one that runs code from before an update.

    Any number of processes may call this at once; only one of them starts the daemon.

    Raises:
        DaemonError: if it does not start, or a daemon of another version does not stop.
    """
    runtime = folder.find()
    if runtime is not None and _is_current(runtime):
        return runtime
    folder.create()
    try:
        with file_lock(folder.start_lock, START_SECONDS):
            runtime = find_daemon(folder)
            if runtime is not None and not _is_current(runtime):
                stop(folder)
                runtime = None
            return runtime or _start(folder)
    except StoreLockedError as error:
        raise DaemonError(
            f"another process has been starting the daemon for over {START_SECONDS:.0f} s", Hint.of("daemon logs")
        ) from error


def find_daemon(folder: StateFolder) -> Runtime | None:
    """Return this user's daemon, None if none is running; if one holds the lock, wait until it says where it listens.

    It does so once it has started, and again within seconds if the file that says it was lost.

    Raises:
        DaemonError: if it does not.
    """
    deadline = time.monotonic() + _FOUND_AGAIN_SECONDS
    while (runtime := folder.find()) is None:
        try:
            process = holder(folder.lock)
        except StoreError:  # nobody can lock it, as in a read-only folder
            return None
        if process is None:
            return None
        if time.monotonic() > deadline:
            raise DaemonError(f"the daemon (process {process}) does not say where it listens", f"kill {process}")
        time.sleep(_STEP_SECONDS)
    return runtime


def _is_ours(runtime: Runtime) -> bool:
    return (runtime.version, runtime.protocol) == (__version__, PROTOCOL_VERSION)


def _is_outdated(runtime: Runtime) -> bool:
    return is_replaced(runtime.program, program_mark())


def _is_current(runtime: Runtime) -> bool:
    return _is_ours(runtime) and not _is_outdated(runtime) and answers(runtime)


def answers(runtime: Runtime, timeout_seconds: float = _HEALTH_SECONDS) -> bool:
    """Tell whether a daemon answers and is not stopping."""
    try:
        reply = ask(runtime, "", "GET", "/api/health", timeout_seconds=timeout_seconds)
        return reply.status == 200 and json.loads(reply.body)["status"] == "ok"
    except (DaemonError, ValueError, KeyError, TypeError):
        return False


def _is_reached(runtime: Runtime) -> bool:
    """Tell whether a daemon answers.

    Raises:
        DaemonError: if this machine cannot be reached at all, so that it never will.
    """
    if answers(runtime):
        return True
    try:
        ask(runtime, "", "GET", "/api/health", timeout_seconds=_HEALTH_SECONDS)
    except DaemonError as error:
        _check_network(error)
    return False


def _check_network(error: DaemonError) -> None:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in _NO_NETWORK:
        raise DaemonError(
            f"the daemon cannot be reached from here: {cause.strerror}",
            "run it where there is a network; other commands work without the daemon",
        ) from error


def _is_silent(runtime: Runtime, timeout_seconds: float) -> bool:
    """Tell whether a daemon accepts a connection but sends nothing. A busy one replies, since threads do its work."""
    try:
        ask(runtime, "", "GET", "/api/health", timeout_seconds=timeout_seconds)
    except DaemonError as error:
        return isinstance(error.__cause__, TimeoutError)
    return False


def _start(folder: StateFolder) -> Runtime:
    command = [sys.executable, "-P", "-m", "cairn", "daemon", "start", "--detached"]
    with open_stream(folder.log, "ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder.path, **_detach_options()
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        runtime = folder.find()
        if runtime is not None and _is_reached(runtime):
            # The process started here exits now (`cairn.daemon.lifecycle.detach`); waiting for it leaves no zombie.
            threading.Thread(target=process.wait, name="cairn-daemon-exit", daemon=True).start()
            return runtime
        if process.poll() is not None and folder.find() is None:
            break
        time.sleep(_STEP_SECONDS)
    raise DaemonError("the daemon does not start", Hint(f"its log is {folder.log}; read it", "daemon logs"))


def _detach_options() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def stop(folder: StateFolder, timeout_seconds: float = STOP_SECONDS) -> bool:
    """Ask this user's daemon to stop and wait until it has; return whether one was running.

    Raises:
        DaemonError: if it does not stop. It is never killed.
    """
    runtime = find_daemon(folder)
    if runtime is None:
        return False
    deadline, is_asked = time.monotonic() + timeout_seconds, False
    while (now := folder.find()) is not None and now.pid == runtime.pid:
        if time.monotonic() > deadline:
            raise DaemonError(f"the daemon (process {runtime.pid}) does not stop", f"kill {runtime.pid}")
        is_asked = is_asked or _ask_to_stop(folder, runtime, timeout_seconds)
        time.sleep(_STEP_SECONDS)
    return True


def _ask_to_stop(folder: StateFolder, runtime: Runtime, timeout_seconds: float) -> bool:
    """Ask a daemon to stop; return False if its token is lost, which it rewrites soon."""
    try:
        reply = ask(runtime, folder.read_token(), "POST", "/api/shutdown", b"{}", timeout_seconds=timeout_seconds)
    except StoreError:
        return False
    except DaemonError as error:  # it may be stopping by itself; only the outcome counts
        _check_network(error)
        return True
    return reply.status != 401  # the token is another daemon's
