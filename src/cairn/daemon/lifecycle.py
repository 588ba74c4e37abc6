"""A daemon's life as a process: alone by its lock, at a free port, found through its file, with a small log."""

from __future__ import annotations

import errno
import gc
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from cairn import __version__
from cairn.config import Settings
from cairn.errors import DaemonError, StoreLockedError
from cairn.hints import Hint
from cairn.protocol import PROTOCOL_VERSION
from cairn.runtime import Runtime, StateFolder, environment_mark, process_started
from cairn.storage.lock import file_lock, holder
from cairn.storage.own_files import open_stream

if TYPE_CHECKING:
    from cairn.daemon.app import Extension

PORTS = 100  # that are tried
LOG_BYTES, LOG_FILES = 1_000_000, 3
SWITCH_SECONDS = 0.0005  # after which a thread gives way to others; 5 ms by default
_RARELY = 1_000  # as many collections of the middle generation before one of all; 10 by default
_LOCK_SECONDS = 1.0
_TOKEN_BYTES = 32
_STEP_SECONDS = 0.01
_log = logging.getLogger("cairn.daemon")


def run(settings: Settings, folder: StateFolder, extensions: Sequence[Extension] = ()) -> None:
    """Be the daemon of this user until it is stopped, or nobody needs it any more.

    Args:
        settings: of the user.
        folder: his state folder.
        extensions: what the application has beside its own, see `cairn.daemon.app.Application`.

    Raises:
        DaemonError: if another one runs, or there is no free port.
        StoreError: if the state folder cannot be written.
    """
    folder.create()
    try:
        with file_lock(folder.lock, _LOCK_SECONDS):
            folder.forget()  # what a killed one left
            _serve(settings, folder, extensions)
    except StoreLockedError as error:
        raise DaemonError("another daemon of this user runs already", Hint.of("daemon status")) from error


def _serve(settings: Settings, folder: StateFolder, extensions: Sequence[Extension]) -> None:
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with bind(settings.daemon_host, settings.daemon_port) as listener:
        # Found from here on: who connects waits until the rest has started.
        listener.listen()
        port = listener.getsockname()[1]
        runtime = Runtime(
            pid=os.getpid(),
            started=process_started(os.getpid()),
            host=settings.daemon_host,
            port=port,
            version=__version__,
            protocol=PROTOCOL_VERSION,
            environment=environment_mark(),
            answers_commands=settings.daemon,
        )
        folder.write(runtime, token)
        try:
            from cairn.daemon import serving  # noqa: PLC0415 - start-up time: after it can be found

            start_log(folder)
            share_the_interpreter()
            app = serving.create_app(
                settings, folder=folder, host=settings.daemon_host, token=token, extensions=extensions
            )
            app.daemon.stay_found = partial(_stay_found, folder, runtime, token)
            if not serving.is_loopback(settings.daemon_host):
                _log.warning("other machines can reach %s; what they say is not encrypted", settings.daemon_host)
            _log.info("version %s, process %d, port %d", __version__, os.getpid(), port)
            serving.create_server(app).run(sockets=[listener])
            _log.info(
                "ended" if app.daemon.ended_in_time else "ended before all work did; its next run goes on with it"
            )
        finally:
            folder.forget()
    if not app.daemon.ended_in_time:
        logging.shutdown()
        os._exit(0)  # what is committed stays; a thread that works cannot be ended otherwise


def share_the_interpreter() -> None:
    """Let no thread keep others waiting for long.

    One that finds out the edges of a large project works in Python for seconds. Each time that a search reads a row or
    multiplies a matrix, it has to wait for its turn again, for an interval at most. A collection of all garbage stops
    every thread; it is left to `cairn.daemon.lifespan`, for when nobody asks anything.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _RARELY)


def _stay_found(folder: StateFolder, runtime: Runtime, token: str) -> bool:
    """Write down again where the daemon is if that was lost; without its lock, tell that it is not found any more."""
    if folder.find() is not None:
        return True
    if holder(folder.lock) is None:  # another one can start, and be the one that is found
        return False
    _log.warning("%s was lost; it is written again", folder.runtime)
    folder.write(runtime, token)
    return True


def detach(folder: StateFolder, timeout_seconds: float) -> None:
    """Go on in a child of this process, which ends once the child is found as the daemon, or has ended.

    Some agents end every process below them when they end. A daemon that one of them had started first would go with
    it, while others use it; as the child of a process that has ended it is below nobody. On Windows nothing is done:
    there an agent would have to look for more than children of its own.
    """
    if sys.platform == "win32":
        return
    child = os.fork()
    if child == 0:
        return
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            os._exit(os.waitstatus_to_exitcode(status) or 1)
        if (runtime := folder.find()) is not None and runtime.pid == child:
            break
        time.sleep(_STEP_SECONDS)
    os._exit(0)


def bind(host: str, first_port: int) -> socket.socket:
    """Return a socket at the first free port.

    Raises:
        DaemonError: if all are taken, or this machine has no such address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(first_port, first_port + PORTS):
        # asyncio sends at once (TCP_NODELAY) only where the protocol is named. Otherwise the body of an answer waits
        # behind its head for the asker to acknowledge that, which he puts off for 40 ms on a connection that he keeps.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if sys.platform == "win32":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            else:  # so that a port that was just left is free
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise DaemonError(f"cannot listen at {host}: {error.strerror}", "correct daemon_host") from error
        else:
            return listener
    raise DaemonError(
        f"all ports from {first_port} to {first_port + PORTS - 1} are taken", "set daemon_port to a free one"
    )


class _LogFile(RotatingFileHandler):
    """A log that is not written behind a link."""

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(open_stream(Path(self.baseFilename), "ab"), encoding=self.encoding, write_through=True)


def start_log(folder: StateFolder) -> None:
    """Write the log from here on; it is turned over before it grows large."""
    handler = _LogFile(folder.log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
