"""All SQL of capture: candidates that are not certain enough to remember, and the trails of open sessions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from cairn.storage.memory.rows import CapturedCandidate

_COLUMNS = CapturedCandidate._fields[:-1]


def save(connection: sqlite3.Connection, candidate: CapturedCandidate) -> None:
    """Save a candidate; one with the same key and session is replaced and its count incremented."""
    values = [*candidate[:-1]]
    values[_COLUMNS.index("paths")] = json.dumps(candidate.paths, ensure_ascii=False)
    names, marks = ", ".join(_COLUMNS), ", ".join("?" * len(_COLUMNS))
    changed = ("outcome", "type", "text", "confidence", "importance", "paths", "seconds", "observation")
    update = ", ".join(f"{name} = excluded.{name}" for name in changed)
    connection.execute(
        f"INSERT INTO candidate ({names}) VALUES ({marks}) "
        f"ON CONFLICT (key, session) DO UPDATE SET {update}, n_seen = n_seen + 1",
        values,
    )


def of_key(connection: sqlite3.Connection, key: str) -> list[CapturedCandidate]:
    """Return the candidates with a key, in all sessions, oldest first."""
    return list(_read(connection, "WHERE key = ? ORDER BY number", (key,)))


def of_session(connection: sqlite3.Connection, session: str) -> list[CapturedCandidate]:
    """Return a session's candidates that did not become memories, oldest first."""
    return list(_read(connection, "WHERE session = ? AND observation = '' ORDER BY number", (session,)))


def delete(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Delete some candidates."""
    connection.executemany("DELETE FROM candidate WHERE number = ?", [(number,) for number in numbers])


def trim(connection: sqlite3.Connection, before: float) -> None:
    """Delete candidates last seen before a time in seconds since the epoch."""
    connection.execute("DELETE FROM candidate WHERE seconds < ?", (before,))
    connection.execute("DELETE FROM trail WHERE seconds < ?", (before,))


def forget_session(connection: sqlite3.Connection, session: str) -> None:
    """Delete everything about a session."""
    connection.execute("DELETE FROM candidate WHERE session = ?", (session,))
    connection.execute("DELETE FROM trail WHERE session = ?", (session,))


def erase_words(connection: sqlite3.Connection, observation: str, session: str) -> None:
    """Delete whatever may repeat the words of a memory: similar candidates, and those of its session."""
    same = "SELECT key FROM candidate WHERE observation = ?"
    of_sessions = f"SELECT session FROM candidate WHERE key IN ({same})"
    connection.execute(f"DELETE FROM trail WHERE session = ? OR session IN ({of_sessions})", (session, observation))
    connection.execute(f"DELETE FROM candidate WHERE key IN ({same})", (observation,))
    if session:
        connection.execute("DELETE FROM candidate WHERE session = ?", (session,))


# -- trails ------------------------------------------------------------------------------------------------------------


def read_trail(connection: sqlite3.Connection, session: str) -> str:
    """Return a session's trail as it was written, empty if there is none."""
    row = connection.execute("SELECT body FROM trail WHERE session = ?", (session,)).fetchone()
    return "" if row is None else str(row[0])


def write_trail(connection: sqlite3.Connection, session: str, body: str, seconds: float) -> None:
    """Write a session's trail; an empty one deletes it."""
    if body:
        connection.execute("REPLACE INTO trail (session, body, seconds) VALUES (?, ?, ?)", (session, body, seconds))
    else:
        connection.execute("DELETE FROM trail WHERE session = ?", (session,))


def _read(connection: sqlite3.Connection, rest: str, values: Sequence[Any]) -> Iterator[CapturedCandidate]:
    for row in connection.execute(f"SELECT {', '.join(_COLUMNS)}, number FROM candidate {rest}", values):
        fields = dict(zip(CapturedCandidate._fields, row, strict=True))
        fields["paths"] = tuple(json.loads(fields["paths"]))
        yield CapturedCandidate(**fields)
