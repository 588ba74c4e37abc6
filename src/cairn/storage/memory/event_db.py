"""All SQL of events: what happened to observations, kept for ever unless redacted."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from cairn.storage.connection import in_parts
from cairn.storage.memory.rows import EventRow

_COLUMNS = "id, observation, other, time, kind, body"


class Placed(NamedTuple):
    """An event, its source, and where it is shared; see `find_sources`, `sharing_db` and `team_db`."""

    id: str
    observation: str
    time: str
    body: str
    source: str
    sharing: int
    team: int


def insert(connection: sqlite3.Connection, row: EventRow, source: str = "", sharing: int = 0, team: int = 0) -> None:
    """Add an event that is not stored yet; see `find_sources`, and the modules `sharing_db` and `team_db`."""
    columns = f"{_COLUMNS}, source, sharing, team"
    connection.execute(
        f"INSERT INTO event ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, source, sharing, team)
    )


def find_known(connection: sqlite3.Connection, ids: Collection[str]) -> set[str]:
    """Return which of some events are stored."""
    return {id for part in in_parts(list(ids)) for (id,) in _select(connection, "SELECT id", "id", part)}


def find_redacted(connection: sqlite3.Connection, observations: Collection[str]) -> set[str]:
    """Return which of some observations were redacted."""
    found: set[str] = set()
    for part in in_parts(list(observations)):
        found.update(id for (id,) in _select(connection, "SELECT observation", "kind = 'redact' AND observation", part))
    return found


def find_sources(connection: sqlite3.Connection, observations: Collection[str]) -> dict[str, str]:
    """Return where the words of some observations come from, by id.

    It is empty for this machine; `import`, `shared` or `team` if any of the words came with an export, with the
    repository or from a team's server, whether in the observation or in a later change. So nobody can put words into a
    memory of this user's own.
    """
    found: dict[str, str] = {}
    select = "SELECT observation, max(source)"
    for part in in_parts(list(observations)):
        found.update(
            _select(connection, select, "kind IN ('created', 'set', 'link') AND observation", part, "GROUP BY 1")
        )
    return found


def delete_all_but_redactions(connection: sqlite3.Connection, observation: str) -> None:
    """Delete an observation's events, except for the record that it was redacted, by whom and when."""
    connection.execute("DELETE FROM event WHERE observation = ? AND kind != 'redact'", (observation,))


def delete(connection: sqlite3.Connection, ids: Collection[str]) -> None:
    """Delete events, as if they had never been received."""
    for part in in_parts(list(ids)):
        connection.execute(f"DELETE FROM event WHERE id IN ({', '.join('?' * len(part))})", part)


def read_events(connection: sqlite3.Connection, observations: Collection[str]) -> list[tuple[str, str]]:
    """Return all events of some observations, as (id, body), in order of arrival."""
    rows: list[tuple[int, str, str]] = []
    for part in in_parts(list(observations)):
        rows.extend(_select(connection, "SELECT seq, id, body", "observation", part))
    return [(id, body) for _, id, body in sorted(rows)]


def iter_events(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield all events as (id, body), in order of arrival."""
    yield from connection.execute("SELECT id, body FROM event ORDER BY seq")


def iter_chosen(
    connection: sqlite3.Connection, observations: Collection[str] | None = None, *, only_shared: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield events as (id, body), in order of arrival, from one state of the memory.

    Args:
        connection: to the memory.
        observations: only of these; None for all.
        only_shared: only events of shared observations, and those that withdraw one.
    """
    query = "SELECT event.id, body, event.observation FROM event"
    if only_shared:
        query += (
            " LEFT JOIN observation ON observation.id = event.observation WHERE sharing > 0 OR observation.is_shared"
        )
    for id, body, observation in connection.execute(f"{query} ORDER BY seq"):
        if observations is None or observation in observations:
            yield id, body


def neighbours(connection: sqlite3.Connection, observations: Collection[str]) -> set[str]:
    """Return observations together with those that an event ties to them as superseded or superseding."""
    found = set(observations)
    for part in in_parts(list(observations)):
        found.update(id for (id,) in _select(connection, "SELECT other", "other != '' AND observation", part))
        found.update(id for (id,) in _select(connection, "SELECT observation", "other != '' AND other", part))
    return found


def latest_time(connection: sqlite3.Connection, observations: Collection[str]) -> str:
    """Return the time of the latest event of some observations, empty if there is none."""
    times = (_select(connection, "SELECT max(time)", "observation", part) for part in in_parts(list(observations)))
    return max((time for rows in times for (time,) in rows if time), default="")


def placed_after(connection: sqlite3.Connection, time: str) -> list[Placed]:
    """Return the events dated after a time."""
    query = "SELECT id, observation, time, body, source, sharing, team FROM event WHERE time > ?"
    return [Placed(*row) for row in connection.execute(query, (time,))]


def rows_between(connection: sqlite3.Connection, first: int, last: int) -> list[tuple[Any, ...]]:
    """Return id, body, source, sharing and team of a range of events; works with older schemas too."""
    names = {name for _, name, *_ in connection.execute("PRAGMA table_info(event)")}
    team = "team" if "team" in names else "0"
    query = f"SELECT id, body, source, sharing, {team} FROM event WHERE seq BETWEEN ? AND ? ORDER BY seq"
    return connection.execute(query, (first, last)).fetchall()


def count(connection: sqlite3.Connection) -> int:
    """Return the number of events."""
    (number,) = connection.execute("SELECT count(*) FROM event").fetchone()
    return int(number)


def _select(
    connection: sqlite3.Connection, select: str, condition: str, values: Iterable[str], rest: str = ""
) -> Iterator[tuple[Any, ...]]:
    values = list(values)
    marks = ", ".join("?" * len(values))
    return connection.execute(f"{select} FROM event WHERE {condition} IN ({marks}) {rest}", values)
