"""Opens SQLite databases the one way Cairn uses them: WAL, one writer, foreign errors mapped."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cairn.errors import IndexDamagedError, IndexLockedError, StoreError

BUSY_TIMEOUT_MS = 10_000
_DAMAGED = ("malformed", "not a database", "disk image", "file is encrypted")


def connect(path: Path) -> sqlite3.Connection:
    """Open or create the database at `path` in autocommit mode; write through `transaction`."""
    with mapped_errors(path):
        connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


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
def mapped_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with the command that mends each."""
    try:
        yield
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
        raise StoreError(f"{path}: {text}", "cairn status") from error
