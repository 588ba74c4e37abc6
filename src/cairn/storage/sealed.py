"""Ties a database to its state folder: every store records the folder in its table `meta`, and is refused elsewhere."""

from __future__ import annotations

import sqlite3

from cairn.storage.migrations import Schema

# The first statement of every store's schema.
META = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
_SEAL = "seal"
_SECRET = "seal:"
_MAX_SECRETS = 100  # most environments of one user that share a folder


def has_seal_table(schema: Schema) -> bool:
    """Tell whether a database has the table that records where it was made."""
    return ("table", "meta", "meta", META) in schema.rows


def read_seal_id(connection: sqlite3.Connection) -> str:
    """Return the seal id of the state folder in which a database was made, empty if it has none."""
    return read_meta(connection, _SEAL)


def read_meta(connection: sqlite3.Connection, key: str) -> str:
    """Return the value of a key in a store's table `meta`, empty if there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def write_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Set the value of a key in a store's table `meta`."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def delete_meta(connection: sqlite3.Connection, key: str) -> None:
    """Delete a key from a store's table `meta`."""
    connection.execute("DELETE FROM meta WHERE key = ?", (key,))


def write_seal_id(connection: sqlite3.Connection, seal: str) -> None:
    """Record the seal of the state folder in a new database."""
    write_meta(connection, _SEAL, seal)


def write_seal_secret(connection: sqlite3.Connection, seal: str, secret: str) -> None:
    """Record a seal with its secret, beside those of other environments of the same user."""
    write_meta(connection, _SECRET + seal, secret)


def read_seal_secrets(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the seals in a database, as (id, secret)."""
    rows = connection.execute("SELECT key, value FROM meta WHERE substr(key, 1, ?) = ?", (len(_SECRET), _SECRET))
    return [(key.removeprefix(_SECRET), value) for key, value in rows.fetchmany(_MAX_SECRETS)]


def forget_seals(connection: sqlite3.Connection) -> None:
    """Forget in which state folder a database was made."""
    connection.execute("DELETE FROM meta WHERE key = ? OR substr(key, 1, ?) = ?", (_SEAL, len(_SECRET), _SECRET))
