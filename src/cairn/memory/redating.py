"""Events made here while this machine's clock was wrong: found, and dated anew where nobody else has them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from itertools import groupby

from cairn.index.health import Finding
from cairn.memory.clock import HybridClock
from cairn.memory.events import parse_stored
from cairn.memory.store import MemoryStore
from cairn.source.text import pluralize
from cairn.storage.memory import event_db, sharing_db, team_db
from cairn.storage.memory.event_db import Placed

_MOVED = "set this machine's clock if it is wrong; if it is right, forget these memories and make them anew"


def examine_dates(connection: sqlite3.Connection, now: Callable[[], float] = time.time) -> list[Finding]:
    """Tell of events that are dated so far ahead that no other machine takes them; nothing where there are none."""
    far = event_db.placed_after(connection, HybridClock(now).latest_allowed())
    own = _only_here(far)
    findings = []
    if own:
        words = f"{_events(len(own))} dated more than a day ahead of this machine's clock, so no other machine takes"
        findings.append(Finding("dates", "warning", f"{words} {'it' if len(own) == 1 else 'them'}", "redate"))
    if n_moved := len(far) - len(own):
        words = f"{_events(n_moved)} dated more than a day ahead of this machine's clock, also in what is shared"
        findings.append(Finding("dates", "warning", words, hint=_MOVED))
    return findings


def redate(store: MemoryStore, now: Callable[[], float] = time.time) -> int:
    """Date events that `examine_dates` would mend anew, in their order, and return how many there were."""
    clock = HybridClock(now)
    with store.writing() as connection:
        own = _only_here(event_db.placed_after(connection, clock.latest_allowed()))
        event_db.delete(connection, [event.id for event in own])
        latest = event_db.latest_time(connection, {event.observation for event in own})
        for placed in own:
            latest = clock.tick(latest)
            event = parse_stored(placed.id, placed.body)._replace(time=latest)
            team = team_db.DUE if placed.team == team_db.REFUSED else placed.team
            event_db.insert(connection, event.row(), "", placed.sharing, team)
        store.refold()
    return len(own)


def _only_here(events: Iterable[Placed]) -> list[Placed]:
    """Return those of some events that nobody else can have, if the same is true of all of them of their memory."""
    by_memory = sorted(events, key=lambda event: event.observation)
    groups = [list(group) for _, group in groupby(by_memory, lambda event: event.observation)]
    own = [event for group in groups if all(map(_is_only_here, group)) for event in group]
    return sorted(own, key=lambda event: (event.time, event.id))


def _is_only_here(event: Placed) -> bool:
    return event.source == "" and event.sharing != sharing_db.SHARED and event.team != team_db.SENT


def _events(number: int) -> str:
    return pluralize(number, "event is", "events are")
