"""All SQL of sharing: which events have to be written to the folder that is shared through git, and which are there."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

from cairn.storage.connection import in_parts

PRIVATE, DUE, SHARED = 0, 1, 2  # what the column `sharing` of an event says


class SharedEvent(NamedTuple):
    """An event that is shared, as it is stored."""

    id: str
    observation: str
    body: str


def has_due(connection: sqlite3.Connection) -> bool:
    """Tell whether any event has to be written to the folder."""
    return connection.execute("SELECT 1 FROM event WHERE sharing = 1 LIMIT 1").fetchone() is not None


def due(connection: sqlite3.Connection) -> list[SharedEvent]:
    """Return the events that have to be written, in the order in which they arrived."""
    query = "SELECT id, observation, body FROM event WHERE sharing = 1 ORDER BY seq"
    return [SharedEvent(*row) for row in connection.execute(query)]


def shared_events(connection: sqlite3.Connection, observations: Collection[str]) -> list[SharedEvent]:
    """Return the events of some observations that are in the folder, or have to be."""
    found: list[SharedEvent] = []
    for part in in_parts(list(observations)):
        query = f"SELECT id, observation, body FROM event WHERE sharing > 0 AND observation IN ({_marks(part)})"
        found.extend(SharedEvent(*row) for row in connection.execute(query, part))
    return found


def written_here(connection: sqlite3.Connection, observations: Collection[str] | None = None) -> list[SharedEvent]:
    """Return the events that were made here and written to the folder, of some observations or of all."""
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
    """Say that events have to be written to the folder again."""
    for part in in_parts(list(ids)):
        connection.execute(f"UPDATE event SET sharing = 1 WHERE sharing = 2 AND id IN ({_marks(part)})", part)


def sharing_of(connection: sqlite3.Connection, observations: Collection[str]) -> dict[str, int]:
    """Return how far each of some observations is shared: the most that one of its events is."""
    found: dict[str, int] = {}
    for part in in_parts(list(observations)):
        query = f"SELECT observation, max(sharing) FROM event WHERE observation IN ({_marks(part)}) GROUP BY 1"
        found.update(connection.execute(query, part))
    return found


def observations_of(connection: sqlite3.Connection, ids: Collection[str]) -> dict[str, str]:
    """Return which observation each of some events changes, by its id; those that are not there are left out."""
    found: dict[str, str] = {}
    for part in in_parts(list(ids)):
        found.update(connection.execute(f"SELECT id, observation FROM event WHERE id IN ({_marks(part)})", part))
    return found


def ids_withdrawn(connection: sqlite3.Connection, ids: Collection[str]) -> set[str]:
    """Return which of some events were shared once, and no longer are."""
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
    """Return which of some observations are this user's own, and not shared now, with the events that created them."""
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
    """Say that events are in the folder, those left out whose observations are not shared."""
    for part in in_parts(list(ids)):
        connection.execute(
            "UPDATE event SET sharing = 2 WHERE sharing < 2 AND (sharing = 1 OR EXISTS (SELECT 1 FROM observation "
            f"WHERE observation.id = event.observation AND is_shared = 1)) AND id IN ({_marks(part)})",
            part,
        )


def mark_due(connection: sqlite3.Connection, observation: str, kind: str = "") -> None:
    """Say that what is not in the folder of an observation has to be written there: all of it, or one kind of event."""
    connection.execute(
        "UPDATE event SET sharing = 1 WHERE sharing = 0 AND observation = ?1 AND ?2 IN ('', kind)", (observation, kind)
    )


def withdraw(connection: sqlite3.Connection, observation: str, last: str) -> None:
    """Say that nothing of an observation is shared but one event, which says so; empty for none at all."""
    connection.execute("UPDATE event SET sharing = 0 WHERE observation = ? AND id != ?", (observation, last))
    connection.execute("UPDATE event SET sharing = 1 WHERE id = ? AND sharing = 0", (last,))


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
