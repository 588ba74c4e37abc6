"""The daemon as a process: its lock, its port, the file that tells clients where it is, and its log."""

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
from cairn.errors import DaemonError, StoreError, StoreLockedError
from cairn.hints import Hint
from cairn.loading import load
from cairn.protocol import PROTOCOL_VERSION
from cairn.runtime import Runtime, StateFolder, environment_mark, process_started, program_mark
from cairn.storage.lock import file_lock, holder
from cairn.storage.own_files import open_stream

if TYPE_CHECKING:
    from cairn.daemon.app import Extension

PORTS = 100  # ports to try
LOG_BYTES, LOG_FILES = 1_000_000, 3
SWITCH_SECONDS = 0.0005  # thread switch interval; Python's default is 5 ms
_RARELY = 1_000  # collections of the middle generation before a full one; Python's default is 10
_LOCK_SECONDS = 1.0
_TOKEN_BYTES = 32
_STEP_SECONDS = 0.01
_log = logging.getLogger("cairn.daemon")


def run(settings: Settings, folder: StateFolder, extensions: Sequence[Extension] = ()) -> None:
    """Run this user's daemon until it is stopped or has been idle for long.

    Args:
        settings: of the user.
        folder: the user's state folder.
        extensions: routes of higher layers; see `cairn.daemon.app.Application`.

    Raises:
        DaemonError: if another daemon is running, or no port is free.
        StoreError: if the state folder cannot be written.
    """
    folder.create()
    try:
        with file_lock(folder.lock, _LOCK_SECONDS):
            folder.forget()  # left by a daemon that was killed
            _serve(settings, folder, extensions)
    except StoreLockedError as error:
        raise DaemonError("another daemon of this user is running", Hint.of("daemon status")) from error


def _serve(settings: Settings, folder: StateFolder, extensions: Sequence[Extension]) -> None:
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with bind(settings.daemon_host, settings.daemon_port) as listener:
        # From here on clients can find it; their connections wait until the rest has started.
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
            program=program_mark(),
        )
        folder.write(runtime, token)
        try:
            from cairn.daemon import serving  # noqa: PLC0415 - start-up time: imported once clients can find it

            start_log(folder)
            share_the_interpreter()
            app = serving.create_app(
                settings, folder=folder, host=settings.daemon_host, token=token, extensions=extensions
            )
            app.daemon.stay_found = partial(_stay_found, folder, runtime, token)
            if not serving.is_loopback(settings.daemon_host):
                _log.warning("other machines can reach %s, and the connection is not encrypted", settings.daemon_host)
            _log.info("version %s, process %d, port %d", __version__, os.getpid(), port)
            serving.create_server(app).run(sockets=[listener])
            _log.info(
                "stopped" if app.daemon.ended_in_time else "stopped before all work was done; the next run continues it"
            )
        finally:
            folder.forget()
    if not app.daemon.ended_in_time:
        logging.shutdown()
        os._exit(0)  # nothing else ends a working thread; everything committed is kept


def share_the_interpreter() -> None:
    """Keep threads from making each other wait for long.

    A thread that resolves the calls of a large project runs Python code for seconds. Each time a search reads a row or
    multiplies a matrix, it releases the interpreter and waits up to one switch interval to get it back. A full garbage
    collection stops every thread, so `cairn.daemon.lifespan` runs it while there is no request.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _RARELY)


def _stay_found(folder: StateFolder, runtime: Runtime, token: str) -> bool:
    """Rewrite the runtime file and the token if they were lost; return False if the lock was lost or taken over."""
    found = folder.find()
    if found is not None and found.pid != runtime.pid:
        return False
    if found is not None and _is_kept(folder, token):
        return True
    if holder(folder.lock) is None:  # another daemon can start now, and clients will find that one
        return False
    _log.warning("%s was lost; writing it again", folder.runtime if found is None else folder.token)
    folder.write(runtime, token)
    return True


def _is_kept(folder: StateFolder, token: str) -> bool:
    try:
        return folder.read_token() == token
    except StoreError:
        return False


def detach(folder: StateFolder, timeout_seconds: float) -> None:
    """Continue in a child process; this one exits once clients can find the child, or the child has exited.

    Some agents kill all their descendants on exit. That would take down a daemon that others still use; but a child
    whose parent has exited is nobody's descendant. Does nothing on Windows, where agents only kill their direct
    children.
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
    """Return a socket bound to the first free port.

    Raises:
        DaemonError: if all ports are taken, or this machine has no such address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(first_port, first_port + PORTS):
        # asyncio sets TCP_NODELAY only if the protocol is given. Without it, the body of a response waits until the
        # client acknowledges the head, which it delays by 40 ms on a connection that it keeps open.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if sys.platform == "win32":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            else:  # so that a port that was just released counts as free
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise DaemonError(
                    f"cannot listen at {host}: {error.strerror}", "correct the setting daemon_host"
                ) from error
        else:
            return listener
    raise DaemonError(
        f"all ports from {first_port} to {first_port + PORTS - 1} are taken", "set daemon_port to a free port"
    )


class _LogFile(RotatingFileHandler):
    """A log handler that refuses to write through links."""

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(open_stream(Path(self.baseFilename), "ab"), encoding=self.encoding, write_through=True)


class _WithoutSecrets(logging.Formatter):
    """Redacts secrets in log lines, since an error may quote its input."""

    def format(self, record: logging.LogRecord) -> str:
        return str(load("cairn.memory.redaction:redact")(super().format(record)).text)


def start_log(folder: StateFolder) -> None:
    """Start to log to the state folder, with rotation."""
    handler = _LogFile(folder.log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    handler.setFormatter(_WithoutSecrets("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
