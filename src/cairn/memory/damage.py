"""Whether the database of a memory is there, and is what was written: its structure, its events, what was folded."""

from __future__ import annotations

import os
import sqlite3
from itertools import starmap

from cairn.index.seal import has_held_truth
from cairn.index.state_dir import StateDir
from cairn.memory.events import parse_stored
from cairn.memory.fold import fold
from cairn.storage.connection import check, reading
from cairn.storage.memory import event_db, observation_db
from cairn.storage.memory.schema import MEMORY
from cairn.storage.store import how_to_restore

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


def note_of_loss(state: StateDir) -> str:
    """Return a sentence that says that the memory was taken away or emptied, empty if it is there, or never was."""
    file = state.file_of(MEMORY)
    try:
        if os.lstat(file).st_size:
            return ""
        how = "is empty"
    except FileNotFoundError:
        how = "is gone"
    except OSError:  # whoever opens it is told
        return ""
    if not has_held_truth(state.path):
        return ""
    restore = how_to_restore(file) or "restore it from a backup"
    return f"{file}, which held memories, {how}; {restore}. The next memory begins a new one"
