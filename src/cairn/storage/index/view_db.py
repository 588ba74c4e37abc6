"""All SQL of views: the files of a checkout or commit, their paths, and their git objects."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from cairn.storage.connection import in_lists, in_parts
from cairn.storage.index.meta_db import write_meta
from cairn.storage.index.rows import check_types, path_of
from cairn.types import FileStat, Skipped

# The note on a blob that was parsed after all; see `cairn.source.chunking`.
ORDINARY_NOTES = ("no grammar for this language", "did not parse")
_new = tuple.__new__


class ViewRow(NamedTuple):
    """One view; `generation` is the one that its arrays were written in, 0 before the first.

    `pending` counts the files still unread at the last commit of a run. `revision` is the full hash of the commit whose
    files the view shows, empty for a checkout, whose `name` is its folder. `arrays` names the file of the view's own
    arrays, `layout` that of the arrays shared by views with the same paths.
    """

    id: int
    name: str
    branch: str
    revision: str
    generation: int
    n_bytes: int
    layout: str
    layout_bytes: int
    pending: int
    arrays: str


class Published(NamedTuple):
    """The derived files of a view in one generation: names and sizes of its own and of the shared one."""

    arrays: str
    n_bytes: int
    layout: str
    layout_bytes: int


class FileRow(NamedTuple):
    """One file of a view. `blob_id` is None for a file that was skipped for the `reason` given.

    `racy` marks a file that changed so shortly before it was read that its size and time prove nothing.
    """

    path: str
    blob_id: int | None
    size: int
    mtime_ns: int
    racy: bool = False
    reason: str = ""
    ctime_ns: int = 0

    @classmethod
    def of(cls, file: FileStat, blob_id: int | None, *, racy: bool, reason: str = "") -> Self:
        """Return the row for a file as the walk found it."""
        return cls(file.path, blob_id, file.size, file.mtime_ns, racy, reason, file.ctime_ns)

    def agrees_with(self, file: FileStat) -> bool:
        """Tell whether the file on disk seems to have the same content as this row."""
        return not self.racy and self.is_stamped(file)

    def is_stamped(self, file: FileStat) -> bool:
        """Tell whether size and times match the file on disk."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (file.size, file.mtime_ns, file.ctime_ns)


class Origin(NamedTuple):
    """The git object of a path: its id, and its size in bytes."""

    path: str
    object_id: bytes
    size: int


def ensure_view(connection: sqlite3.Connection, name: str) -> int:
    """Return the id of the view called `name`, adding it if it is new."""
    connection.execute("INSERT OR IGNORE INTO view (name) VALUES (?)", (name,))
    view_id: int = connection.execute("SELECT id FROM view WHERE name = ?", (name,)).fetchone()[0]
    return view_id


def find_view(connection: sqlite3.Connection, name: str) -> ViewRow | None:
    """Return the view called `name`, None if there is none."""
    return next(_view_rows(connection, "WHERE name = ?", (name,)), None)


def read_views(connection: sqlite3.Connection) -> list[ViewRow]:
    """Return all views, most recently changed first."""
    return list(_view_rows(connection, "ORDER BY generation DESC, id", ()))


def _view_rows(connection: sqlite3.Connection, condition: str, values: tuple[str, ...]) -> Iterator[ViewRow]:
    columns = ", ".join(ViewRow._fields)
    for row in connection.execute(f"SELECT {columns} FROM view {condition}", values):
        yield ViewRow(*check_types(row, int, str, str, str, int, int, str, int, int, str))


def rename_view(connection: sqlite3.Connection, view_id: int, name: str) -> None:
    """Rename a view, after its folder was moved."""
    connection.execute("UPDATE view SET name = ? WHERE id = ?", (name, view_id))


def publish_view(connection: sqlite3.Connection, view_id: int, generation: int, published: Published) -> None:
    """Start a new generation of the index, with new arrays of one view."""
    connection.execute(
        "UPDATE view SET generation = ?, arrays = ?, n_bytes = ?, layout = ?, layout_bytes = ? WHERE id = ?",
        (generation, *published, view_id),
    )
    write_meta(connection, {"generation": str(generation)})


