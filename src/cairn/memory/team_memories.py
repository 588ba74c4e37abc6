"""What of a memory a team's server has, what waits for it, and what it brought: the laptop's side, without the network.

The server may be wrong or away at any moment, and so may this process end: everything is done again without harm.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from cairn.errors import EventError, RequestError
from cairn.memory.clock import HybridClock
from cairn.memory.events import Event, parse_event, parse_stored
from cairn.memory.exchange import without_secrets
from cairn.memory.publication import FROM_TEAM, LINK, TEAM_TYPES
from cairn.memory.store import MemoryStore
from cairn.storage.memory import observation_db, sharing_db, team_db
from cairn.storage.sealed import delete_meta, read_meta, write_meta

_STATE = "team_state"  # in `meta`
_UNREAD_SECONDS = 86_400.0  # after which events that could not be read are pulled again: an update may know them

_NOTED_SECONDS = 300.0  # within which one success after another is not written down


class TeamLink(NamedTuple):
    """With whom a memory is shared: the address of a server, and `ORGANISATION/NAME` of the project there."""

    server: str
    project: str


class SyncState(NamedTuple):
    """How far the exchange with the server has come.

    Attributes:
        after: the number of the last event that was pulled, 0 for none.
        refused: memories of this user's own, not shared now, of which the server said something.
        unread: when an event of the server could not be read, in seconds since the epoch; 0 if all could.
        synced: when the last exchange succeeded, in seconds since the epoch; 0 for never.
        problem: why the last one did not, empty if it did.
    """

    after: int = 0
    refused: tuple[str, ...] = ()
    unread: float = 0.0
    synced: float = 0.0
    problem: str = ""


class TeamStatus(NamedTuple):
    """What there is to say of sharing with a team.

    Attributes:
        link: with whom; None if the memory is shared with no team.
        n_waiting, n_sent, n_kept: events that wait, that the server has, and that it may not have.
        state: how far the exchange has come.
    """

    link: TeamLink | None
    n_waiting: int = 0
    n_sent: int = 0
    n_kept: int = 0
    state: SyncState = SyncState()


_OF_A_SESSION = "it says what was done in a session"
_SECRET = "it holds a secret, or what is private"


def why_kept(event: Event) -> str:
    """Return why an event may not leave this machine, empty if it may; the server refuses the same."""
    if event.value.get("type", TEAM_TYPES[0]) not in TEAM_TYPES:
        return _OF_A_SESSION
    if without_secrets(event) is not event:
        return _SECRET
    return ""


def is_final(reason: str) -> bool:
    """Tell whether the server will refuse an event for ever that it refuses for a reason; a date is valid one day."""
    return reason in (_OF_A_SESSION, _SECRET)


class TeamMemories:
    """Keeps account of what a memory shares with a team. Its methods raise StoreError if the memory cannot be used.

    Those that take the link of an exchange raise RequestError, and do nothing, once the memory is shared with another
    team or none: another process may leave it at any moment.

    Args:
        store: the memory.
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(self, store: MemoryStore, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now

    def link(self) -> TeamLink | None:
        """Return with whom the memory is shared, None if with no team; nothing is created by asking."""
        if not self._store.exists:
            return None
        with self._store.reading() as connection:
            return _read_link(connection)

    def status(self) -> TeamStatus:
        """Return with whom the memory is shared, and what waits; nothing is created by asking."""
        if (link := self.link()) is None:
            return TeamStatus(None)
        with self._store.reading() as connection:
            n = team_db.count(connection)
            waiting, sent, kept = (n.get(state, 0) for state in (team_db.DUE, team_db.SENT, team_db.REFUSED))
            return TeamStatus(link, waiting, sent, kept, _read_state(connection))

    def join(self, link: TeamLink) -> None:
        """Share with a team from now on: what is shared already is sent, too. Another team is left first."""
        with self._store.writing() as connection:
            if (before := _read_link(connection)) == link:
                return
            if before is not None:
                self.leave()
            delete_meta(connection, _STATE)
            write_meta(connection, LINK, json.dumps(link._asdict()))
            team_db.mark_shared_due(connection, TEAM_TYPES)

    def leave(self) -> int:
        """Share with no team any more, drop what it brought, and return how many events that were."""
        with self._store.writing() as connection:
            n_dropped = self._purge(connection)
            team_db.keep_all(connection)
            delete_meta(connection, LINK)
            delete_meta(connection, _STATE)
        return n_dropped

    def lose_access(self, link: TeamLink) -> int:
        """Drop what the team brought, and return how many events that were; what is this user's own stays."""
        with self._sharing(link) as connection:
            n_dropped = self._purge(connection)
            _write_state(connection, _read_state(connection)._replace(after=0, refused=(), unread=0.0))
        return n_dropped

    @contextmanager
    def _sharing(self, link: TeamLink) -> Iterator[sqlite3.Connection]:
        """Hand out the connection for the block, in one transaction, as part of an exchange with a team.

        Raises:
            RequestError: if the memory is not shared with that team any more: another process may have left it.
        """
        with self._store.writing() as connection:
            if _read_link(connection) != link:
                raise RequestError(f"this memory is not shared with {link.project} at {link.server} any more")
            yield connection

    def _purge(self, connection: sqlite3.Connection) -> int:
        ids = team_db.ids_from_team(connection)
        self._store.drop(ids)
        return len(ids)

    # -- to the server ------------------------------------------------------------------------------------------------

    def waiting(self, link: TeamLink, limit: int, put_off: Collection[str] = ()) -> list[Event]:
        """Return the next events to send, the oldest first and at least one; what may not leave is put aside.

        Args:
            link: with whom the memory is shared.
            limit: how many at most.
            put_off: those that are not sent now.
        """
        with self._sharing(link) as connection:
            while rows := [row for row in team_db.due(connection, limit + len(put_off)) if row[0] not in put_off]:
                due = [parse_stored(*row) for row in rows[:limit]]
                kept = {event.id for event in due if why_kept(event)}
                team_db.mark(connection, kept, team_db.REFUSED)
                if len(kept) < len(due):
                    return [event for event in due if event.id not in kept]
        return []

    def note_pushed(self, link: TeamLink, sent: Collection[str], refused: Collection[str] = ()) -> None:
        """Say that the server has some events, and has refused others."""
        with self._sharing(link) as connection:
            team_db.mark(connection, sent, team_db.SENT)
            team_db.mark(connection, refused, team_db.REFUSED)

    # -- from the server ----------------------------------------------------------------------------------------------

    def place(self, link: TeamLink) -> int:
        """Return the number of the last event that was pulled, or 0 where all have to be pulled again."""
        with self._sharing(link) as connection:
            state = _read_state(connection)
            now_shared = {
                memory.id for memory in observation_db.load(connection, state.refused).values() if memory.is_shared
            }
            if now_shared or 0 < state.unread < self._now() - _UNREAD_SECONDS:
                state = state._replace(after=0, refused=(), unread=0.0)
                _write_state(connection, state)
            return state.after

    def start_over(self, link: TeamLink) -> None:
        """Pull all and send all again: the server was set back to an earlier state."""
        with self._sharing(link) as connection:
            team_db.mark_sent_due(connection)
            _write_state(connection, _read_state(connection)._replace(after=0))

    def take(self, link: TeamLink, bodies: Iterable[str], after: int) -> int:
        """Take in events in the order of the server, and return how many memories changed.

        Nothing is taken of what this user shares no more, and memories that were taken back are dropped.

        Args:
            link: with whom the memory was shared when they were asked for.
            bodies: canonical.
            after: the number of the last of them.
        """
        events, n_unread = self._parse(bodies)
        with self._sharing(link) as connection:
            state = _read_state(connection)
            private = _find_private(connection, events)
            taken = [event for event in events if private.isdisjoint(_ids_in(event))]
            changed = self._store.append(taken, FROM_TEAM)
            self._store.drop(team_db.ids_withdrawn(connection, {event.observation for event in taken}))
            refused = private.intersection(id for event in events for id in _ids_in(event))
            state = state._replace(after=after, refused=tuple(sorted(refused.union(state.refused))))
            _write_state(connection, state._replace(unread=self._now()) if n_unread else state)
        return len(changed)

    def _parse(self, bodies: Iterable[str]) -> tuple[list[Event], int]:
        clock = HybridClock(self._now)
        events, n_unread = [], 0
        for body in bodies:
            try:
                event = parse_event(body)
                clock.check(event.time)
                events.append(event)
            except (EventError, TypeError):  # of a later version, or of a machine whose clock is wrong
                n_unread += 1
        return events, n_unread

    def note_outcome(self, link: TeamLink, problem: str = "") -> None:
        """Keep when an exchange succeeded, to some minutes, or why it did not."""
        with self._sharing(link) as connection:
            state = _read_state(connection)
            now = self._now()
            if problem != state.problem or not (problem or now - state.synced < _NOTED_SECONDS):
                synced = state.synced if problem else now
                _write_state(connection, state._replace(synced=synced, problem=problem))


def _find_private(connection: sqlite3.Connection, events: Collection[Event]) -> set[str]:
    """Return which observations that events name are this user's own, and none of the team's business.

    One that the team has was shared, maybe from another machine, unless it was taken back here.
    """
    own = sharing_db.find_private(connection, {id for event in events for id in _ids_in(event)})
    ids, withdrawn = {event.id for event in events}, team_db.told_of(connection, own)
    return {id for id, created in own.items() if created not in ids or id in withdrawn}


def _ids_in(event: Event) -> set[str]:
    return {event.observation, event.row().other} - {""}


def _read_link(connection: sqlite3.Connection) -> TeamLink | None:
    text = read_meta(connection, LINK)
    return TeamLink(**json.loads(text)) if text else None


def _read_state(connection: sqlite3.Connection) -> SyncState:
    text = read_meta(connection, _STATE)
    if not text:
        return SyncState()
    document = json.loads(text)
    return SyncState(**{**document, "refused": tuple(document["refused"])})


def _write_state(connection: sqlite3.Connection, state: SyncState) -> None:
    write_meta(connection, _STATE, json.dumps(state._asdict()))
