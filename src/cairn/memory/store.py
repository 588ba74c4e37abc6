"""The memory of one project: appends events, folds what they change in the same transaction, and reads the outcome."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from cairn.errors import AmbiguousError, NotFoundError
from cairn.hints import Hint
from cairn.index.state_dir import StateDir
from cairn.memory.clock import HybridClock
from cairn.memory.damage import UNFIT, find_damage, note_of_loss
from cairn.memory.events import Event, check_event, parse_stored
from cairn.memory.fold import fold
from cairn.memory.handles import HANDLE, is_handle
from cairn.memory.publication import FROM_REPOSITORY, FROM_TEAM, plan, stand_of
from cairn.memory.shared_memories import SharedMemories
from cairn.storage.connection import check_writable, is_frozen, store_errors, transaction
from cairn.storage.copies import copy_database, find_copies
from cairn.storage.memory import event_db, observation_db, sharing_db, team_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation
from cairn.storage.memory.schema import MEMORY
from cairn.storage.sealed import delete_meta, read_meta, write_meta

# Brings what is derived from observations, such as terms and vectors, up to date with those that changed.
Derive = Callable[[sqlite3.Connection, Sequence[Observation]], None]
PROJECT = "project"  # in `meta`: what events of this memory say they belong to
_ERASE = "erase"  # in `meta` while what was redacted may still be in the log or in a copy


class By(NamedTuple):
    """Who changes something: as `person:ada`, and with which authority."""

    actor: str
    authority: str


class MemoryChange(NamedTuple):
    """What is to happen to an observation; the store makes an event of it."""

    observation: str
    kind: str
    value: Mapping[str, Any]


class MemoryStore:
    """The events and observations of a project, in its state folder. Threads may share it; so may processes.

    Args:
        state: the state folder.
        derive: is called for observations that changed, in the transaction that changes them.
        now: the machine's clock, in seconds since the epoch.
        forget: is called for observations that are being redacted, as they were, to erase what repeats their words.
        shared: keeps what is shared through git equal to the memory; None shares nothing.
    """

    def __init__(
        self,
        state: StateDir,
        derive: Derive | None = None,
        now: Callable[[], float] = time.time,
        forget: Derive | None = None,
        shared: SharedMemories | None = None,
    ) -> None:
        self._state, self._derive, self._forget = state, derive, forget
        self._project = ""
        self._clock = HybridClock(now)
        self._file = state.file_of(MEMORY)
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None
        self._identity: tuple[int, int, int] | None = None
        self._is_writable = True
        self._n_inside = 0
        self.n_replaced = 0
        """How often another file was found in the place of the one that was open."""
        self._must_erase = self._must_share = False
        self._shared = shared

    def close(self) -> None:
        """Release the database; it reopens by itself."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    @property
    def exists(self) -> bool:
        """Whether anything was ever remembered here, or shared with it; nothing is created by asking."""
        if os.path.lexists(self._file):
            return True
        return self._shared is not None and self._shared.has_files

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Hand out the connection for the block, SQLite's errors mapped.

        Raises:
            StoreError: if the store cannot be used; it stays as it is.
        """
        with self._lock, store_errors(self._file, MEMORY), self._nonsense_is_damage():
            if not self._n_inside:
                self._leave_replaced_file()
            self._n_inside += 1
            try:
                connection = self._connection()
                if self._shared is not None and not connection.in_transaction and self._shared.is_stale:
                    self._shared.sync(self)
                yield connection
            finally:
                self._n_inside -= 1

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hand out the connection for the block, in one transaction: all of it or nothing.

        Raises:
            StoreError: as `reading`, or if nothing can be written.
        """
        with self.reading() as connection:
            if connection.in_transaction:
                yield connection
                return
            check_writable(connection)
            due = self._must_erase, self._must_share
            try:
                with transaction(connection):
                    yield connection
            except BaseException:
                self._must_erase, self._must_share = due  # what was rolled back has no consequences
                raise
            if self._must_erase:
                self.erase()
            if self._must_share and self._shared is not None:
                self._must_share = False
                self._shared.sync(self)

    @contextmanager
    def _nonsense_is_damage(self) -> Iterator[None]:
        """Values are of the right type when they are stored; if they no longer are, the database is damaged."""
        try:
            yield
        except UNFIT as error:
            if self._opened is not None and (damage := find_damage(self._opened)):
                raise MEMORY.damage(self._file, f"is damaged: {damage}") from error
            raise

    def _leave_replaced_file(self) -> None:
        """Close a file that was deleted, moved away or emptied: what is written to it would be lost.

        One that was opened where nothing could be written is closed, too, once it can change.

        Raises:
            StoreDamagedError: if it was cut off, which SQLite would not notice while it remembers the rest.
        """
        if self._opened is None:
            return
        if not self._is_writable and _can_be_written(self._file):
            self.close()
            return
        now = _identity(self._file)
        if now is not None and self._identity is not None and now[:2] == self._identity[:2]:
            if now[2] >= self._identity[2]:
                self._identity = now  # it grew
                return
            is_cut = now[2] > 0
        else:
            is_cut = False
        self.close()
        self._project = ""
        self.n_replaced += 1
        if is_cut:
            raise MEMORY.damage(self._file, "was cut off while it was in use")
        if loss := note_of_loss(self._state):
            self._state.tell(loss)

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = self._state.open_truth(MEMORY)
            self._identity = _identity(self._file)
            self._is_writable = _can_be_written(self._file) and not is_frozen(self._opened)
            self._opened.execute("PRAGMA secure_delete = ON")  # what is redacted is overwritten
            self._must_erase = bool(read_meta(self._opened, _ERASE))
            if self._must_erase and self._is_writable:
                self.erase()
        return self._opened

    # -- writing ------------------------------------------------------------------------------------------------------

    def record(self, changes: Iterable[MemoryChange], by: By) -> list[Observation]:
        """Make events of changes, now, and return the observations that differ afterwards.

        Raises:
            EventError: if a change says what no event may.
        """
        changes = list(changes)
        with self.writing() as connection:
            self._project = self._project or _project_of(connection)
            latest = event_db.latest_time(connection, _component(connection, _ordered_with(changes)))
            events = []
            for change in changes:
                latest = self._clock.tick(latest)
                event = Event(change.observation, self._project, latest, *by, change.kind, dict(change.value))
                check_event(event)
                events.append(event)
            return self.append(events)

    def append(self, events: Iterable[Event], source: str = "") -> list[Observation]:
        """Add events, those that are there already left out, and return the observations that differ afterwards.

        Of a redacted observation nothing is taken but that it was redacted.

        Args:
            events: in any order.
            source: where they are from: `shared` if they came with the repository, `import` in an export, `team` from a
                team's server, empty if they were made here; see `event_db.find_sources`.

        Raises:
            EventError: if one from elsewhere is dated more than a day ahead.
        """
        by_id = {event.id: event for event in events}
        for event in by_id.values() if source else ():
            self._clock.check(event.time)
        with self.writing() as connection:
            known = event_db.find_known(connection, by_id.keys())
            fresh = [event for id, event in by_id.items() if id not in known]
            touched = {event.observation for event in fresh}
            before = _component(connection, touched)
            stand = stand_of(connection, touched)
            _insert(connection, fresh, source)
            changed = self._refold(connection, before | _component(connection, touched))
            if any(event.kind == "redact" for event in fresh):
                self.erase_soon(connection)
            self._must_share |= plan(connection, touched, stand, source)
            return changed

    def drop(self, ids: Collection[str]) -> None:
        """Take events out as if they had never come, with what is derived of them; those made here are never dropped.

        An observation whose creation is dropped is gone, and with it whatever repeats its words.
        """
        with self.writing() as connection:
            touched = set(sharing_db.observations_of(connection, ids).values())
            component = _component(connection, touched)
            event_db.delete(connection, ids)
            self._refold(connection, component)
            self.erase_soon(connection)

    def _refold(self, connection: sqlite3.Connection, observations: Collection[str]) -> list[Observation]:
        before = observation_db.load(connection, observations)
        now = fold(starmap(parse_stored, event_db.read_events(connection, observations)))
        changed = [state for id, state in now.items() if before.get(id) != state]
        for state in changed:
            observation_db.save(connection, state)
        gone = before.keys() - now.keys()  # their creation was dropped
        erased = [before[id] for id in gone] + [before[state.id] for state in changed if _is_erased(state, before)]
        observation_db.delete(connection, gone)
        if erased and self._forget is not None:
            self._forget(connection, erased)
        if (changed or gone) and self._derive is not None:
            self._derive(connection, changed)
        return changed

    def erase_soon(self, connection: sqlite3.Connection) -> None:
        """Have what this transaction deletes taken out of the log and of the copies, too, once it is committed."""
        write_meta(connection, _ERASE, "due")
        self._must_erase = True

    def erase(self) -> bool:
        """Take what was redacted out of the log and of the copies, too; tried again later while others read.

        Returns:
            whether nothing of it is left.
        """
        with self.reading() as connection:
            (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if is_busy:
                return False
            with transaction(connection):
                if copies := find_copies(self._file):
                    copy_database(self._file)
                    for copy in copies:
                        copy.path.unlink(missing_ok=True)
                delete_meta(connection, _ERASE)
            self._must_erase = False
            return True

    # -- reading ------------------------------------------------------------------------------------------------------

    def observation(self, id: str) -> Observation:
        """Return an observation.

        Args:
            id: its id, or its handle, such as `m_0123456789`: see `handle_of`.

        Raises:
            NotFoundError: if there is none.
            AmbiguousError: if several end so.
        """
        return self.observations([id])[0]

    def observations(self, ids: Sequence[str]) -> list[Observation]:
        """Return some observations, in the order of their ids or handles; see `observation`."""
        if not self.exists:
            raise _unknown(ids[0])
        with self.reading() as connection:
            full = [_full_id(connection, id) for id in ids]
            found = observation_db.load(connection, full)
        for id, name in zip(full, ids, strict=True):
            if id not in found:
                raise _unknown(name)
        return [found[id] for id in full]

    def select(self, conditions: Conditions, limit: int | None = None, offset: int = 0) -> list[Observation]:
        """Return the observations that meet all conditions, the newest first; none where nothing was remembered."""
        if not self.exists:
            return []
        with self.reading() as connection:
            return observation_db.select(connection, conditions, limit, offset)

    def count(self, conditions: Conditions) -> int:
        """Return how many observations meet all conditions."""
        if not self.exists:
            return 0
        with self.reading() as connection:
            return observation_db.count(connection, conditions)

    def history(self, id: str) -> list[Event]:
        """Return the events of an observation, the oldest first."""
        observation = self.observation(id)
        with self.reading() as connection:
            events = starmap(parse_stored, event_db.read_events(connection, [observation.id]))
            return sorted(events, key=lambda event: (event.time, event.id))

    def refold(self) -> list[str]:
        """Fold all events again, and return the ids of the observations that were not what their events say.

        Raises:
            StoreDamagedError: if an event is not what its id says; then nothing is changed.
        """
        with self.writing() as connection:
            now = fold(starmap(parse_stored, list(event_db.iter_events(connection))))
            misfits = observation_db.find_misfits(connection, now)
            observation_db.delete(connection, misfits - now.keys())
            observation_db.delete_stray_links(connection)
            changed = [now[id] for id in misfits if id in now]
            for state in changed:
                observation_db.save(connection, state)
            if changed and self._derive is not None:
                self._derive(connection, changed)
            return sorted(map(str, misfits))


def _ordered_with(changes: Iterable[MemoryChange]) -> set[str]:
    """Return the observations whose events changes must follow. Erasing counts at whatever time, so it follows none."""
    ids = {id for c in changes if c.kind != "redact" for id in (c.observation, c.value.get("superseded_by", ""))}
    return ids - {""}


def _insert(connection: sqlite3.Connection, events: Sequence[Event], source: str) -> None:
    redacted = event_db.find_redacted(connection, {event.observation for event in events})
    redacted.update(event.observation for event in events if event.kind == "redact")
    sharing = sharing_db.SHARED if source == FROM_REPOSITORY else sharing_db.PRIVATE
    team = team_db.SENT if source == FROM_TEAM else team_db.PRIVATE
    for event in events:
        if event.kind == "redact" or event.observation not in redacted:
            event_db.insert(connection, event.row(), source, sharing, team)
    for observation in redacted:
        event_db.delete_all_but_redactions(connection, observation)


def _is_erased(state: Observation, before: Mapping[str, Observation]) -> bool:
    return state.is_redacted and state.id in before


def _identity(file: Path) -> tuple[int, int, int] | None:
    """Return what tells a file from another one, and how long it is; None if there is none."""
    try:
        facts = os.stat(file)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size


def _can_be_written(file: Path) -> bool:
    return os.access(file.parent, os.W_OK) and os.access(file, os.W_OK)


def _full_id(connection: sqlite3.Connection, id: str) -> str:
    """Return the id that a handle stands for."""
    if not is_handle(id):
        return id
    ids = observation_db.ids_ending_in(connection, id.removeprefix(HANDLE))
    if len(ids) > 1:
        raise AmbiguousError(f"several memories are called {id}", f"give the whole id: {', '.join(ids)}")
    return ids[0] if ids else id


def _project_of(connection: sqlite3.Connection) -> str:
    """Return what events of this memory say they belong to: a UUID that is made with the first of them."""
    if not (project := read_meta(connection, PROJECT)):
        project = str(uuid.uuid4())
        write_meta(connection, PROJECT, project)
    return project


def _component(connection: sqlite3.Connection, observations: Collection[str]) -> set[str]:
    """Return the observations, and all that events tie to them as superseding each other, near or far."""
    component, border = set(observations), set(observations)
    while border:
        border = event_db.neighbours(connection, border) - component
        component |= border
    return component


def _unknown(id: str) -> NotFoundError:
    return NotFoundError(f"no memory has the id {id[:100]!r}", Hint("find them", "memories"))
