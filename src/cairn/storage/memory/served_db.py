"""All SQL of the code that agents were shown when they used tools."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from cairn.storage.memory.rows import ServedAnswer

_COLUMNS = ServedAnswer._fields
_DAY = "strftime('%Y-%m-%d', seconds, 'unixepoch')"
_MOST_ROWS = 2_000  # latest answers of a session to consider


class ServedTotal(NamedTuple):
    """What one agent was shown on one day (UTC) in one kind of answer, and what that saved.

    Attributes:
        day: as `2026-01-31`.
        agent, kind: as for `ServedAnswer`.
        is_replacing: as for `ServedAnswer`.
        n_answers: their number.
        tokens, replaced_tokens, n_followups, followup_tokens: their sums.
    """

    day: str
    agent: str
    kind: str
    is_replacing: bool
    n_answers: int
    tokens: int
    replaced_tokens: int
    n_followups: int
    followup_tokens: int


def add(connection: sqlite3.Connection, answer: ServedAnswer) -> int:
    """Add an answer, and return its row number."""
    marks = ", ".join("?" * (len(_COLUMNS) - 1))
    row = connection.execute(f"INSERT INTO served ({', '.join(_COLUMNS[:-1])}) VALUES ({marks})", answer[:-1])
    return int(row.lastrowid or 0)


def remove(connection: sqlite3.Connection, number: int) -> None:
    """Delete an answer that was not shown after all."""
    connection.execute("DELETE FROM served WHERE number = ?", (number,))


def charge(connection: sqlite3.Connection, session: str, path: str, hash: str, tokens: int) -> bool:
    """Charge a read to the session's last answer that replaced this file; return whether there is one."""
    last = "SELECT max(number) FROM served WHERE session = ? AND path = ? AND hash = ? AND is_replacing = 1"
    update = (
        "UPDATE served SET n_followups = n_followups + 1, followup_tokens = followup_tokens + ? "
        f"WHERE number = ({last})"
    )
    return connection.execute(update, (tokens, session, path, hash)).rowcount == 1


def of_session(connection: sqlite3.Connection, session: str) -> list[ServedAnswer]:
    """Return what a session or sub-agent was shown, oldest first; of very many, only the newest."""
    query = f"SELECT {', '.join(_COLUMNS)} FROM served WHERE session = ? ORDER BY number DESC LIMIT ?"
    rows = connection.execute(query, (session, _MOST_ROWS)).fetchall()
    return [ServedAnswer(*row)._replace(is_replacing=bool(row[4])) for row in reversed(rows)]


def totals(connection: sqlite3.Connection, since: float) -> Iterator[ServedTotal]:
    """Yield totals since some time, newest day first."""
    sums = "count(*), sum(tokens), sum(replaced_tokens), sum(n_followups), sum(followup_tokens)"
    query = (
        f"SELECT {_DAY} AS day, agent, kind, is_replacing, {sums} FROM served WHERE seconds >= ? "
        "GROUP BY day, agent, kind, is_replacing ORDER BY day DESC, agent, kind, is_replacing DESC"
    )
    for row in connection.execute(query, (since,)).fetchall():
        yield ServedTotal(*row)._replace(is_replacing=bool(row[3]))


def forget_session(connection: sqlite3.Connection, session: str) -> None:
    """Delete what was shown in a session and its sub-agents."""
    is_of_session = "session = ?1 OR substr(session, 1, length(?1) + 1) = ?1 || '/'"
    connection.execute(f"DELETE FROM served WHERE {is_of_session}", (session,))
