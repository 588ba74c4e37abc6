"""Records what a session was shown of a memory, as composing an injection does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from cairn.memory.store import MemoryStore
from cairn.storage.memory import usage_db
from cairn.storage.memory.rows import InjectedMemory


def note_injections(
    store: MemoryStore,
    session: str,
    event: str,
    shown: Sequence[tuple[str, str, int]],
    now: Callable[[], float] = time.time,
) -> None:
    """Record of each memory its id, why it was chosen, and its tokens."""
    rows = [InjectedMemory(session, now(), event, id, why, tokens) for id, why, tokens in shown]
    with store.writing() as connection:
        usage_db.add_injections(connection, rows)
