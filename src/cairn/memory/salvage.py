"""Saves what can be read of a damaged memory into a new one, once the user asks for it.

Events are named by their content, so each tells by itself whether it is whole. What was shared and is lost here comes
back: from the folder of the repository, and from the team.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from cairn.errors import CairnError, NotFoundError, RequestError
from cairn.hints import Hint
from cairn.index.state_dir import StateDir, check_file, is_ours
from cairn.index.state_files import LOGS
from cairn.memory import derived
from cairn.memory.events import Event, parse_stored
from cairn.memory.exchange import IMPORTED
from cairn.memory.publication import FOREIGN, LINK
from cairn.memory.store import PROJECT, MemoryStore
from cairn.storage.connection import check, connect_damaged, store_errors
from cairn.storage.copies import find_copies
from cairn.storage.memory import event_db, sharing_db, team_db
from cairn.storage.memory.schema import MEMORY
from cairn.storage.sealed import read_meta, write_meta

_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
_MOST_EVENTS = 10_000_000  # a number that is damaged may be anything
_SOURCES = ("", IMPORTED, *FOREIGN)


class Salvaged(NamedTuple):
    """What was saved of a damaged memory.

    Attributes:
        n_events, n_memories: that the new memory holds.
        n_lost: events that could not be read; None if nobody knows how many there were.
        kept: where the damaged file is now.
    """

    n_events: int
    n_memories: int
    n_lost: int | None
    kept: Path


class _Saved(NamedTuple):
    event: Event
    source: str
    sharing: int
    team: int


class _Readable(NamedTuple):
    """What can be read of a database: its events, how many it had if that is known, and the team it is shared with."""

    events: dict[str, _Saved]
    n_events: int | None
    link: str


def salvage_memory(state: StateDir) -> Salvaged:
    """Make a new memory of what can be read of a damaged one and of its copies. The damaged file gets another name.

    Raises:
        NotFoundError: if there is none.
        RequestError: if it is whole.
        StoreForeignError: if it was not made in this folder by this user.
        StoreDamagedError: if nothing of it can be read; then nothing is changed.
        StoreError: if it cannot be moved, or the new one cannot be written.
    """
    file = state.file_of(MEMORY)
    if not os.path.lexists(file):
        raise NotFoundError(f"there is no {file}", Hint.of("doctor"))
    with store_errors(file, MEMORY), closing(_open(state)) as connection:
        found = _read(connection)
        if _is_whole(state, found):
            raise RequestError(f"{file} is whole: there is nothing to save", Hint.of("doctor"))
    saved = _read_copies(file) | found.events
    if not saved:
        raise MEMORY.damage(file, "is damaged so that nothing of it can be read")
    kept = _set_aside(file)
    n_memories = _write(state, saved, found.link)
    n_lost = None if found.n_events is None else max(0, found.n_events - len(found.events))
    return Salvaged(len(saved), n_memories, n_lost, kept)


def _open(state: StateDir) -> sqlite3.Connection:
    """Open the damaged file, unless it was made elsewhere; where that cannot be read, the folder's own seal counts."""
    seal, file = state.check(), state.file_of(MEMORY)
    if seal is None:
        raise MEMORY.foreign(file)
    for suffix in ("", *LOGS):
        check_file(Path(f"{file}{suffix}"), MEMORY)
    connection = connect_damaged(file)
    with suppress(*_UNREADABLE):
        if not is_ours(seal, MEMORY, file, connection):
            connection.close()
            raise MEMORY.foreign(file)
    return connection


def _is_whole(state: StateDir, found: _Readable) -> bool:
    try:
        connection = state.open_existing(MEMORY)
        if connection is None:
            return False
        with closing(connection):
            return not check(connection) and found.n_events == len(found.events)
    except CairnError:
        return False


def _read(connection: sqlite3.Connection) -> _Readable:
    n_events, link = None, ""
    with suppress(*_UNREADABLE):
        n_events = event_db.count(connection)
    with suppress(*_UNREADABLE):
        link = read_meta(connection, LINK)
    rows = _iter_rows(connection, 1, _last_number(connection))
    return _Readable({saved.event.id: saved for row in rows if (saved := _saved(row)) is not None}, n_events, link)


def _read_copies(file: Path) -> dict[str, _Saved]:
    """Return the events of the copies beside a database."""
    events: dict[str, _Saved] = {}
    for copy in find_copies(file):
        with suppress(*_UNREADABLE), closing(connect_damaged(copy.path)) as connection:
            events |= _read(connection).events
    return events


def _last_number(connection: sqlite3.Connection) -> int:
    for query in ("SELECT max(seq) FROM event", "SELECT seq FROM sqlite_sequence WHERE name = 'event'"):
        with suppress(*_UNREADABLE):
            ((number,),) = connection.execute(query).fetchall()
            return min(number, _MOST_EVENTS) if isinstance(number, int) else 0
    return 0


def _iter_rows(connection: sqlite3.Connection, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of events with some numbers; where some cannot be read, each half by itself."""
    try:
        yield from event_db.rows_between(connection, first, last)
    except _UNREADABLE:
        middle = (first + last) // 2
        if first < last:
            yield from _iter_rows(connection, first, middle)
            yield from _iter_rows(connection, middle + 1, last)


def _saved(row: tuple[Any, ...]) -> _Saved | None:
    """Return a row of an event if it is what was written; what says who else has it counts only if it makes sense."""
    id, body, source, sharing, team = row
    try:
        event = parse_stored(id, body)
    except (*_UNREADABLE, TypeError):
        return None
    return _Saved(
        event,
        source if source in _SOURCES else IMPORTED,
        sharing if sharing in (sharing_db.DUE, sharing_db.SHARED) else sharing_db.PRIVATE,
        team if team in (team_db.DUE, team_db.SENT, team_db.REFUSED) else team_db.PRIVATE,
    )


def _set_aside(file: Path) -> Path:
    """Give a database and its logs another name, under which nothing of ours ever deletes them."""
    kept = Path(f"{file}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000_000:09}")
    for suffix in ("", *LOGS):
        with suppress(FileNotFoundError):
            os.rename(f"{file}{suffix}", f"{kept}{suffix}")
    return kept


def _write(state: StateDir, saved: dict[str, _Saved], link: str) -> int:
    """Write events into a new memory, nothing of what was erased, and return how many memories they make."""
    erased = {one.event.observation for one in saved.values() if one.event.kind == "redact"}
    store = MemoryStore(state, derived.derive)
    try:
        with store.writing() as connection:
            write_meta(connection, PROJECT, next(reversed(saved.values())).event.project)
            if link:
                write_meta(connection, LINK, link)
            for event, source, sharing, team in saved.values():
                if event.kind == "redact" or event.observation not in erased:
                    event_db.insert(connection, event.row(), source, sharing, team)
            return len(store.refold())
    finally:
        store.close()
