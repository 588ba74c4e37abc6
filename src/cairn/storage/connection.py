"""Opens SQLite databases the one way Cairn uses them: WAL, one writer, foreign errors mapped."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from cairn.errors import (
    IndexMissingError,
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreVersionError,
    is_disk_full,
)
from cairn.hints import Hint
from cairn.storage.store import Store

BUSY_TIMEOUT_MS = 10_000
_RETRY_SECONDS = 0.01
_LOG_BYTES = 64_000_000  # a larger log is truncated when it is reset
MAX_VARIABLES = 500  # most parameters in one statement
_LIST_SIZES = (1, 12, 24, 48, 120, MAX_VARIABLES)
_MARKS = {size: ", ".join("?" * size) for size in _LIST_SIZES}
_DAMAGED = (
    "malformed", "not a database", "disk image", "file is encrypted", "Could not decode", "too big", "no such",
    "unsafe use of",
)  # fmt: skip
_MAX_PATH_BYTES = 504  # https://www.sqlite.org/src/file/src/os.h: 512 with `-journal`
_NO_ROOM_TO_SHARE = "SQLITE_IOERR_SHMSIZE"  # for `-shm`, https://www.sqlite.org/rescode.html#ioerr_shmsize
_READ_ONLY = ("readonly", "read-only", "unable to open")

# A statement that takes more virtual machine steps than this (half a minute) must come from a crafted file.
MAX_STEPS = 2_000_000_000
_COUNT_EVERY = 5_000_000
# Far above what our statements need and far below what a crafted file could ask for. VACUUM attaches one database.
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 200_000_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 1),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)


class _Stopped(threading.local):
    """Whether a thread's last statement was stopped for taking too many steps; other things may stop one, too."""

    by_count = False


_stopped = _Stopped()
Inspect = Callable[[sqlite3.Connection], object]
_T = TypeVar("_T")


class _Limited(sqlite3.Connection):
    """A connection on which every statement terminates, whatever a crafted file holds."""

    steps = 0
    is_frozen = False  # opened as immutable
    refusal: StoreError | None = None  # why nothing can be written, unless permission is missing

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # noqa: ANN401 - what SQLite takes
        """Run a statement, counting its steps from 0."""
        self.steps = 0
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:  # noqa: ANN401 - as above
        """Run a statement for many parameters; the steps are counted for all of them together."""
        self.steps = -MAX_STEPS  # for all parameter sets together
        return super().executemany(sql, parameters)

    def count(self) -> bool:
        """Count another batch of steps, and tell whether there have been too many."""
        self.steps += _COUNT_EVERY
        _stopped.by_count = self.steps > MAX_STEPS
        return _stopped.by_count


