"""Opens SQLite databases the one way Cairn uses them: WAL, one writer, foreign errors mapped."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from cairn.errors import IndexDamagedError, IndexLockedError, StoreError

BUSY_TIMEOUT_MS = 10_000
_RETRY_SECONDS = 0.01
MAX_VARIABLES = 500  # of one statement
_DAMAGED = ("malformed", "not a database", "disk image", "file is encrypted", "Could not decode")
_READ_ONLY = ("readonly", "read-only", "unable to open")

_T = TypeVar("_T")


def connect(path: Path) -> sqlite3.Connection:
    """Open or create the database at `path` in autocommit mode; write through `transaction`."""
    with mapped_errors(path):
        connection = _connect(path)
        try:
            _keep_a_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open the database at `path` to read it, even where nothing can be written.

    There it is read as if it never changed, which holds for as long as its log is empty.
    """
    try:
        return connect(path)
    except StoreError:
        if os.access(path.parent, os.W_OK) or not os.access(path, os.R_OK) or _has_content(Path(f"{path}-wal")):
            raise
    with mapped_errors(path):
        return _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1")


def check(connection: sqlite3.Connection) -> list[str]:
    """Read the whole database and return what is wrong with its structure, nothing when all is well."""
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [text for (text,) in rows if text != "ok"]


def _connect(path: Path | str) -> sqlite3.Connection:
    timeout = BUSY_TIMEOUT_MS / 1000
    return sqlite3.connect(
        path, timeout=timeout, isolation_level=None, check_same_thread=False, uri=isinstance(path, str)
    )


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. While others open a new database at once, SQLite gives up instead of waiting."""
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
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one write transaction, all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one read transaction, so that all that it reads is of one state."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def in_parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield the values in portions that fit one statement."""
    for first in range(0, len(values), MAX_VARIABLES):
        yield values[first : first + MAX_VARIABLES]


@contextmanager
def mapped_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with the command that mends each."""
    try:
        yield
    except UnicodeDecodeError as error:  # the module decodes SQLite's message, which quotes what is damaged
        raise IndexDamagedError(f"{path} is damaged: it holds text that is no UTF-8", "cairn index --full") from error
    except sqlite3.DatabaseError as error:
        text = str(error)
        if any(mark in text for mark in _DAMAGED):
            raise IndexDamagedError(f"{path} is damaged: {text}", "cairn index --full") from error
        if "locked" in text or "busy" in text:
            raise IndexLockedError(
                f"{path} is in use by another process", "wait for it, then run the command again"
            ) from error
        if "full" in text or "disk I/O" in text:
            raise StoreError(f"cannot write {path}: {text}", "free some space, then run: cairn index") from error
        if any(mark in text for mark in _READ_ONLY):
            hint = "make the folder writable, or set CAIRN_STATE_DIR to one that is"
            raise StoreError(f"cannot open or write {path}: {text}", hint) from error
        raise StoreError(f"{path}: {text}", "cairn doctor") from error
