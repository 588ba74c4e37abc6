"""Shared memories on the server: events that people push and pull, and operators' access to them.

The server folds nothing. It checks that each event is valid and its sender may write, and never hands out what was
erased or withdrawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, LiteralString, NamedTuple

from cairn.errors import AuthorityError, EventError, NotFoundError, RequestError, TooLargeError
from cairn.hints import Hint
from cairn.memory.clock import HybridClock
from cairn.memory.events import Event, parse_event
from cairn.memory.exchange import HEADER
from cairn.memory.team_memories import why_kept
from cairn.memory.team_sync import MAX_PUSHED
from cairn.team.audit import note_deed
from cairn.team.catalog import Catalog, require_scope

MAX_EVENTS = 5_000_000  # events to keep for a project
_PAGE_EVENTS = 500
_PAGE_CHARS = 2_000_000
_TYPES: LiteralString = "%s::text[], %s::text[], %s::text[], %s::text[], %s::boolean[], %s::text[]"
_Connection = Any  # of psycopg


class _Project(NamedTuple):
    id: int
    counter: int
    n_events: int


def push_events(
    catalog: Catalog, token: bytes, project: str, document: Mapping[str, Any], now: Callable[[], float] = time.time
) -> Mapping[str, object]:
    """Store events sent by the bearer of a token; known ones are ignored.

    Args:
        catalog: with the role of a node.
        token: its hash.
        project: `ORGANISATION/NAME`.
        document: `events` has their canonical bodies.
        now: the clock, in seconds since the epoch.

    Returns:
        how many were `new`, and why others are `refused`, by id.

    Raises:
        AccessError, ScopeError: as `require_scope`.
        NotFoundError: if there is no such project for the bearer.
        AuthorityError: if they may not write.
        RequestError: if the document contains an invalid event.
        TooLargeError: if it is too much, at once or in total.
        CatalogError: as `Catalog.transaction`.
    """
    events, refused = _check(document, now)
    with catalog.transaction(token) as connection:
        place = _project_of(connection, project)
        require_scope(connection, "write")
        statement: LiteralString = f"SELECT push_events(%s, {_TYPES})"
        (n_new,) = connection.execute(statement, (place.id, *_columns_of(events))).fetchone() or (None,)
        n_kept = _project_of(connection, project).n_events
        if n_new and n_kept > max(MAX_EVENTS, place.n_events):
            raise TooLargeError(f"{project} has {place.n_events:,} events of memories already", "ask an operator")
    if n_new is None:
        raise AuthorityError(f"you may read {project}, but not share memories there", "ask an operator to let you")
    return {"new": n_new, "refused": refused}


def _check(document: Mapping[str, Any], now: Callable[[], float]) -> tuple[list[Event], dict[str, str]]:
    bodies = document.get("events")
    if set(document) != {"events"} or not isinstance(bodies, list) or not all(isinstance(body, str) for body in bodies):
        raise RequestError("`events` must be a list of strings", "send the bodies of events, and nothing else")
    if len(bodies) > MAX_PUSHED:
        raise TooLargeError(f"there are more than {MAX_PUSHED} events", "send fewer at once")
    clock = HybridClock(now)
    events: list[Event] = []
    refused: dict[str, str] = {}
    for body in bodies:
        try:
            event = parse_event(body)
        except (EventError, TypeError) as error:
            raise RequestError(str(error), "update Cairn here or on the server") from error
        try:
            clock.check(event.time)
        except EventError:
            refused[event.id] = f"it is dated {event.time[:10]}, more than a day ahead of the server's clock"
            continue
        if reason := why_kept(event):
            refused[event.id] = reason
        else:
            events.append(event)
    return events, refused


def _columns_of(events: Sequence[Event]) -> tuple[list[Any], ...]:
    """Return the table's columns for events, each as a list."""
    return (
        [event.id for event in events],
        [event.observation for event in events],
        [event.time for event in events],
        [event.kind for event in events],
        [event.value.get("is_shared") for event in events],
        [event.body for event in events],
    )


def pull_events(catalog: Catalog, token: bytes, project: str, after: int) -> Mapping[str, object]:
    """Return the next events of a project that the bearer of a token may read, by number.

    Args:
        catalog: with the role of a node.
        token: its hash.
        project: `ORGANISATION/NAME`.
        after: the number of the last event that they have.

    Raises:
        AccessError, ScopeError, NotFoundError, CatalogError: as `push_events`.
    """
    with catalog.transaction(token) as connection:
        place = _project_of(connection, project)
        rows = connection.execute(
            "SELECT seq, body FROM memory_event WHERE project_id = %s AND seq > %s ORDER BY seq LIMIT %s",
            (place.id, after, _PAGE_EVENTS + 1),
        ).fetchall()
    page: list[tuple[int, str]] = []
    size = 0
    for seq, body in rows[:_PAGE_EVENTS]:
        size += len(body)
        if page and size > _PAGE_CHARS:
            break
        page.append((seq, body))
    return {
        "events": [body for _, body in page],
        "last": page[-1][0] if page else after,
        "counter": place.counter,
        "more": len(page) < len(rows),
    }