def hide_views(connection: sqlite3.Connection, view_ids: Iterable[int]) -> None:
    """Hide some views until a run has brought them up to date."""
    connection.executemany("UPDATE view SET generation = 0 WHERE id = ?", ((view_id,) for view_id in view_ids))


def set_pending(connection: sqlite3.Connection, view_id: int, pending: int) -> None:
    """Record how many files of a view a run still has to read."""
    connection.execute("UPDATE view SET pending = ? WHERE id = ?", (pending, view_id))


def set_origin(connection: sqlite3.Connection, view_id: int, branch: str, revision: str) -> None:
    """Record the branch, and unless it is a checkout the commit, that a view's files were read from."""
    connection.execute("UPDATE view SET branch = ?, revision = ? WHERE id = ?", (branch, revision, view_id))


def iter_files(connection: sqlite3.Connection, view_id: int) -> Iterable[FileRow]:
    """Yield the files of a view, in any order."""
    rows = connection.execute(
        "SELECT path, blob_id, size, mtime_ns, racy, reason, ctime_ns FROM file WHERE view_id = ?", (view_id,)
    )
    # Same as `FileRow(...)` in half the time; comparing a project reads all of them.
    return (_new(FileRow, (path_of(path), *rest)) for path, *rest in rows)


def find_files(connection: sqlite3.Connection, view_id: int, paths: Iterable[str]) -> dict[str, FileRow]:
    """Return the rows of some files in a view, by path."""
    found = {}
    for part in in_parts([os.fsencode(path) for path in paths]):
        rows = connection.execute(
            f"""SELECT path.path, blob_id, size, mtime_ns, racy, reason, ctime_ns
                FROM path CROSS JOIN entry ON entry.path_id = path.id
                WHERE view_id = ? AND path.path IN ({", ".join("?" * len(part))})""",
            (view_id, *part),
        )
        for raw, *rest in rows:
            path = path_of(raw)
            found[path] = FileRow(path, *rest)
    return found


def count_files(connection: sqlite3.Connection, view_id: int) -> int:
    """Return how many files a view shows, without those that were looked at and skipped."""
    query = "SELECT count(blob_id) FROM entry WHERE view_id = ?"
    count: int = connection.execute(query, (view_id,)).fetchone()[0]
    return count


def read_skipped(connection: sqlite3.Connection, view_id: int) -> list[Skipped]:
    """Return the files of a view that were skipped or only partly understood, with the reason."""
    rows = connection.execute(
        "SELECT path, reason FROM file WHERE view_id = ? AND blob_id IS NULL AND reason <> '' ORDER BY path", (view_id,)
    )
    left_out = [Skipped(path_of(path), reason) for path, reason in rows]
    notes = dict(connection.execute("SELECT id, note FROM blob WHERE note NOT IN ('', ?, ?)", ORDINARY_NOTES))
    if not notes:
        return left_out
    known = [(path, notes.get(blob_id)) for path, blob_id, *_ in files_in_view(connection, view_id)]
    return [*left_out, *(Skipped(path, _in_words(note)) for path, note in known if note)]


def _in_words(note: str) -> str:
    """Word the note on a parsed file: the parser gave up, unless the note says otherwise."""
    return note if note.startswith("only ") else f"searched as plain text: {note}"


def files_in_view(connection: sqlite3.Connection, view_id: int) -> Iterator[tuple[str, int, str, bool, int, int]]:
    """Yield every file that a view shows, in path order.

    Each is (path, blob id, language, whether a program wrote it, size, modification time at indexing).
    """
    rows = connection.execute(
        """SELECT path, blob_id, language, is_generated, size, mtime_ns
           FROM file JOIN blob ON blob.id = file.blob_id WHERE view_id = ? ORDER BY path""",
        (view_id,),
    )
    return (
        (path_of(path), blob_id, language, bool(generated), size, mtime_ns)
        for path, blob_id, language, generated, size, mtime_ns in rows
    )