def connect(path: Path, store: Store, inspect: Inspect | None = None) -> sqlite3.Connection:
    """Open or create the database at `path` in autocommit mode; use `transaction` to write.

    Args:
        path: the file; the caller has checked that it belongs to this user.
        store: what it holds.
        inspect: called with the connection before anything is written; its errors propagate.
    """
    with store_errors(path, store):
        connection = _connect(path, inspect)
        try:
            _keep_a_log(connection)
            # What a power failure loses of an index is read again. A store of truth must be on disk once committed.
            connection.execute(f"PRAGMA synchronous = {'FULL' if store.is_truth else 'NORMAL'}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            if store.is_truth:  # checkpoint often, so that the log soon holds nothing of its own
                connection.execute("PRAGMA wal_autocheckpoint = 1")
        except BaseException:
            connection.close()
            raise
    return connection


def connect_for_reading(path: Path, store: Store, inspect: Inspect | None = None) -> sqlite3.Connection:
    """Open the database at `path` for reading, even if nothing can be written.

    In that case it is opened as immutable, which is safe while its log is empty. On a full disk nobody else has it
    open: otherwise the shared-memory file, for which there is no room now, would exist.
    """
    refusal = None
    try:
        return connect(path, store, inspect)
    except (IndexMissingError, StoreDamagedError, StoreForeignError, StoreVersionError):
        raise
    except StoreError as error:
        cause = error.__cause__
        is_full = getattr(cause, "sqlite_errorname", "") == _NO_ROOM_TO_SHARE or _lacks_room(cause, path)
        refusal = error if is_full else None
        may_write = refusal is None and os.access(path.parent, os.W_OK)
        if may_write or not os.access(path, os.R_OK) or _has_content(Path(f"{path}-wal")):
            raise
    with store_errors(path, store):
        connection = _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", inspect)
    connection.is_frozen, connection.refusal = True, refusal
    return connection


def _lacks_room(error: BaseException | None, path: Path) -> bool:
    """Tell whether a database could not be opened because its folder takes no more files; SQLite does not say why."""
    if getattr(error, "sqlite_errorname", "") != "SQLITE_CANTOPEN":
        return False
    import tempfile  # noqa: PLC0415 - start-up time: this is rare

    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return False
    except OSError as refused:
        return is_disk_full(refused)


def is_frozen(connection: sqlite3.Connection) -> bool:
    """Tell whether a database was opened as immutable, so that it must be reopened to see changes."""
    return isinstance(connection, _Limited) and connection.is_frozen


def check_writable(connection: sqlite3.Connection) -> None:
    """Refuse to write through a connection that was opened while the disk was full.

    Raises:
        StoreError: the reason why it can only be read.
    """
    if isinstance(connection, _Limited) and connection.refusal is not None:
        raise connection.refusal


def connect_damaged(path: Path) -> sqlite3.Connection:
    """Open a damaged database to salvage what is readable; nothing is written, and errors are SQLite's own."""
    return _connect(f"{path.absolute().as_uri()}?mode=ro", None)


def check(connection: sqlite3.Connection) -> list[str]:
    """Read the whole database and return the faults of its structure, an empty list if there are none."""
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [text for (text,) in rows if text != "ok"]


def _connect(path: Path | str, inspect: Inspect | None) -> _Limited:
    connection: _Limited = sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        factory=_Limited,
        uri=isinstance(path, str),
    )
    try:
        _restrain(connection)
        if inspect is not None:
            inspect(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _restrain(connection: _Limited) -> None:
    """Keep a crafted file from running code or growing without limit; see https://sqlite.org/security.html."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA mmap_size = 0")
    for limit, value in _LIMITS:
        connection.setlimit(limit, value)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    connection.set_progress_handler(connection.count, _COUNT_EVERY)


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, retrying, since SQLite does not wait if others open a new database at once."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _has_content(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:
        return False


@contextmanager
def patience(connection: sqlite3.Connection, milliseconds: int) -> Iterator[None]:
    """Within the block, wait at most this long for other writers."""
    connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one write transaction, rolled back on an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def unhurried_disk(connection: sqlite3.Connection) -> Iterator[None]:
    """Do not sync the block's commits; they reach the disk with a later one, and survive a crash of the process.

    Only for a store of truth, and outside of transactions; inside one this has no effect.
    """
    if connection.in_transaction:
        yield
        return
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 1000")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 1")


def version_of(connection: sqlite3.Connection) -> tuple[sqlite3.Connection, int, int]:
    """Return a value that changes with any change of the database, by this connection or another."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return connection, version, connection.total_changes


class Kept(Generic[_T]):
    """A cached read that is valid until the database changes. Threads may share it."""

    def __init__(self) -> None:
        self._last: tuple[object, _T] | None = None

    def get(self, connection: sqlite3.Connection, asked: object, read: Callable[[], _T]) -> _T:
        """Return the cached value, or call `read` if the key is another or the database has changed."""
        key = version_of(connection), asked
        last = self._last
        if last is None or last[0] != key:
            self._last = last = key, read()
        return last[1]


def in_parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield the values in portions that fit into one statement."""
    for first in range(0, len(values), MAX_VARIABLES):
        yield values[first : first + MAX_VARIABLES]


def in_lists(values: Sequence[_T]) -> Iterator[tuple[str, list[_T]]]:
    """Yield portions for one statement: the placeholders for `IN`, and the values, padded with the last one.

    Padding limits the number of different statements, so that SQLite compiles few and Python caches them.
    """
    for first in range(0, len(values), MAX_VARIABLES):
        part = list(values[first : first + MAX_VARIABLES])
        size = next(size for size in _LIST_SIZES if size >= len(part))
        yield _MARKS[size], part + part[-1:] * (size - len(part))


def reading(connection: sqlite3.Connection) -> AbstractContextManager[None]:
    """Return a context whose reads all see one state of the database; a nested block sees that of the outer."""
    return _ReadBlock(connection)


class _ReadBlock:
    """What `reading` returns. A class, because every question enters several and a generator is slower."""

    __slots__ = ("_connection", "_is_outer")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._is_outer = False

    def __enter__(self) -> None:
        self._is_outer = not self._connection.in_transaction
        if self._is_outer:
            self._connection.execute("BEGIN")

    def __exit__(self, *_: object) -> None:
        if self._is_outer and self._connection.in_transaction:  # SQLite ends the transaction itself after some errors
            self._connection.execute("COMMIT")


def store_errors(path: Path, store: Store) -> AbstractContextManager[None]:
    """Return a context that maps SQLite's errors to the store's, each with the command that repairs it.

    Args:
        path: the file of the database.
        store: what it holds.
    """
    return _ErrorsOfStore(path, store)


class _ErrorsOfStore:
    """What `store_errors` returns. A class for the same reason."""

    __slots__ = ("_path", "_store")

    def __init__(self, path: Path, store: Store) -> None:
        self._path = path
        self._store = store

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, UnicodeDecodeError):  # raised when decoding SQLite's message, which quotes damaged text
            raise self._store.damage(self._path, "is damaged: it holds text that is not UTF-8") from error
        if isinstance(error, sqlite3.DatabaseError):
            raise _store_error(error, self._path, self._store) from error


def _store_error(error: sqlite3.DatabaseError, path: Path, store: Store) -> StoreError:
    text = str(error)
    endless = "interrupted" in text and _stopped.by_count
    _stopped.by_count = False
    if endless or any(mark in text for mark in _DAMAGED):
        return store.damage(path, f"is damaged: {text}")
    if "locked" in text or "busy" in text:
        return store.locked(f"{path} is in use by another process", "wait for it, then run the command again")
    if "full" in text or "disk I/O" in text:
        return StoreError(f"cannot write {path}: {text}", store.make_room())
    if _lacks_room(error, path):
        return StoreError(f"cannot write {path}: there is no room for another file", store.make_room())
    if (too_many := len(os.fsencode(path.absolute())) - _MAX_PATH_BYTES) > 0:
        hint = f"set CAIRN_STATE_DIR to a folder whose path is shorter by {too_many} bytes or more"
        return StoreError(f"SQLite opens no path of more than {_MAX_PATH_BYTES} bytes, as this one is: {path}", hint)
    if any(mark in text for mark in _READ_ONLY):
        hint = "make the folder writable" + ("" if store.is_truth else ", or set CAIRN_STATE_DIR to one that is")
        return StoreError(f"cannot open or write {path}: {text}", hint)
    return StoreError(f"{path}: {text}", Hint.of("doctor"))
