"""A lock between processes, which the system releases however its holder dies."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from cairn.errors import StoreError, StoreLockedError, is_disk_full
from cairn.hints import Hint
from cairn.storage.own_files import open_own, open_stream
from cairn.storage.store import Store

# The variables that name a project's state folder, and the user's own, which holds other locks.
_FOLDER_OF_STORES, _FOLDER_OF_USER = "CAIRN_STATE_DIR", "XDG_STATE_HOME"
_POLL_SECONDS = 0.05
_MAX_BYTES = 60  # bytes of a lock file to read


@contextmanager
def write_lock(path: Path, timeout_seconds: float, store: Store) -> Iterator[int]:
    """Keep other processes from writing to a store at the same time; see `file_lock`.

    The block gets the number of times that the lock had been taken before, as from `count_turns`. If that has grown
    since an earlier call, somebody else may have written.

    Raises:
        StoreLockedError: the store's own, if another process keeps it longer than `timeout_seconds`.
        UnsafeStateError, StoreError: as `file_lock`.
    """
    with _hold(path, timeout_seconds, _FOLDER_OF_STORES, store) as n_turns:
        yield n_turns


@contextmanager
def file_lock(path: Path, timeout_seconds: float, folder_variable: str = _FOLDER_OF_USER) -> Iterator[None]:
    """Hold the lock file at `path` during the block. The file says who holds it, for `holder`.

    Args:
        path: of the lock file.
        timeout_seconds: how long to wait for another process.
        folder_variable: the variable that names its folder, for hints; empty if there is none.

    Raises:
        StoreLockedError: if another process holds it for longer than `timeout_seconds`.
        UnsafeStateError: if it is a link, or not this user's own file.
        StoreError: if the file cannot be opened or locked.
    """
    with _hold(path, timeout_seconds, folder_variable):
        yield


@contextmanager
def _hold(path: Path, timeout_seconds: float, variable: str, store: Store | None = None) -> Iterator[int]:
    deadline = time.monotonic() + timeout_seconds
    while True:
        with _open(path, variable, store) as stream:
            if not _wait(stream, path, deadline, variable, store):
                raise _timeout_error(path, timeout_seconds, store)
            if not _is_at(stream, path):  # deleted meanwhile; somebody may lock a new one
                continue
            _, n_turns = _read(stream)
            with suppress(OSError):  # a full disk
                stream.truncate(0)
                stream.write(f"{os.getpid()} {n_turns + 1}\n".encode())
                stream.flush()
            yield n_turns  # closing the file releases the lock
            return


def count_turns(path: Path) -> int:
    """Return how often a lock was taken; 0 if never, or if it is being taken at this moment."""
    try:
        with open_stream(path, "rb") as stream:
            return _read(stream)[1]
    except (OSError, StoreError):  # taking it reports what is wrong
        return 0


def holder(path: Path) -> int | None:
    """Return the id of the process that holds a lock, None if nobody does; 0 if it is unknown."""
    try:
        with open_stream(path, "r+b") as stream:
            if _try_lock(stream):
                return None
            return _read(stream)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _not_usable(path, error) from error


def _read(stream: IO[bytes]) -> tuple[int, int]:
    """Return which process last took a lock, and how often it was taken; 0 for what the file does not say."""
    stream.seek(0)
    process, _, n_turns = stream.read(_MAX_BYTES).strip().partition(b" ")
    return int(process) if process.isdigit() else 0, int(n_turns) if n_turns.isdigit() else 0


def _wait(stream: IO[bytes], path: Path, deadline: float, variable: str, store: Store | None) -> bool:
    """Lock an open file; return whether that succeeded before the deadline."""
    try:
        while not _try_lock(stream):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
    except OSError as error:  # the file system has no locks
        raise _not_usable(path, error, variable, store) from error
    return True


def _timeout_error(path: Path, timeout_seconds: float, store: Store | None) -> StoreLockedError:
    if store is None:
        return StoreLockedError(f"another process keeps {path} locked", "wait for it, then run the command again")
    return store.locked(
        f"another process has been {store.work} for over {timeout_seconds:.0f} s ({path})",
        store.update.after("wait for it, or stop it and run"),
    )


def _is_at(stream: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.lstat(path))
    except FileNotFoundError:
        return False


def _open(path: Path, variable: str, store: Store | None) -> IO[bytes]:
    try:
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        return os.fdopen(descriptor, "a+b", buffering=0)  # discard the buffer, or closing would fail again
    except OSError as error:
        raise _not_usable(path, error, variable, store) from error


def _not_usable(path: Path, error: OSError, variable: str = _FOLDER_OF_USER, store: Store | None = None) -> StoreError:
    hint: str = f"make it writable, or set {variable} to a folder that is" if variable else "make its folder writable"
    if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
        hint = f"set {variable} to a local folder" if variable else "move its folder to a local disk"
        return StoreError(f"cannot lock {path}: the file system has no locks", hint)
    if error.errno == errno.EISDIR:
        hint = Hint.of("doctor", fix=True)
    if is_disk_full(error):
        hint = store.make_room() if store else "free some space, then run it again"
    return StoreError(f"cannot write {path}: {error.strerror}", hint)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(stream: IO[bytes]) -> bool:
        try:
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
