"""What of the memory may leave this machine: the events of shared memories, and that one is not shared any more."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from itertools import starmap

from cairn.memory.events import parse_stored
from cairn.storage.memory import event_db, observation_db, sharing_db
from cairn.storage.memory.sharing_db import PRIVATE, SHARED

FROM_REPOSITORY = "shared"  # the source of events that came with the repository
_MAY_LEAVE = {"is_shared", "reason"}  # of the event that says that a memory is not shared any more


def plan(connection: sqlite3.Connection, touched: Collection[str], before: Mapping[str, int], source: str) -> bool:
    """Mark the events that have to be shared, once some were added.

    What is done here is shared at once. What was imported is not, unless its memory is in the folder already: it was
    shared where it is from, and is on some branch.

    Args:
        connection: to the memory, in a transaction.
        touched: ids of the observations whose events were added.
        before: how far they were shared, see `sharing_of`.
        source: where the events are from.

    Returns:
        whether anything has to be written.
    """
    for id, observation in observation_db.load(connection, touched).items():
        was = before.get(id, PRIVATE)
        if observation.is_redacted:
            if was != PRIVATE:
                sharing_db.mark_due(connection, id, "redact")
        elif observation.is_shared:
            if source == "" or (was == SHARED and source != FROM_REPOSITORY):
                sharing_db.mark_due(connection, id)
        elif was != PRIVATE:
            sharing_db.withdraw(connection, id, _last_word(connection, id) if was == SHARED else "")
    return sharing_db.has_due(connection)


def _last_word(connection: sqlite3.Connection, observation: str) -> str:
    """Return the id of the event that took a memory out of what is shared; empty if it says more than that."""
    events = starmap(parse_stored, event_db.read_events(connection, [observation]))
    ends = [event for event in events if event.kind == "set" and event.value.get("is_shared") is False]
    last = max(ends, key=lambda event: (event.time, event.id), default=None)
    return last.id if last is not None and _MAY_LEAVE.issuperset(last.value) else ""
