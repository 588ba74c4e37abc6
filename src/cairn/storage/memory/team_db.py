"""All SQL of sharing with a team: which events its server has, and the outbox of those to send."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping

from cairn.storage.connection import in_parts

# Values of an event's column `team`: it stays here, it waits, the server has it, the server refused it.
PRIVATE, DUE, SENT, REFUSED = 0, 1, 2, 3


def due(connection: sqlite3.Connection, limit: int) -> list[tuple[str, str]]:
    """Return the waiting events as (id, body), in order of arrival."""
    query = "SELECT id, body FROM event WHERE team = 1 ORDER BY seq LIMIT ?"
    return connection.execute(query, (limit,)).fetchall()


def count(connection: sqlite3.Connection) -> Mapping[int, int]:
    """Return the number of events in each state."""
    return dict(connection.execute("SELECT team, count(*) FROM event GROUP BY team"))


def mark(connection: sqlite3.Connection, ids: Collection[str], state: int) -> None:
    """Record what became of waiting events; one that was withdrawn meanwhile is left alone."""
    for part in in_parts(list(ids)):
        marks = ", ".join("?" * len(part))
        connection.execute(f"UPDATE event SET team = ? WHERE team = 1 AND id IN ({marks})", (state, *part))


def told_of(connection: sqlite3.Connection, observations: Collection[str]) -> set[str]:
    """Return which of some observations the server knows or will be told of."""
    found: set[str] = set()
    for part in in_parts(list(observations)):
        query = f"SELECT observation FROM event WHERE team IN (1, 2) AND observation IN ({', '.join('?' * len(part))})"
        found.update(id for (id,) in connection.execute(query, part))
    return found


def mark_due(connection: sqlite3.Connection, observation: str, kind: str = "") -> None:
    """Queue an observation's events that the server lacks, even those it refused: all, or one kind."""
    connection.execute(
        "UPDATE event SET team = 1 WHERE team IN (0, 3) AND observation = ?1 AND ?2 IN ('', kind)", (observation, kind)
    )


def mark_shared_due(connection: sqlite3.Connection, types: Collection[str]) -> None:
    """Queue everything that is shared and not from the repository."""
    connection.execute(
        "UPDATE event SET team = 1 WHERE team = 0 AND source != 'shared' AND observation IN "
        f"(SELECT id FROM observation WHERE is_shared = 1 AND type IN ({', '.join('?' * len(types))}))",
        list(types),
    )


def mark_sent_due(connection: sqlite3.Connection) -> None:
    """Queue again everything that the server had."""
    connection.execute("UPDATE event SET team = 1 WHERE team = 2")


def withdraw(connection: sqlite3.Connection, observation: str, last: str) -> None:
    """Queue nothing of an observation but the event that withdraws it."""
    connection.execute("UPDATE event SET team = 0 WHERE team = 1 AND observation = ?", (observation,))
    connection.execute("UPDATE event SET team = 1 WHERE team = 0 AND id = ?", (last,))


def keep_all(connection: sqlite3.Connection) -> None:
    """Clear the outbox and the record of what was sent."""
    connection.execute("UPDATE event SET team = 0 WHERE team != 0")


def ids_from_team(connection: sqlite3.Connection) -> list[str]:
    """Return the events that came only from the server, not from the repository."""
    return [id for (id,) in connection.execute("SELECT id FROM event WHERE source = 'team' AND sharing = 0")]


def ids_withdrawn(connection: sqlite3.Connection, observations: Collection[str]) -> list[str]:
    """Return those of them whose memories, among some, were the team's and are no longer shared."""
    found: list[str] = []
    for part in in_parts(list(observations)):
        query = (
            "SELECT event.id FROM event JOIN observation ON observation.id = event.observation "
            "WHERE source = 'team' AND sharing = 0 AND is_shared = 0 AND is_redacted = 0 AND EXISTS "
            "(SELECT 1 FROM event AS first WHERE first.observation = event.observation AND first.kind = 'created' "
            f"AND first.source = 'team') AND observation.id IN ({', '.join('?' * len(part))})"
        )
        found.extend(id for (id,) in connection.execute(query, part))
    return found
