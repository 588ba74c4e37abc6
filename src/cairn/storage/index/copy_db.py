"""All SQL that copies one view into an index of its own, and adapts the copy to a new folder."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from cairn.storage.index.segment_db import SegmentRow, read_segments
from cairn.storage.index.view_db import ViewRow, files_in_view, find_view
from cairn.storage.sealed import forget_seals, write_seal_id
from cairn.types import FileStat


class CopiedView(NamedTuple):
    """The content of a copied index.

    Attributes:
        view: the only view.
        segments: all segments.
        paths: those of its files.
    """

    view: ViewRow
    segments: list[SegmentRow]
    paths: list[str]


def copy_view(connection: sqlite3.Connection, name: str, target: Path) -> CopiedView | None:
    """Write a database with one view and nothing that ties it to this folder; None if there is no such view.

    Args:
        connection: of the index.
        name: of the view.
        target: a file that does not exist yet.
    """
    connection.execute("VACUUM INTO ?", (str(target),))
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        view = find_view(copy, name)
        if view is None:
            return None
        copy.execute("DELETE FROM view WHERE id <> ?", (view.id,))
        copy.execute("DELETE FROM entry WHERE view_id <> ?", (view.id,))
        copy.execute("DELETE FROM origin")
        copy.execute("DELETE FROM garbage")
        forget_seals(copy)
        copy.execute("VACUUM")
        paths = [path for path, *_ in files_in_view(copy, view.id)]
        return CopiedView(view, read_segments(copy), paths)


def settle_view(file: Path, name: str, seal_id: str, stats: Iterable[FileStat]) -> None:
    """Turn a copied database's only view into that of a folder whose files were just written.

    Args:
        file: the database, not open anywhere.
        name: the view's new name.
        seal_id: of the state folder that the database is in.
        stats: the files as they are on disk.
    """
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # after a crash, the copy is made again
        connection.execute("BEGIN")
        connection.execute("UPDATE view SET name = ?, branch = ''", (name,))  # the folder is not in a repository
        connection.executemany(
            """UPDATE entry SET size = ?, mtime_ns = ?, ctime_ns = ?, racy = 0
               WHERE view_id = (SELECT id FROM view) AND path_id = (SELECT id FROM path WHERE path = ?)""",
            ((stat.size, stat.mtime_ns, stat.ctime_ns, os.fsencode(stat.path)) for stat in stats),
        )
        write_seal_id(connection, seal_id)
        connection.execute("COMMIT")
