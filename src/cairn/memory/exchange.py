"""Memories as JSON Lines, to keep them elsewhere or take them to another machine: a header, then one event a line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import IO, Any, NamedTuple

from cairn.errors import EventError
from cairn.hints import Hint
from cairn.memory.clock import HybridClock
from cairn.memory.events import MAX_BODY_BYTES, MAX_NAME_CHARS, MAX_TEXT_CHARS, Event, parse_event, parse_stored
from cairn.memory.identity import actor_to_keep, session_to_keep
from cairn.memory.redaction import redact
from cairn.memory.store import MemoryStore
from cairn.storage.memory import event_db

FORMAT, VERSION = "cairn-memory", 1
HEADER = json.dumps({"format": FORMAT, "version": VERSION}, separators=(",", ":"))
IMPORTED = "import"  # the source of events that came in an export
_MAX_LINE_BYTES = 4 * MAX_BODY_BYTES + 2
_MAX_HEADER_BYTES = 1_000
_BATCH = 500
_MAX_REFUSED = 5  # lines that an error names


class Imported(NamedTuple):
    """What an import did, or would do.

    Attributes:
        n_new: events that were not known.
        n_known: events that were.
        n_memories: memories that differ now; 0 where nothing was written.
        n_erased: memories that were erased elsewhere, and so are here.
        n_redacted: events that held secrets or what is private, and are kept without these.
    """

    n_new: int
    n_known: int
    n_memories: int
    n_erased: int
    n_redacted: int


class Exchange:
    """Writes and reads exports of a memory.

    Args:
        store: the memory.
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(self, store: MemoryStore, now: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, HybridClock(now)

    def export(self, ids: Collection[str] = (), *, only_shared: bool = False) -> Iterator[str]:
        """Yield the lines of an export, without line ends, from one state of the memory.

        Args:
            ids: only these memories, by id or handle; empty for all.
            only_shared: only what may leave this machine.

        Raises:
            NotFoundError, AmbiguousError: if an id is of no memory, or of several.
            StoreDamagedError: if an event is not what its id says.
        """
        wanted = {observation.id for observation in self._store.observations(list(ids))} if ids else None
        yield HEADER
        if self._store.exists:
            with self._store.reading() as connection:
                for id, body in event_db.iter_chosen(connection, wanted, only_shared=only_shared):
                    yield parse_stored(id, body).body

    def take(self, lines: IO[bytes], *, dry_run: bool = False) -> Imported:
        """Add the events of an export, all of them or none.

        Args:
            lines: the export; read line by line.
            dry_run: only say what would be new.

        Raises:
            EventError: if it is not an export, or a line cannot be used: then nothing was imported.
        """
        events = self._read(lines)
        if dry_run and not self._store.exists:
            return _count(events)
        if dry_run:
            with self._store.reading():
                return self._add(events, write=False)
        with self._store.writing():
            return self._add(events, write=True)

    def _add(self, events: Iterator[Event], *, write: bool) -> Imported:
        n_new = n_known = n_redacted = 0
        changed, erased = set(), set()
        for batch in _in_batches(events):
            with self._store.reading() as connection:
                known = event_db.find_known(connection, {event.id for event in batch})
                # What is here already was here before: only what is new is kept without its secrets.
                kept = [event if event.id in known else without_secrets(event) for event in batch]
                n_redacted += sum(event is not other for event, other in zip(batch, kept, strict=True))
                batch = list({event.id: event for event in kept}.values())
                known = event_db.find_known(connection, {event.id for event in batch})
                redacted = event_db.find_redacted(connection, {event.observation for event in batch})
            n_known += sum(event.id in known for event in batch)
            n_new += sum(event.id not in known for event in batch)
            erased |= {event.observation for event in batch if event.kind == "redact"} - redacted
            if write:
                changed |= {observation.id for observation in self._store.append(batch, IMPORTED)}
        return Imported(n_new, n_known, len(changed), len(erased), n_redacted)

    def _read(self, lines: IO[bytes]) -> Iterator[Event]:
        """Yield the events until one cannot be used; then name that and the next few.

        Raises:
            EventError: at the end, if there was one; at once, if the lines are not an export.
        """
        _check_header(lines.readline(_MAX_HEADER_BYTES))
        refused: list[str] = []
        for number, line in enumerate(iter(lambda: lines.readline(_MAX_LINE_BYTES), b""), 2):
            try:
                event = self._parse(line)
            except EventError as error:
                refused.append(f"line {number}: {error}")
                if len(refused) == _MAX_REFUSED or not line.endswith(b"\n"):
                    break
            else:
                if not refused and event is not None:
                    yield event
        if refused:
            raise EventError(
                f"nothing was imported: {'; '.join(refused)}", "take these lines out, or export again where it is from"
            )

    def _parse(self, line: bytes) -> Event | None:
        if len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n"):
            raise EventError("it is longer than an event can be")
        text = line.rstrip(b"\r\n")
        if not text:
            return None
        try:
            event = parse_event(text.decode())
        except UnicodeDecodeError as error:
            raise EventError("it is not UTF-8") from error
        self._clock.check(event.time)
        return event


def _count(events: Iterable[Event]) -> Imported:
    """Return what an import would do where nothing was ever remembered."""
    new: set[str] = set()
    n_redacted = 0
    for event in events:
        kept = without_secrets(event)
        n_redacted += kept is not event
        new.add(kept.id)
    return Imported(len(new), 0, 0, 0, n_redacted)


def without_secrets(event: Event) -> Event:
    """Return an event as it may be kept: the same one if it says nothing that is secret or private.

    Otherwise it is another event, with another id: the same one wherever it is imported.
    """
    value = {name: _REDACT[name](content) if name in _REDACT else content for name, content in event.value.items()}
    kept = event._replace(actor=actor_to_keep(event.actor), value=value)
    return event if kept == event else kept


def _short(text: str) -> str:
    return redact(text).text[:MAX_NAME_CHARS]


# What an event says in words.
_REDACT: Mapping[str, Callable[[Any], object]] = {
    "text": lambda text: redact(text).text[:MAX_TEXT_CHARS],
    "tags": lambda tags: list(map(_short, tags)),
    "session": session_to_keep,
    "branch": _short,
    "reason": _short,
    "symbol": _short,
}


def _check_header(line: bytes) -> None:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise EventError("this is not an export of memories: it does not begin as one", Hint("make one with", "export"))
    if header.get("version") != VERSION:
        raise EventError("this export was made by a newer version of Cairn", "upgrade with: uv tool upgrade codecairn")


def _in_batches(events: Iterable[Event]) -> Iterator[list[Event]]:
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
