"""Backups of a store, made before its schema changes: beside it, named by version and time; a few are kept."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from cairn.storage.atomic import AtomicFile

MAX_COPIES = 5
_NAME = r"\.v(?P<version>\d+)-(?P<made>\d{8}-\d{6})-(?P<nanoseconds>\d{9})"


class Copy(NamedTuple):
    """A backup: its file, the version of its schema, and when it was made, such as `20260131-235959` in UTC."""

    path: Path
    version: int
    made: str


def copy_database(file: Path) -> Path:
    """Copy a database beside itself, check the copy and drop the oldest ones; the copy is on disk on return.

    The caller holds the database's write lock on a connection that has not written yet. So the committed state cannot
    change meanwhile, and nobody else makes a copy. The copy needs no log, and has the database's permissions.

    Raises:
        sqlite3.DatabaseError: if the copy is damaged; it is then removed.
        OSError: if it cannot be written.
        UnsafeStateError: if the folder is a link.
    """
    _remove_unfinished(file)
    # SQLite cannot copy through a connection that holds a write transaction.
    with closing(sqlite3.connect(file, isolation_level=None)) as source:
        (version,) = source.execute("PRAGMA user_version").fetchone()
        now = time.time_ns()
        stamp = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now // 1_000_000_000))}-{now % 1_000_000_000:09}"
        path = file.with_name(f"{file.name}.v{version}-{stamp}")
        with AtomicFile(path, mode=file.stat().st_mode & 0o777) as new:
            _fill(new.path, source)
    for old in find_copies(file)[:-MAX_COPIES]:
        with suppress(OSError):  # one too many is harmless
            old.path.unlink()
    return path


def find_copies(file: Path) -> list[Copy]:
    """Return the copies of a database, oldest first."""
    try:
        names = os.listdir(file.parent)
    except OSError:
        return []
    found = filter(None, (re.fullmatch(re.escape(file.name) + _NAME, name) for name in names))
    in_order = sorted(found, key=lambda name: name["made"] + name["nanoseconds"])
    return [Copy(file.with_name(name[0]), int(name["version"]), name["made"]) for name in in_order]


def _fill(path: Path, source: sqlite3.Connection) -> None:
    """Copy a database into an empty file, and check it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
        found = target.execute("PRAGMA integrity_check(1)").fetchall()
    if found != [("ok",)]:
        raise sqlite3.DatabaseError(f"database disk image is malformed: {found[0][0]}")


def _remove_unfinished(file: Path) -> None:
    """Delete unfinished copies of killed processes; nobody but the caller is making a copy now."""
    unfinished = re.compile(re.escape(file.name) + _NAME + r"\.\d+\.tmp(?:-journal|-wal|-shm)?")
    for name in os.listdir(file.parent):
        if unfinished.fullmatch(name):
            with suppress(OSError):  # left as litter
                os.unlink(file.with_name(name))
