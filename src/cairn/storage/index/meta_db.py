"""All SQL of what holds for the index as a whole: its generation, which database it is, and how it is emptied."""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

from cairn.storage.index import rows

# Keys of `meta`.
HIGHEST_DROPPED_BLOB = "highest_dropped_blob"
_IDENTITY = "identity"


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the key-value pairs that describe the index as a whole."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: sqlite3.Connection, values: dict[str, str]) -> None:
    """Set some key-value pairs."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def generation(connection: sqlite3.Connection) -> int:
    """Return the number of the newest committed state, 0 before the first."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return rows.number(row[0]) if row else 0


def identity(connection: sqlite3.Connection) -> str:
    """Return what tells this database from any other, as one made after this one was lost; empty before its first run.

    Ids of blobs and views mean the same as long as it stays.
    """
    return read_meta(connection).get(_IDENTITY, "")


class State(NamedTuple):
    """What tells one state of the index from any other: which database it is, and the generation."""

    identity: str
    generation: int


def state(connection: sqlite3.Connection) -> State:
    """Return the state that is committed. As long as it stays, the blobs of every view are there."""
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('generation', ?)", (_IDENTITY,)))
    return State(str(found.get(_IDENTITY, "")), rows.number(found.get("generation", "0")))


def renew_identity(connection: sqlite3.Connection) -> None:
    """Make this another database: files that were derived from it are missing, so it may be an older copy of itself.

    In that case an id given after the copy was made is given again, to another content.
    """
    write_meta(connection, {_IDENTITY: os.urandom(16).hex(), "generation": str(generation(connection) + 1)})


def clear(connection: sqlite3.Connection) -> None:
    """Empty the index, as the first run does, which is a new generation: who has the last one open finds nothing there.

    The vectors of other models stay, to be found again by the texts they belong to. Ids are not given again.
    """
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM blob").fetchone()[0]
    highest = max(highest, rows.number(read_meta(connection).get(HIGHEST_DROPPED_BLOB, "0")))
    tables = ("entry", "origin", "path", "view", "chunk", "definition", "facts", "blob", "segment")
    for table in (*tables, "overlay_blob", "garbage"):
        connection.execute(f"DELETE FROM {table}")
    number = str(generation(connection) + 1)
    write_meta(connection, {_IDENTITY: os.urandom(16).hex(), HIGHEST_DROPPED_BLOB: str(highest), "generation": number})
