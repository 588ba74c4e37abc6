"""All SQL of sharing with a team: which events its server has, and which wait to be sent there, the outbox."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping

from cairn.storage.connection import in_parts

# What the column `team` of an event says: it stays here, it waits, the server has it, it was refused.
PRIVATE, DUE, SENT, REFUSED = 0, 1, 2, 3


def due(connection: sqlite3.Connection, limit: int) -> list[tuple[str, str]]:
    """Return the events that wait, each as its id and its body, in the order in which they arrived."""
    query = "SELECT id, body FROM event WHERE team = 1 ORDER BY seq LIMIT ?"
    return connection.execute(query, (limit,)).fetchall()


def count(connection: sqlite3.Connection) -> Mapping[int, int]:
    """Return how many events are in each state."""
    return dict(connection.execute("SELECT team, count(*) FROM event GROUP BY team"))


def mark(connection: sqlite3.Connection, ids: Collection[str], state: int) -> None:
    """Say what became of events that waited; one that was taken back meanwhile is left as it is."""
    for part in in_parts(list(ids)):
        marks = ", ".join("?" * len(part))
        connection.execute(f"UPDATE event SET team = ? WHERE team = 1 AND id IN ({marks})", (state, *part))


def told_of(connection: sqlite3.Connection, observations: Collection[str]) -> set[str]:
    """Return which of some observations the server knows of, or is to be told of."""
    found: set[str] = set()
    for part in in_parts(list(observations)):
        query = f"SELECT observation FROM event WHERE team IN (1, 2) AND observation IN ({', '.join('?' * len(part))})"
        found.update(id for (id,) in connection.execute(query, part))
    return found


def mark_due(connection: sqlite3.Connection, observation: str, kind: str = "") -> None:
    """Have what the server lacks of an observation sent: all of it, what it refused once, too, or one kind of event."""
    connection.execute(
        "UPDATE event SET team = 1 WHERE team IN (0, 3) AND observation = ?1 AND ?2 IN ('', kind)", (observation, kind)
    )


def mark_shared_due(connection: sqlite3.Connection, types: Collection[str]) -> None:
    """Have everything sent that is shared and not from the repository."""
    connection.execute(
        "UPDATE event SET team = 1 WHERE team = 0 AND source != 'shared' AND observation IN "
        f"(SELECT id FROM observation WHERE is_shared = 1 AND type IN ({', '.join('?' * len(types))}))",
        list(types),
    )


def mark_sent_due(connection: sqlite3.Connection) -> None:
    """Have everything sent again that the server had."""
    connection.execute("UPDATE event SET team = 1 WHERE team = 2")


def withdraw(connection: sqlite3.Connection, observation: str, last: str) -> None:
    """Have nothing of an observation sent but one event, which says that it is not shared any more."""
    connection.execute("UPDATE event SET team = 0 WHERE team = 1 AND observation = ?", (observation,))
    connection.execute("UPDATE event SET team = 1 WHERE team = 0 AND id = ?", (last,))


def keep_all(connection: sqlite3.Connection) -> None:
    """Forget what waits and what was sent."""
    connection.execute("UPDATE event SET team = 0 WHERE team != 0")


def ids_from_team(connection: sqlite3.Connection) -> list[str]:
    """Return the events that only the server brought, and the repository does not hold."""
    return [id for (id,) in connection.execute("SELECT id FROM event WHERE source = 'team' AND sharing = 0")]


def ids_withdrawn(connection: sqlite3.Connection, observations: Collection[str]) -> list[str]:
    """Return those of them whose memories, among some, were the team's and are not shared any more."""
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
