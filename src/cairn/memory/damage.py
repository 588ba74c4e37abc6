"""Whether the database of a memory is what was written: its structure, its events, and what was folded from them."""

from __future__ import annotations

import sqlite3
from itertools import starmap

from cairn.memory.events import parse_stored
from cairn.memory.fold import fold
from cairn.storage.connection import check, reading
from cairn.storage.memory import event_db, observation_db

MALFORMED = "database disk image is malformed: "  # how messages of damage begin that are SQLite's, or like them
# What values of a wrong type lead to; they have the right one when they are stored.
UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def find_damage(connection: sqlite3.Connection) -> str:
    """Return what is wrong with a memory, empty if it is what was written. This reads all of it."""
    try:
        if wrong := check(connection):
            return wrong[0]
        with reading(connection):
            events = dict(event_db.iter_events(connection))
            now = fold(starmap(parse_stored, events.items()))
            misfits = observation_db.find_misfits(connection, now)
    except sqlite3.DatabaseError as error:
        return str(error).removeprefix(MALFORMED)
    except UNFIT as error:
        return f"it holds values that make no sense: {error}"
    return f"{len(misfits):,} memories are not what their events say" if misfits else ""
