"""Finds files of shared events that got lost before anybody committed them, as by `git clean`.

A file that is not there may be on another branch, where it must not get in the way. So git is asked whether it ever had
one of that content; where there is no git, nothing can be told.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path

from cairn.errors import PathError
from cairn.memory.shared_folder import content_of
from cairn.source.git import find_repository
from cairn.source.objects import never_stored
from cairn.storage.memory import sharing_db
from cairn.storage.memory.sharing_db import SharedEvent


def find_lost(
    connection: sqlite3.Connection, root: Path, there: Collection[str], observations: Collection[str] | None = None
) -> list[SharedEvent]:
    """Return the events that were written to the folder, and are neither there nor in git.

    Args:
        connection: to the memory.
        root: the checkout.
        there: ids of the events that are in the folder.
        observations: only of these; None for all.
    """
    absent = [event for event in sharing_db.written_here(connection, observations) if event.id not in there]
    if not absent:
        return []
    try:
        repository = find_repository(root)
        contents = {event.id: content_of(event.body) for event in absent}
        lost = set() if repository is None else never_stored(repository, contents)
    except (OSError, PathError):  # nothing can be told
        return []
    return [event for event in absent if event.id in lost]
