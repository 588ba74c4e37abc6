"""All SQL of segments, the derived files with the postings and vectors of blobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from cairn.storage.index.blob_db import drop_blobs
from cairn.storage.index.rows import check_types


class SegmentRow(NamedTuple):
    """One derived segment file that belongs to the index."""

    id: int
    name: str
    n_rows: int
    n_bytes: int


def read_segments(connection: sqlite3.Connection) -> list[SegmentRow]:
    """Return the segments of the current generation."""
    rows = connection.execute("SELECT id, name, n_rows, n_bytes FROM segment ORDER BY id")
    return [SegmentRow(*check_types(row, int, str, int, int)) for row in rows]


def chunk_counts(connection: sqlite3.Connection, segment_id: int) -> dict[int, int]:
    """Return {blob id: number of chunks} for the blobs of a segment that have any."""
    query = "SELECT id, n_chunks FROM blob WHERE segment_id = ? AND n_chunks > 0"
    return dict(connection.execute(query, (segment_id,)))


def put_segment(connection: sqlite3.Connection, name: str, n_rows: int, n_bytes: int) -> int:
    """Register a segment file and return its id."""
    cursor = connection.execute("INSERT INTO segment (name, n_rows, n_bytes) VALUES (?, ?, ?)", (name, n_rows, n_bytes))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def replace_segments(connection: sqlite3.Connection, old: Sequence[int], new: int) -> None:
    """Assign the blobs of some segments to the one they were merged into."""
    marks = ", ".join("?" * len(old))
    connection.execute(f"UPDATE blob SET segment_id = ? WHERE segment_id IN ({marks})", (new, *old))
    connection.execute(f"DELETE FROM segment WHERE id IN ({marks})", tuple(old))


def drop_segment_blobs(connection: sqlite3.Connection, segment_ids: Sequence[int]) -> None:
    """Forget blobs whose segment file is lost, and the files that show them, so that the next run reads these again.

    Until then, views that would lack files are hidden.
    """
    for segment_id in segment_ids:
        connection.execute(
            """UPDATE view SET generation = 0 WHERE id IN
               (SELECT view_id FROM entry JOIN blob ON blob.id = entry.blob_id WHERE segment_id = ?)""",
            (segment_id,),
        )
        lost = [row[0] for row in connection.execute("SELECT id FROM blob WHERE segment_id = ?", (segment_id,))]
        connection.execute(
            "DELETE FROM entry WHERE blob_id IN (SELECT id FROM blob WHERE segment_id = ?)", (segment_id,)
        )
        drop_blobs(connection, lost)
        connection.execute("DELETE FROM segment WHERE id = ?", (segment_id,))