def _project_of(connection: _Connection, project: str) -> _Project:
    """Return a project that the bearer of the transaction's token may read."""
    require_scope(connection, "read")
    organisation, _, name = project.partition("/")
    row = connection.execute(
        "SELECT id, event_counter, n_events FROM project WHERE organisation = %s AND name = %s", (organisation, name)
    ).fetchone()
    if row is None:
        raise NotFoundError(f"there is no project {project} that you may read", "list them: GET /api/projects")
    return _Project(*row)


class OperatorOfMemories:
    """Lists, exports and erases shared memories of a project, of a person, or of both.

    Its methods raise `CatalogError` if the database cannot be reached or refuses, and `NotFoundError` if there is no
    such project or person.

    Args:
        catalog: without a role.
        project: `ORGANISATION/NAME`; empty for all.
        person: whose; empty for everybody's. A memory is theirs if they wrote or changed its text.
    """

    def __init__(self, catalog: Catalog, project: str, person: str) -> None:
        self._catalog, self._project, self._person = catalog, project, person

    def rows(self) -> list[Mapping[str, object]]:
        """Return the memories as JSON without their text, newest first."""
        with self._catalog.transaction() as connection:
            rows = connection.execute(
                f"""{_CHOSEN} SELECT chosen.project, e.observation, count(*), min(e.time), max(e.time),
                       array_remove(array_agg(DISTINCT person.name ORDER BY person.name), NULL),
                       bool_or(e.is_hidden), bool_or(e.kind = 'redact')
                   FROM chosen JOIN memory_event AS e USING (project_id, observation)
                   LEFT JOIN person ON person.id = e.person_id
                   GROUP BY chosen.project, e.observation ORDER BY 5 DESC, 2""",
                self._values(connection),
            ).fetchall()
        names = ("project", "memory", "events", "created", "changed", "people", "taken_back", "erased")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def export(self) -> Iterator[str]:
        """Yield all events as lines for `cairn import`, without line ends."""
        yield HEADER
        with self._catalog.transaction() as connection:
            rows = connection.execute(
                f"""{_CHOSEN} SELECT e.body FROM chosen JOIN memory_event AS e USING (project_id, observation)
                   ORDER BY chosen.project, e.seq""",
                self._values(connection),
            ).fetchall()
        yield from (body for (body,) in rows)

    def erase(self, now: float) -> int:
        """Erase the memories for ever, on every machine that asks this server; return how many there were.

        Args:
            now: the time, in seconds since the epoch.
        """
        with self._catalog.transaction() as connection:
            chosen = connection.execute(
                f"""{_CHOSEN} SELECT chosen.project_id, chosen.observation, max(e.time)
                   FROM chosen JOIN memory_event AS e USING (project_id, observation)
                   GROUP BY 1, 2 HAVING NOT bool_or(e.kind = 'redact') ORDER BY 1, 2""",
                self._values(connection),
            ).fetchall()
            for project_id, observation, latest in chosen:
                time_of = HybridClock(lambda: now).tick(latest)
                event = Event(observation, "", time_of, "machine:operator", "person", "redact", {})
                connection.execute(f"SELECT store_events(%s, NULL, {_TYPES})", (project_id, *_columns_of([event])))
            note_deed(connection, "erase memories", self._project, about=self._person)
        return len(chosen)

    def _values(self, connection: _Connection) -> tuple[str, ...]:
        """Return the values for `_CHOSEN`, after checking that they exist."""
        organisation, _, name = self._project.partition("/")
        has_project = (
            not self._project
            or connection.execute(
                "SELECT 1 FROM project WHERE organisation = %s AND name = %s", (organisation, name)
            ).fetchone()
        )
        has_person = (
            not self._person or connection.execute("SELECT 1 FROM person WHERE name = %s", (self._person,)).fetchone()
        )
        if not (has_project and has_person):
            what = self._person if has_project else self._project
            raise NotFoundError(f"the team has no {what}", Hint("list what there is", "team status"))
        return self._project, self._project, self._person, self._person


# The memories of a project and a person; empty names stand for all. In an event's canonical body, quotes within strings
# are escaped, so only the field of its text can match.
_CHOSEN: LiteralString = """WITH chosen AS (
    SELECT DISTINCT project_id, organisation || '/' || project.name AS project, observation
    FROM memory_event JOIN project ON project.id = project_id LEFT JOIN person ON person.id = person_id
    WHERE (%s = '' OR organisation || '/' || project.name = %s)
        AND (%s = '' OR (person.name = %s AND strpos(body, '"text":"') > 0))
)"""
