"""A store of truth for the tests: notes, in the file that memories will have."""

from __future__ import annotations

import sqlite3

from cairn.hints import Hint
from cairn.storage.sealed import META
from cairn.storage.store import Migration, Store

FIRST = Migration("first", (META, "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"))
SECOND = Migration("who wrote it", ("ALTER TABLE note ADD COLUMN author TEXT NOT NULL DEFAULT 'me'",))
BROKEN = Migration("broken", ("INSERT INTO note (text) VALUES ('half')", "CREATE TABLE note (x)"))


def notes_of(*migrations: Migration) -> Store:
    """The store as a program knows it that has these steps."""
    return Store("the notes", "memory.db", migrations, "", is_truth=True, work="noting", update=Hint.of("note"))


NOTES = notes_of(FIRST)
NEWER_NOTES = notes_of(FIRST, SECOND)


def add_note(connection: sqlite3.Connection, text: str) -> None:
    """Keep a note."""
    connection.execute("INSERT INTO note (text) VALUES (?)", (text,))


def read_notes(connection: sqlite3.Connection) -> list[str]:
    """Return all notes, in the order in which they were kept."""
    return [text for (text,) in connection.execute("SELECT text FROM note ORDER BY id")]
