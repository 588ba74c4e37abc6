"""All SQL of the index as a whole: its generation, its identity, and emptying it."""

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
    """Return the newest committed generation, 0 before the first."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return rows.number(row[0]) if row else 0


def identity(connection: sqlite3.Connection) -> str:
    """Return the identity that tells this database from a later one in its place; empty before its first run.

    As long as it stays the same, so does the meaning of blob and view ids.
    """
    return read_meta(connection).get(_IDENTITY, "")


class State(NamedTuple):
    """A state of the index: the database's identity, and the generation."""

    identity: str
    generation: int


def state(connection: sqlite3.Connection) -> State:
    """Return the committed state. While it lasts, the blobs of every view exist."""
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('generation', ?)", (_IDENTITY,)))
    return State(str(found.get(_IDENTITY, "")), rows.number(found.get("generation", "0")))


def renew_identity(connection: sqlite3.Connection) -> None:
    """Give this database a new identity, since missing derived files mean that it may be an older copy of itself.

    In an older copy, ids assigned after it was made get assigned again, to other contents.
    """
    write_meta(connection, {_IDENTITY: os.urandom(16).hex(), "generation": str(generation(connection) + 1)})


def clear(connection: sqlite3.Connection) -> None:
    """Empty the index in a new generation, so that readers of the last one find nothing.

    Other models' vectors stay, to be found again by their texts. Ids are not reused.
    """
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM blob").fetchone()[0]
    highest = max(highest, rows.number(read_meta(connection).get(HIGHEST_DROPPED_BLOB, "0")))
    tables = ("entry", "origin", "path", "view", "chunk", "definition", "facts", "blob", "segment")
    for table in (*tables, "overlay_blob", "garbage"):
        connection.execute(f"DELETE FROM {table}")
    number = str(generation(connection) + 1)
    write_meta(connection, {_IDENTITY: os.urandom(16).hex(), HIGHEST_DROPPED_BLOB: str(highest), "generation": number})
