"""Random histories of a memory on several machines, and how these learn of each other's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from cairn.index.state_dir import StateDir
from cairn.memory.events import AUTHORITIES, STATUSES, Event, parse_event
from cairn.memory.ids import new_id
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.storage.memory import event_db, observation_db
from cairn.storage.memory.rows import Observation

START = 1_760_000_000.0
CREATED: dict[str, Any] = {
    "type": "gotcha", "text": "the cache is not thread-safe", "importance": 5, "tags": [], "origin": "agent",
    "session": "", "branch": "main", "revision": "", "is_shared": True,
}  # fmt: skip


class Clock:
    """A clock that a test turns."""

    def __init__(self, seconds: float = START) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self.seconds


def begin_memory(folder: Path, clock: Clock) -> MemoryStore:
    """Return an empty memory that is on disk already."""
    store = MemoryStore(StateDir(folder), now=clock)
    with store.reading():
        return store


class MemoryWriter:
    """Makes and changes memories, one second after the other.

    Attributes:
        store, clock: of the memory.
        by: who makes and changes them.
    """

    store: MemoryStore
    clock: Clock
    by: By

    def make(self, **fields: object) -> str:
        """Make a memory, and return its id."""
        id = new_id(self.clock.seconds)
        self.change(id, "created", **(CREATED | fields))
        return id

    def change(self, id: str, kind: str, **value: object) -> None:
        """Say something of a memory."""
        self.clock.seconds += 1
        self.store.record([MemoryChange(id, kind, value)], self.by)


class Replica:
    """A memory on one machine, whose clock is off by some seconds."""

    def __init__(self, folder: Path, offset_seconds: float = 0.0) -> None:
        self.folder = folder
        self.clock = Clock(START + offset_seconds)
        self.store = MemoryStore(StateDir(folder), now=self.clock)

    def events(self) -> dict[str, Event]:
        """Return all that it knows, by id."""
        with self.store.reading() as connection:
            return {id: parse_event(body) for id, body in event_db.iter_events(connection)}

    def state(self) -> dict[str, Observation]:
        """Return all memories, redacted ones included, by id."""
        with self.store.reading() as connection:
            return {observation.id: observation for observation in observation_db.iter_all(connection)}

    def change(self, randomly: random.Random, secret: str) -> None:
        """Do something at random to something at random."""
        self.clock.seconds += randomly.choice([0.0, 0.0005, 1.0, 60.0])
        ids = sorted(self.state())
        authority = randomly.choice(AUTHORITIES)
        by = By(f"{authority}:{randomly.choice('abc')}", authority)
        if not ids or randomly.random() < 0.25:
            text = secret if randomly.random() < 0.3 else f"text {randomly.random()}"
            self.store.record([MemoryChange(new_id(self.clock()), "created", CREATED | {"text": text})], by)
            return
        self.store.record([_any_change(randomly, ids)], by)


def _any_change(randomly: random.Random, ids: list[str]) -> MemoryChange:
    id = randomly.choice(ids)
    kind = randomly.choice(["set", "status", "status", "status", "link", "unlink", "redact"])
    link = {"path": randomly.choice(["a.py", "b/c.py"]), "symbol": randomly.choice(["", "f"])}
    status = randomly.choice(STATUSES)
    other = {"superseded_by": randomly.choice(ids)} if status == "superseded" else {}
    values: dict[str, dict[str, Any]] = {
        "set": {"importance": randomly.randint(1, 10), "text": f"text {randomly.random()}"},
        "status": {"status": status, **other},
        "link": {**link, "hash": str(randomly.randint(0, 3))},
        "unlink": link,
        "redact": {},
    }
    if kind == "redact" and randomly.random() < 0.5:
        return MemoryChange(id, "set", {"tags": ["kept"]})
    return MemoryChange(id, kind, values[kind])


def gossip(randomly: random.Random, source: Replica, target: Replica) -> None:
    """Let one learn some of what another knows, in any order, some of it twice."""
    events = list(source.events().values())
    chosen = randomly.sample(events, randomly.randint(0, len(events)))
    target.store.append(chosen)
    target.store.append(chosen[: len(chosen) // 2])


def exchange_all(replicas: list[Replica]) -> None:
    """Let all know all that any knows."""
    for _ in range(2):
        for source in replicas:
            for target in replicas:
                target.store.append(source.events().values())
