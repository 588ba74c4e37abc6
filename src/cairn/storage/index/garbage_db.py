"""All SQL of garbage: since when no view shows a blob, and since when a view's folder or commit is gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from cairn.storage.index import meta_db

_COLLECTED = "garbage_collected"
_PASSING = "passing view "  # prefix of keys in `meta`; a view's name follows

Kind = Literal["blob", "view"]


class ViewSize(NamedTuple):
    """One view: its name, what it shows, its number of files, and the size of its own arrays."""

    id: int
    name: str
    branch: str
    revision: str
    generation: int
    files: int
    n_bytes: int


def read_view_sizes(connection: sqlite3.Connection) -> list[ViewSize]:
    """Return all views by name."""
    rows = connection.execute(
        """SELECT id, name, branch, revision, generation, count(entry.blob_id), n_bytes
           FROM view LEFT JOIN entry ON entry.view_id = view.id GROUP BY view.id ORDER BY name"""
    )
    return [ViewSize(*row) for row in rows]


def drop_views(connection: sqlite3.Connection, view_ids: Collection[int]) -> None:
    """Forget views; their blobs stay until garbage is collected."""
    for view_id in view_ids:
        connection.execute("DELETE FROM entry WHERE view_id = ?", (view_id,))
        connection.execute("DELETE FROM view WHERE id = ?", (view_id,))
    forget(connection, "view", view_ids)


def passing_views(connection: sqlite3.Connection) -> set[str]:
    """Return the names of temporary views; some may be gone."""
    return {key.removeprefix(_PASSING) for key in meta_db.read_meta(connection) if key.startswith(_PASSING)}


def add_passing_view(connection: sqlite3.Connection, name: str) -> None:
    """Record that a view is temporary."""
    meta_db.write_meta(connection, {f"{_PASSING}{name}": "1"})


def drop_passing_views(connection: sqlite3.Connection) -> set[int]:
    """Forget all temporary views, and return their ids."""
    names = passing_views(connection)
    ids = {view_id for view_id, name in connection.execute("SELECT id, name FROM view") if name in names}
    drop_views(connection, ids)
    connection.executemany("DELETE FROM meta WHERE key = ?", ((f"{_PASSING}{name}",) for name in names))
    return ids


def mark(connection: sqlite3.Connection, kind: Kind, ids: Collection[int], now: float) -> None:
    """Set the garbage of a kind: known ids keep the time they were first seen, and ids not given are in use again."""
    known = {row[0] for row in connection.execute("SELECT id FROM garbage WHERE kind = ?", (kind,))}
    wanted = set(ids)
    connection.executemany("DELETE FROM garbage WHERE kind = ? AND id = ?", ((kind, id_) for id_ in known - wanted))
    connection.executemany("INSERT INTO garbage VALUES (?, ?, ?)", ((kind, id_, now) for id_ in wanted - known))


def ids_due(connection: sqlite3.Connection, kind: Kind, before: float) -> set[int]:
    """Return the ids of a kind that became garbage at `before` or earlier, in seconds since the epoch."""
    return {
        row[0] for row in connection.execute("SELECT id FROM garbage WHERE kind = ? AND since <= ?", (kind, before))
    }


def forget(connection: sqlite3.Connection, kind: Kind, ids: Iterable[int]) -> None:
    """Drop the marks of ids that no longer exist, since they may be reused."""
    connection.executemany("DELETE FROM garbage WHERE kind = ? AND id = ?", ((kind, id_) for id_ in ids))


def dead_blobs(connection: sqlite3.Connection) -> dict[int, int]:
    """Return {blob id: number of chunks} for the blobs that no view shows."""
    return dict(
        connection.execute(
            "SELECT id, n_chunks FROM blob WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id)"
        )
    )


def by_segment(connection: sqlite3.Connection, blob_ids: Collection[int]) -> dict[int, set[int]]:
    """Return {segment id: blob ids} for some blobs; blobs without chunks may name a segment that does not exist."""
    parts: dict[int, set[int]] = {}
    for blob_id, segment_id in connection.execute("SELECT id, segment_id FROM blob"):
        if blob_id in blob_ids:
            parts.setdefault(segment_id, set()).add(blob_id)
    return parts


def last_collection(connection: sqlite3.Connection) -> float:
    """Return when garbage was last looked for, in seconds since the epoch; 0 for never."""
    return float(meta_db.read_meta(connection).get(_COLLECTED, "0"))


def record_collected(connection: sqlite3.Connection, now: float) -> None:
    """Record that garbage was looked for."""
    meta_db.write_meta(connection, {_COLLECTED: str(now)})


def count_up_generation(connection: sqlite3.Connection) -> None:
    """Increment the generation, so that readers reopen the segments though no view has changed."""
    meta_db.write_meta(connection, {"generation": str(meta_db.generation(connection) + 1)})


def page_bytes(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the size of the database and its free space, in bytes."""
    size, pages, free = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    return size * pages, size * free


def compact(connection: sqlite3.Connection) -> None:
    """Give the database's free pages and its log back to the disk. Readers are not disturbed."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
