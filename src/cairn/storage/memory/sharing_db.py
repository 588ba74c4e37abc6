"""All SQL of sharing through git: which events still have to be written to the shared folder, and which are there."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from cairn.storage.connection import in_parts

PRIVATE, DUE, SHARED = 0, 1, 2  # values of an event's column `sharing`


class SharedEvent(NamedTuple):
    """A shared event, as stored."""

    id: str
    observation: str
    body: str


def has_due(connection: sqlite3.Connection) -> bool:
    """Tell whether any event is still to be written to the folder."""
    return connection.execute("SELECT 1 FROM event WHERE sharing = 1 LIMIT 1").fetchone() is not None


def due(connection: sqlite3.Connection) -> list[SharedEvent]:
    """Return the events to write, in order of arrival."""
    query = "SELECT id, observation, body FROM event WHERE sharing = 1 ORDER BY seq"
    return [SharedEvent(*row) for row in connection.execute(query)]


def shared_events(connection: sqlite3.Connection, observations: Collection[str]) -> list[SharedEvent]:
    """Return the events of some observations that are in the folder or still to be written."""
    found: list[SharedEvent] = []
    for part in in_parts(list(observations)):
        query = f"SELECT id, observation, body FROM event WHERE sharing > 0 AND observation IN ({_marks(part)})"
        found.extend(SharedEvent(*row) for row in connection.execute(query, part))
    return found


def written_here(connection: sqlite3.Connection, observations: Collection[str] | None = None) -> list[SharedEvent]:
    """Return the events that were made here and written to the folder, of some or all observations."""
    query = "SELECT id, observation, body FROM event WHERE sharing = 2 AND source = ''"
    if observations is None:
        return [SharedEvent(*row) for row in connection.execute(f"{query} ORDER BY seq")]
    found: list[SharedEvent] = []
    for part in in_parts(list(observations)):
        found.extend(
            SharedEvent(*row) for row in connection.execute(f"{query} AND observation IN ({_marks(part)})", part)
        )
    return found


def mark_lost(connection: sqlite3.Connection, ids: Collection[str]) -> None:
    """Mark events as to be written to the folder again."""
    for part in in_parts(list(ids)):
        connection.execute(f"UPDATE event SET sharing = 1 WHERE sharing = 2 AND id IN ({_marks(part)})", part)


def sharing_of(connection: sqlite3.Connection, observations: Collection[str]) -> dict[str, int]:
    """Return the sharing state of each observation: the highest of its events."""
    found: dict[str, int] = {}
    for part in in_parts(list(observations)):
        query = f"SELECT observation, max(sharing) FROM event WHERE observation IN ({_marks(part)}) GROUP BY 1"
        found.update(connection.execute(query, part))
    return found


def observations_of(connection: sqlite3.Connection, ids: Collection[str]) -> dict[str, str]:
    """Return the observation that each event changes, by event id; unknown events are left out."""
    found: dict[str, str] = {}
    for part in in_parts(list(ids)):
        found.update(connection.execute(f"SELECT id, observation FROM event WHERE id IN ({_marks(part)})", part))
    return found


def ids_withdrawn(connection: sqlite3.Connection, ids: Collection[str]) -> set[str]:
    """Return which of some events were once shared and no longer are."""
    found: set[str] = set()
    for part in in_parts(list(ids)):
        query = (
            "SELECT event.id FROM event JOIN observation ON observation.id = event.observation "
            "WHERE sharing = 0 AND is_shared = 0 AND EXISTS (SELECT 1 FROM event AS said "
            f"WHERE said.observation = event.observation AND said.sharing > 0) AND event.id IN ({_marks(part)})"
        )
        found.update(id for (id,) in connection.execute(query, part))
    return found


def find_private(connection: sqlite3.Connection, observations: Collection[str]) -> dict[str, str]:
    """Return which of some observations are this user's own and not shared, with the events that created them."""
    found: dict[str, str] = {}
    for part in in_parts(list(observations)):
        query = (
            "SELECT observation.id, event.id FROM observation JOIN event ON event.observation = observation.id "
            "WHERE kind = 'created' AND source NOT IN ('shared', 'team') AND is_shared = 0 AND is_redacted = 0 "
            f"AND observation.id IN ({_marks(part)})"
        )
        found.update(connection.execute(query, part))
    return found


def mark_written(connection: sqlite3.Connection, ids: Collection[str]) -> None:
    """Mark events as written, except those whose observations are not shared."""
    for part in in_parts(list(ids)):
        connection.execute(
            "UPDATE event SET sharing = 2 WHERE sharing < 2 AND (sharing = 1 OR EXISTS (SELECT 1 FROM observation "
            f"WHERE observation.id = event.observation AND is_shared = 1)) AND id IN ({_marks(part)})",
            part,
        )


def mark_due(connection: sqlite3.Connection, observation: str, kind: str = "") -> None:
    """Mark an observation's events that are not in the folder as to be written: all, or one kind."""
    connection.execute(
        "UPDATE event SET sharing = 1 WHERE sharing = 0 AND observation = ?1 AND ?2 IN ('', kind)", (observation, kind)
    )


def withdraw(connection: sqlite3.Connection, observation: str, last: str) -> None:
    """Mark nothing of an observation as shared, except the event that withdraws it; empty for none."""
    connection.execute("UPDATE event SET sharing = 0 WHERE observation = ? AND id != ?", (observation, last))
    connection.execute("UPDATE event SET sharing = 1 WHERE id = ? AND sharing = 0", (last,))


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