def file_stamps(connection: sqlite3.Connection, view_name: str, blobs: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the (size, modification time) of a view's files at indexing.

    A file that by now has another blob is left out: a run has committed it but not published it yet.

    Args:
        blobs: the files, each with its blob.
    """
    stamps: dict[str, tuple[int, int]] = {}
    paths = list(blobs)
    for marks, part in in_lists([os.fsencode(path) for path in paths]):
        rows = connection.execute(
            # Querying the SQL view `file` instead takes five times as long.
            f"""SELECT path.path, blob_id, size, mtime_ns FROM path CROSS JOIN entry ON entry.path_id = path.id
                WHERE view_id = (SELECT id FROM view WHERE name = ?) AND path.path IN ({marks})""",
            (view_name, *part),
        )
        for raw, blob_id, size, mtime_ns in rows:
            if blobs[path := path_of(raw)] == blob_id:
                stamps[path] = (size, mtime_ns)
    return stamps


def count_totals(connection: sqlite3.Connection, view_id: int) -> tuple[int, int, dict[str, int]]:
    """Return a view's number of files and chunks, and its files by language."""
    rows = connection.execute(
        """SELECT blob.language, count(*), sum(blob.n_chunks) FROM entry JOIN blob ON blob.id = entry.blob_id
           WHERE entry.view_id = ? GROUP BY blob.language ORDER BY 2 DESC, 1""",
        (view_id,),
    ).fetchall()
    return sum(row[1] for row in rows), sum(row[2] for row in rows), {row[0]: row[1] for row in rows}


def live_blob_ids(connection: sqlite3.Connection) -> set[int]:
    """Return the blobs that some view shows."""
    return {row[0] for row in connection.execute("SELECT DISTINCT blob_id FROM entry WHERE blob_id IS NOT NULL")}


def put_files(connection: sqlite3.Connection, view_id: int, files: Sequence[FileRow]) -> None:
    """Add or replace files of a view."""
    _ensure_paths(connection, [file.path for file in files])
    connection.executemany(
        """INSERT OR REPLACE INTO entry (view_id, path_id, blob_id, size, mtime_ns, racy, reason, ctime_ns)
           SELECT ?, id, ?, ?, ?, ?, ?, ? FROM path WHERE path = ?""",
        ((view_id, *file[1:], os.fsencode(file.path)) for file in files),
    )


def drop_files(connection: sqlite3.Connection, view_id: int, paths: Iterable[str]) -> None:
    """Remove files from a view; their blobs stay until garbage is collected."""
    connection.executemany(
        "DELETE FROM entry WHERE view_id = ? AND path_id = (SELECT id FROM path WHERE path = ?)",
        ((view_id, os.fsencode(path)) for path in paths),
    )


def _ensure_paths(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    connection.executemany("INSERT OR IGNORE INTO path (path) VALUES (?)", ((os.fsencode(path),) for path in paths))


def put_origins(connection: sqlite3.Connection, blobs: dict[Origin, int]) -> None:
    """Record the blobs of git objects, by path."""
    _ensure_paths(connection, [origin.path for origin in blobs])
    connection.executemany(
        "INSERT OR REPLACE INTO origin SELECT id, ?, ?, ? FROM path WHERE path = ?",
        ((origin.object_id, origin.size, blob_id, os.fsencode(origin.path)) for origin, blob_id in blobs.items()),
    )


def find_origin(connection: sqlite3.Connection, origin: Origin) -> int | None:
    """Return the blob of a git object at a path, None if unknown.

    A file with another size than the object went through a filter on checkout, so it is another blob.
    """
    row = connection.execute(
        """SELECT blob_id FROM origin
           WHERE path_id = (SELECT id FROM path WHERE path = ?) AND object = ? AND size = ?""",
        (os.fsencode(origin.path), origin.object_id, origin.size),
    ).fetchone()
    return row[0] if row else None
