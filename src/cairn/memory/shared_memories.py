"""Memories that are shared through git: takes in what the repository brought, and writes what was shared here."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol

from cairn.errors import EventError, StoreDamagedError, StoreError, StoreForeignError, StoreVersionError
from cairn.memory.clock import HybridClock
from cairn.memory.events import Event
from cairn.memory.lost_files import find_lost
from cairn.memory.publication import FROM_REPOSITORY
from cairn.memory.shared_folder import FolderContent, SharedFolder
from cairn.source.git import printable_name
from cairn.source.text import pluralize
from cairn.storage.memory import event_db, sharing_db
from cairn.storage.memory.sharing_db import SharedEvent
from cairn.storage.sealed import read_meta, write_meta

_MARK = "shared:"  # in `meta`, with the folder: what it was like when it was last taken in
_SETTLED_SECONDS = 2.0  # a folder that changed just now may change again without looking different
_N_NAMED = 3


class EventStore(Protocol):
    """What this needs of a `MemoryStore`."""

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Hand out the connection."""

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Hand out the connection, in a transaction."""

    def append(self, events: Iterable[Event], source: str = "") -> object:
        """Add events."""


class Refused(NamedTuple):
    """A file of the folder that was not used, and why."""

    name: str
    reason: str


class SharedMemories:
    """Keeps the memory of a project and the shared folder of its checkout equal. The store calls it under its lock.

    Each event is written once, in the checkout where it was made: git refuses to switch to a branch, or to pull one,
    that has a file which is there without being tracked. So files are not written again on other branches. Those that
    git never had are, with the next change of their memory: see `find_lost`.

    Args:
        root: the checkout.
        report: is told, in a sentence, what could not be used or written.
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(self, root: Path, report: Callable[[str], object], now: Callable[[], float] = time.time) -> None:
        self._root, self._folder = root, SharedFolder(root)
        self._report, self._now = report, now
        self._seen: str | None = None
        self._is_busy = False

    @property
    def has_files(self) -> bool:
        """Whether the repository may have brought memories that were not looked at yet."""
        return self._folder.mark() not in ("", self._seen)

    @property
    def is_stale(self) -> bool:
        """Whether the folder has to be looked at: for the first time, or since it changed."""
        return not self._is_busy and self._folder.mark() != self._seen

    def sync(self, store: EventStore) -> None:
        """Take in what is new in the folder, write what has to be shared, and delete what no longer is.

        What prevents that is reported; what the store holds can be read all the same, as where it cannot be written.

        Raises:
            StoreDamagedError, StoreForeignError, StoreVersionError: if what the store holds cannot be relied on.
        """
        if self._is_busy:
            return
        self._is_busy = True
        self._seen = self._folder.mark()
        try:
            self._sync(store)
            self._seen = self._folder.mark()
        except OSError as error:
            self._report(f"cannot use {self._folder.path}: {error.strerror}")
        except (StoreDamagedError, StoreForeignError, StoreVersionError):
            raise  # then nothing that the store says may be read
        except StoreError as error:
            self._seen = None  # once it can be written
            self._report(f"shared memories are not up to date: {error}")
        finally:
            self._is_busy = False

    def _sync(self, store: EventStore) -> None:
        key = f"{_MARK}{printable_name(str(self._folder.path))}"
        with store.reading() as connection:
            mark, *told = read_meta(connection, key).split(" ")
            if mark == self._folder.mark() and not sharing_db.has_due(connection):
                return
        try:
            content = self._folder.content()
        except StoreError as error:
            self._report(f"shared memories are not used: {error}")
            return
        with store.writing() as connection:
            refused = self._take_in(store, connection, content)
            refused += self._write_missing(connection, content)
            digest = _digest(refused)
            write_meta(connection, key, f"{self._settled_mark()} {digest}")
        if refused and digest not in told:
            self._report(_words(refused, self._folder.path))

    def _settled_mark(self) -> str:
        mark = self._folder.mark()
        changed = int(mark.rpartition("-")[2] or 0) / 1e9
        return mark if self._now() - changed > _SETTLED_SECONDS else ""

    def _take_in(self, store: EventStore, connection: sqlite3.Connection, content: FolderContent) -> list[Refused]:
        """Add what is new, and delete the files of memories that were erased or withdrawn."""
        refused = [Refused(name, "no event is called so") for name in content.odd]
        places = sharing_db.observations_of(connection, content.ids)
        events = self._read_new(content.ids - places.keys(), refused)
        closed = _find_private(connection, events, content.ids)
        taken = []
        for event in events:
            if closed.intersection(_ids_in(event)):
                refused.append(Refused(event.id, "it changes a memory that is not shared here"))
            else:
                taken.append(event)
        store.append(taken, FROM_REPOSITORY)
        sharing_db.mark_written(connection, content.ids)
        places |= {event.id: event.observation for event in taken}
        self._remove_withdrawn(connection, content, places)
        return refused

    def _read_new(self, ids: Collection[str], refused: list[Refused]) -> list[Event]:
        clock = HybridClock(self._now)
        events = []
        for id in sorted(ids):
            try:
                event = self._folder.read(id)
                clock.check(event.time)
                events.append(event)
            except EventError as error:
                refused.append(Refused(id, str(error)))
        return events

    def _remove_withdrawn(
        self, connection: sqlite3.Connection, content: FolderContent, places: Mapping[str, str]
    ) -> None:
        """Delete the files of memories that were erased or withdrawn; what says that they were is left there."""
        erased = event_db.find_redacted(connection, set(places.values()))
        known = event_db.find_known(connection, places.keys())
        gone = {id for id, observation in places.items() if observation in erased and id not in known}
        gone |= sharing_db.ids_withdrawn(connection, known)
        if not gone:
            return
        for event in sharing_db.shared_events(connection, {places[id] for id in gone}):
            if event.id not in content.ids:
                self._folder.write(event.id, event.body)
        self._folder.delete(gone)

    def _write_missing(self, connection: sqlite3.Connection, content: FolderContent) -> list[Refused]:
        """Write what has to be shared; what cannot be written now stays due."""
        due = sharing_db.due(connection)
        due += find_lost(connection, self._root, content.ids, {event.observation for event in due})
        if due and not self._folder.can_be_written():
            return [Refused(f"{pluralize(len(due), 'change')} of shared memories", _no_folder(self._folder))]
        written: list[str] = []
        try:
            for event in due:
                self._write(event, content)
                written.append(event.id)
        except (OSError, StoreError) as error:
            reason = error.strerror or "" if isinstance(error, OSError) else str(error)
            return [Refused(f"{pluralize(len(due) - len(written), 'change')} of shared memories", reason)]
        finally:
            sharing_db.mark_written(connection, written)
        return []

    def _write(self, event: SharedEvent, content: FolderContent) -> None:
        if event.id not in content.ids:
            self._folder.write(event.id, event.body)


def _find_private(connection: sqlite3.Connection, events: Iterable[Event], ids: Collection[str]) -> set[str]:
    """Return which observations that events name are this user's own, and none of the repository's business.

    One that the repository holds itself was shared, maybe on another machine, unless it was withdrawn here.
    """
    own = sharing_db.find_private(connection, {id for event in events for id in _ids_in(event)})
    withdrawn = sharing_db.sharing_of(connection, own)
    return {id for id, created in own.items() if created not in ids or withdrawn.get(id)}


def _ids_in(event: Event) -> set[str]:
    return {event.observation, event.row().other} - {""}


def _no_folder(folder: SharedFolder) -> str:
    return f"there is no folder {folder.path.parent}; make it to share memories from here"


def _digest(refused: Collection[Refused]) -> str:
    return sha256("\n".join(sorted(map(str, refused))).encode("utf-8", "replace")).hexdigest()[:16] if refused else ""


def _words(refused: Collection[Refused], folder: Path) -> str:
    shown = "; ".join(f"{item.name[:80]}: {item.reason[:200]}" for item in list(refused)[:_N_NAMED])
    more = f"; and {len(refused) - _N_NAMED} more" if len(refused) > _N_NAMED else ""
    return f"not shared through {folder}: {shown}{more}"
