"""All SQL of the index: blobs with their definitions and chunks, views with their files, segments, the generation."""

from __future__ import annotations

import marshal
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from cairn.storage.migrations import Migration
from cairn.types import Chunk, Definition, FileStat, ParsedFile, Skipped, Span

_T = TypeVar("_T")

# A definition's or chunk's id is its blob's id shifted left, plus its place in the file.
ORDINAL_BITS = 20
MAX_ORDINAL = (1 << ORDINAL_BITS) - 1
_MAX_VARIABLES = 500
_IDENTITY, _HIGHEST_DROPPED = "identity", "highest_dropped_blob"

MIGRATIONS = (
    Migration(
        "first schema",
        (
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            """CREATE TABLE segment (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
                n_rows INTEGER NOT NULL, n_bytes INTEGER NOT NULL)""",
            """CREATE TABLE blob (
                id INTEGER PRIMARY KEY, hash BLOB NOT NULL, language TEXT NOT NULL, note TEXT NOT NULL,
                n_chunks INTEGER NOT NULL, segment_id INTEGER NOT NULL, UNIQUE (hash, language))""",
            """CREATE TABLE definition (
                id INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
                qualified_name TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL, parent INTEGER NOT NULL,
                start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
                start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL)""",
            "CREATE INDEX definition_name ON definition (name COLLATE NOCASE)",
            """CREATE TABLE chunk (
                id INTEGER PRIMARY KEY, key INTEGER NOT NULL, kind TEXT NOT NULL, owner INTEGER NOT NULL,
                part INTEGER NOT NULL, first_definition INTEGER NOT NULL, end_definition INTEGER NOT NULL,
                header TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
                start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL,
                first_line INTEGER NOT NULL, last_line INTEGER NOT NULL)""",
            "CREATE INDEX chunk_key ON chunk (key)",
            "CREATE TABLE view (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, branch TEXT NOT NULL DEFAULT '')",
            """CREATE TABLE file (
                view_id INTEGER NOT NULL, path BLOB NOT NULL, blob_id INTEGER, size INTEGER NOT NULL,
                mtime_ns INTEGER NOT NULL, racy INTEGER NOT NULL, reason TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (view_id, path)) WITHOUT ROWID""",
            "CREATE INDEX file_blob ON file (blob_id)",
        ),
    ),
    Migration(
        "a generation for each view",
        (
            "ALTER TABLE view ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE view ADD COLUMN n_bytes INTEGER NOT NULL DEFAULT 0",
        ),
    ),
    Migration("files a run has yet to read", ("ALTER TABLE view ADD COLUMN pending INTEGER NOT NULL DEFAULT 0",)),
    Migration(
        "vectors of other models beside the bundled one's",  # their SQL is in overlay_db.py
        (
            """CREATE TABLE model (
                id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL, settings TEXT NOT NULL,
                dimensions INTEGER NOT NULL DEFAULT 0, n_embedded INTEGER NOT NULL DEFAULT 0,
                seconds REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', error_at REAL NOT NULL DEFAULT 0)""",
            """CREATE TABLE overlay (
                id INTEGER PRIMARY KEY, model_id INTEGER NOT NULL, name TEXT NOT NULL UNIQUE,
                n_rows INTEGER NOT NULL, n_bytes INTEGER NOT NULL)""",
            """CREATE TABLE overlay_blob (
                blob_id INTEGER NOT NULL, model_id INTEGER NOT NULL, overlay_id INTEGER NOT NULL,
                PRIMARY KEY (blob_id, model_id)) WITHOUT ROWID""",
        ),
    ),
    Migration("what each blob refers to", ("CREATE TABLE facts (blob_id INTEGER PRIMARY KEY, data BLOB NOT NULL)",)),
    Migration(
        "views that share their paths, and views of revisions",
        (
            "DROP TABLE file",
            "DELETE FROM view",
            "ALTER TABLE view ADD COLUMN revision TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE view ADD COLUMN layout TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE view ADD COLUMN layout_bytes INTEGER NOT NULL DEFAULT 0",
            "CREATE TABLE path (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE)",
            """CREATE TABLE entry (
                view_id INTEGER NOT NULL, path_id INTEGER NOT NULL, blob_id INTEGER, size INTEGER NOT NULL,
                mtime_ns INTEGER NOT NULL, racy INTEGER NOT NULL, reason TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (view_id, path_id)) WITHOUT ROWID""",
            "CREATE INDEX entry_blob ON entry (blob_id)",
            """CREATE VIEW file AS
                SELECT view_id, path.path AS path, blob_id, size, mtime_ns, racy, reason
                FROM entry JOIN path ON path.id = entry.path_id""",
            """CREATE TABLE origin (
                path_id INTEGER NOT NULL, object BLOB NOT NULL, size INTEGER NOT NULL, blob_id INTEGER NOT NULL,
                PRIMARY KEY (path_id, object)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        "since when something is garbage",  # its SQL is in garbage_db.py
        (
            """CREATE TABLE garbage (
                kind TEXT NOT NULL, id INTEGER NOT NULL, since REAL NOT NULL,
                PRIMARY KEY (kind, id)) WITHOUT ROWID""",
        ),
    ),
    Migration(
        "when a file's entry was changed",  # which nobody can set, unlike the time of its content
        (
            "ALTER TABLE entry ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
            "DROP VIEW file",
            """CREATE VIEW file AS
                SELECT view_id, path.path AS path, blob_id, size, mtime_ns, racy, reason, ctime_ns
                FROM entry JOIN path ON path.id = entry.path_id""",
        ),
    ),
    Migration("checksums of rows", ("ALTER TABLE blob ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",)),
)


class FileRow(NamedTuple):
    """One file of a view. `blob_id` is None for a file that was looked at and skipped, for the `reason` given.

    `racy` marks a file that changed so shortly before it was read that size and time cannot vouch for its content.
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
        """Tell whether nothing says that the file on disk has another content than this row."""
        return not self.racy and self.is_stamped(file)

    def is_stamped(self, file: FileStat) -> bool:
        """Tell whether size and times are those of the file on disk."""
        return (self.size, self.mtime_ns, self.ctime_ns) == (file.size, file.mtime_ns, file.ctime_ns)


class SegmentRow(NamedTuple):
    """One derived segment file that belongs to the index."""

    id: int
    name: str
    n_rows: int
    n_bytes: int


class ChunkRow(NamedTuple):
    """A chunk as stored, with what is needed to show and to fetch it. `definitions` begin in the chunk."""

    id: int
    key: int
    chunk: Chunk
    definitions: tuple[Definition, ...]
    owner: Definition | None

    @property
    def blob_id(self) -> int:
        """The blob the chunk was cut from."""
        return self.id >> ORDINAL_BITS


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the key-value pairs that describe the index as a whole."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: sqlite3.Connection, values: dict[str, str]) -> None:
    """Set some key-value pairs."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def generation(connection: sqlite3.Connection) -> int:
    """Return the number of the newest committed state, 0 before the first."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return int(row[0]) if row else 0


def ensure_view(connection: sqlite3.Connection, name: str) -> int:
    """Return the id of the view called `name`, made when it is new."""
    connection.execute("INSERT OR IGNORE INTO view (name) VALUES (?)", (name,))
    view_id: int = connection.execute("SELECT id FROM view WHERE name = ?", (name,)).fetchone()[0]
    return view_id


class ViewRow(NamedTuple):
    """One view; `generation` is the one its file of arrays was written in, 0 before the first.

    `pending` counts the files that a run had not read yet when it committed last. `revision` is the full hash of the
    commit whose files the view shows, empty for a checkout, whose `name` is its folder. `layout` names the file of the
    arrays that views with the same paths share.
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


def find_view(connection: sqlite3.Connection, name: str) -> ViewRow | None:
    """Return the view called `name`, None when there is none."""
    return next(_view_rows(connection, "WHERE name = ?", (name,)), None)


def read_views(connection: sqlite3.Connection) -> list[ViewRow]:
    """Return all views, those that changed last first."""
    return list(_view_rows(connection, "ORDER BY generation DESC, id", ()))


def _view_rows(connection: sqlite3.Connection, condition: str, values: tuple[str, ...]) -> Iterator[ViewRow]:
    columns = ", ".join(ViewRow._fields)
    for row in connection.execute(f"SELECT {columns} FROM view {condition}", values):
        yield ViewRow(*row)


def rename_view(connection: sqlite3.Connection, view_id: int, name: str) -> None:
    """Give a view another name: its folder was moved."""
    connection.execute("UPDATE view SET name = ? WHERE id = ?", (name, view_id))


class Published(NamedTuple):
    """The derived files of a view in one generation: the sizes of both, and the name of the shared one."""

    n_bytes: int
    layout: str
    layout_bytes: int


def publish_view(connection: sqlite3.Connection, view_id: int, generation: int, published: Published) -> None:
    """Start a generation of the index, in which the arrays of one view were written anew."""
    connection.execute(
        "UPDATE view SET generation = ?, n_bytes = ?, layout = ?, layout_bytes = ? WHERE id = ?",
        (generation, *published, view_id),
    )
    write_meta(connection, {"generation": str(generation)})


def set_pending(connection: sqlite3.Connection, view_id: int, pending: int) -> None:
    """Record how many files of a view a run has yet to read."""
    connection.execute("UPDATE view SET pending = ? WHERE id = ?", (pending, view_id))


def set_origin(connection: sqlite3.Connection, view_id: int, branch: str, revision: str) -> None:
    """Record which branch, and which commit if it is no checkout, the files of a view were read from."""
    connection.execute("UPDATE view SET branch = ?, revision = ? WHERE id = ?", (branch, revision, view_id))


def iter_files(connection: sqlite3.Connection, view_id: int) -> Iterable[FileRow]:
    """Yield the files of a view in path order."""
    rows = connection.execute(
        "SELECT path, blob_id, size, mtime_ns, racy, reason, ctime_ns FROM file WHERE view_id = ? ORDER BY path",
        (view_id,),
    )
    for path, *rest in rows:
        yield FileRow(os.fsdecode(path), *rest)


def read_skipped(connection: sqlite3.Connection, view_id: int) -> list[Skipped]:
    """Return the files of a view that were read and left out, with the reason."""
    rows = connection.execute(
        "SELECT path, reason FROM file WHERE view_id = ? AND blob_id IS NULL AND reason <> '' ORDER BY path", (view_id,)
    )
    return [Skipped(os.fsdecode(path), reason) for path, reason in rows]


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


class Origin(NamedTuple):
    """What git calls the content of a path: the id of the object, and its size in bytes."""

    path: str
    object_id: bytes
    size: int


def put_origins(connection: sqlite3.Connection, blobs: dict[Origin, int]) -> None:
    """Remember which blob the content of an object is, at a path."""
    _ensure_paths(connection, [origin.path for origin in blobs])
    connection.executemany(
        "INSERT OR REPLACE INTO origin SELECT id, ?, ?, ? FROM path WHERE path = ?",
        ((one.object_id, one.size, blob_id, os.fsencode(one.path)) for one, blob_id in blobs.items()),
    )


def find_origin(connection: sqlite3.Connection, origin: Origin) -> int | None:
    """Return the blob that the content of an object is at a path, None when that is not known.

    A file whose size is not the object's was changed by a filter on its way to the disk, and is another blob.
    """
    row = connection.execute(
        """SELECT blob_id FROM origin
           WHERE path_id = (SELECT id FROM path WHERE path = ?) AND object = ? AND size = ?""",
        (os.fsencode(origin.path), origin.object_id, origin.size),
    ).fetchone()
    return row[0] if row else None


def find_blob(connection: sqlite3.Connection, content_hash: bytes, language: str) -> int | None:
    """Return the id of the blob with this content parsed as this language."""
    row = connection.execute("SELECT id FROM blob WHERE hash = ? AND language = ?", (content_hash, language)).fetchone()
    return row[0] if row else None


def read_blob_hashes(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, bytes]:
    """Return the hash of the content of blobs."""
    found: dict[int, bytes] = {}
    for part in _parts(blob_ids):
        marks = ", ".join("?" * len(part))
        found |= dict(connection.execute(f"SELECT id, hash FROM blob WHERE id IN ({marks})", part))
    return found


def next_blob_id(connection: sqlite3.Connection) -> int:
    """Return an id above that of every blob there is or was: what is kept under an id never means another content."""
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM blob").fetchone()[0]
    return max(highest, int(read_meta(connection).get(_HIGHEST_DROPPED, "0"))) + 1


def identity(connection: sqlite3.Connection) -> str:
    """Return what tells this database from any other, as one made after this one was lost; empty before its first run.

    Ids of blobs and views mean the same as long as it stays.
    """
    return read_meta(connection).get(_IDENTITY, "")


def put_blob(
    connection: sqlite3.Connection,
    blob_id: int,
    content_hash: bytes,
    parsed: ParsedFile,
    keys: Sequence[int],
    segment_id: int,
) -> None:
    """Store what one content yields; `keys` are the stable numbers of its chunks."""
    first_id = blob_id << ORDINAL_BITS
    chunk_of = [place for place, chunk in enumerate(parsed.chunks) for _ in range(*chunk.definitions)]
    definitions = [
        (
            first_id + ordinal, first_id + chunk_of[ordinal],
            one.kind, one.name, one.qualified_name, one.signature, one.doc, one.parent,
            one.span.start_line, one.span.end_line, one.span.start_byte, one.span.end_byte,
        )
        for ordinal, one in enumerate(parsed.definitions)
    ]  # fmt: skip
    chunks = [
        (
            first_id + ordinal, key, one.kind, one.owner, one.part, *one.definitions, one.header,
            one.span.start_line, one.span.end_line, one.span.start_byte, one.span.end_byte, *one.lines[0],
        )
        for ordinal, (one, key) in enumerate(zip(parsed.chunks, keys, strict=True))
    ]  # fmt: skip
    blob = (blob_id, content_hash, parsed.language, parsed.note, len(parsed.chunks))
    connection.execute(
        """INSERT INTO blob (id, hash, language, note, n_chunks, segment_id, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (*blob, segment_id, _checksum(blob, definitions, chunks)),
    )
    connection.executemany("INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", definitions)
    connection.executemany("INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chunks)


def _checksum(blob: tuple[Any, ...], definitions: list[tuple[Any, ...]], chunks: list[tuple[Any, ...]]) -> int:
    """Return a number above 0 that changes with any value of the rows of a blob: SQLite itself notices no such change.

    Version 2 of marshal writes equal values as equal bytes.
    """
    return 1 + zlib.crc32(marshal.dumps((blob, definitions, chunks), 2))


def iter_damaged_blobs(connection: sqlite3.Connection) -> Iterator[int]:
    """Yield the blobs whose rows are not what was written. Those written before there were checksums pass."""
    for *blob, checksum in connection.execute(
        "SELECT id, hash, language, note, n_chunks, checksum FROM blob ORDER BY id"
    ):
        bounds = (blob[0] << ORDINAL_BITS, (blob[0] + 1) << ORDINAL_BITS)
        definitions, chunks = (
            connection.execute(f"SELECT * FROM {table} WHERE id >= ? AND id < ? ORDER BY id", bounds).fetchall()
            for table in ("definition", "chunk")
        )
        if checksum and checksum != _checksum(tuple(blob), definitions, chunks):
            yield blob[0]


def read_facts(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, bytes]:
    """Return what blobs refer to, for those of which it was stored; see `cairn.source.references`."""
    found: dict[int, bytes] = {}
    for part in _parts(blob_ids):
        marks = ", ".join("?" * len(part))
        found |= dict(connection.execute(f"SELECT blob_id, data FROM facts WHERE blob_id IN ({marks})", part))
    return found


def put_facts(connection: sqlite3.Connection, facts: Iterable[tuple[int, bytes, bytes]]) -> None:
    """Store what blobs refer to, as (blob id, hash of the content it was read from, facts).

    A blob that is gone meanwhile, or whose id was given to another content, gets none.
    """
    connection.executemany(
        "INSERT OR REPLACE INTO facts SELECT id, ? FROM blob WHERE id = ? AND hash = ?",
        ((data, blob_id, content_hash) for blob_id, content_hash, data in facts),
    )


def read_definitions(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, list[Definition]]:
    """Return the definitions of blobs in reading order; a blob without any is left out."""
    found: dict[int, list[Definition]] = {}
    if len(blob_ids) > _MAX_VARIABLES:  # one scan is faster than so many look-ups
        wanted = set(blob_ids)
        for row in connection.execute(f"SELECT {_DEFINITION_COLUMNS} FROM definition ORDER BY id"):
            if (blob_id := row[0] >> ORDINAL_BITS) in wanted:
                found.setdefault(blob_id, []).append(_definition(row[1:]))
        return found
    for blob_id in blob_ids:
        bounds = (blob_id << ORDINAL_BITS, (blob_id + 1) << ORDINAL_BITS)
        rows = connection.execute(
            f"SELECT {_DEFINITION_COLUMNS} FROM definition WHERE id >= ? AND id < ? ORDER BY id", bounds
        )
        if definitions := [_definition(row[1:]) for row in rows]:
            found[blob_id] = definitions
    return found


def read_segments(connection: sqlite3.Connection) -> list[SegmentRow]:
    """Return the segments of the current generation."""
    return [SegmentRow(*row) for row in connection.execute("SELECT id, name, n_rows, n_bytes FROM segment ORDER BY id")]


def put_segment(connection: sqlite3.Connection, name: str, n_rows: int, n_bytes: int) -> int:
    """Register a segment file and return its id."""
    cursor = connection.execute("INSERT INTO segment (name, n_rows, n_bytes) VALUES (?, ?, ?)", (name, n_rows, n_bytes))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def replace_segments(connection: sqlite3.Connection, old: Sequence[int], new: int) -> None:
    """Hand the blobs of merged segments to the merged one."""
    marks = ", ".join("?" * len(old))
    connection.execute(f"UPDATE blob SET segment_id = ? WHERE segment_id IN ({marks})", (new, *old))
    connection.execute(f"DELETE FROM segment WHERE id IN ({marks})", tuple(old))


def live_blob_ids(connection: sqlite3.Connection) -> set[int]:
    """Return the blobs that stand in some view."""
    return {row[0] for row in connection.execute("SELECT DISTINCT blob_id FROM entry WHERE blob_id IS NOT NULL")}


def count_live_chunks(connection: sqlite3.Connection) -> int:
    """Return how many chunks the blobs that stand in some view have together."""
    count: int = connection.execute(
        "SELECT coalesce(sum(n_chunks), 0) FROM blob WHERE EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id)"
    ).fetchone()[0]
    return count


def drop_blobs(connection: sqlite3.Connection, blob_ids: Iterable[int]) -> None:
    """Delete blobs with all they yielded; their ids are not given again."""
    write_meta(connection, {_HIGHEST_DROPPED: str(next_blob_id(connection) - 1)})
    for blob_id in blob_ids:
        bounds = (blob_id << ORDINAL_BITS, (blob_id + 1) << ORDINAL_BITS)
        connection.execute("DELETE FROM definition WHERE id >= ? AND id < ?", bounds)
        connection.execute("DELETE FROM chunk WHERE id >= ? AND id < ?", bounds)
        connection.execute("DELETE FROM facts WHERE blob_id = ?", (blob_id,))
        connection.execute("DELETE FROM blob WHERE id = ?", (blob_id,))
        connection.execute("DELETE FROM overlay_blob WHERE blob_id = ?", (blob_id,))
    connection.execute("DELETE FROM origin WHERE blob_id NOT IN (SELECT id FROM blob)")
    connection.execute(
        "DELETE FROM path WHERE id NOT IN (SELECT path_id FROM entry) AND id NOT IN (SELECT path_id FROM origin)"
    )


def drop_segment_blobs(connection: sqlite3.Connection, segment_ids: Sequence[int]) -> None:
    """Forget blobs whose segment file is lost, and the files that showed them, so the next run reads them again."""
    for segment_id in segment_ids:
        lost = [row[0] for row in connection.execute("SELECT id FROM blob WHERE segment_id = ?", (segment_id,))]
        connection.execute(
            "DELETE FROM entry WHERE blob_id IN (SELECT id FROM blob WHERE segment_id = ?)", (segment_id,)
        )
        drop_blobs(connection, lost)
        connection.execute("DELETE FROM segment WHERE id = ?", (segment_id,))


def count_totals(connection: sqlite3.Connection, view_id: int) -> tuple[int, int, dict[str, int]]:
    """Return the files, the chunks and the files by language that a view holds."""
    rows = connection.execute(
        """SELECT blob.language, count(*), sum(blob.n_chunks) FROM entry JOIN blob ON blob.id = entry.blob_id
           WHERE entry.view_id = ? GROUP BY blob.language ORDER BY 2 DESC, 1""",
        (view_id,),
    ).fetchall()
    return sum(row[1] for row in rows), sum(row[2] for row in rows), {row[0]: row[1] for row in rows}


def shown_files(connection: sqlite3.Connection, view_id: int) -> Iterator[tuple[str, int, str]]:
    """Yield (path, blob id, language) of every file that a view shows, in path order."""
    rows = connection.execute(
        """SELECT path, blob_id, language FROM file JOIN blob ON blob.id = file.blob_id
           WHERE view_id = ? ORDER BY path""",
        (view_id,),
    )
    return ((os.fsdecode(path), blob_id, language) for path, blob_id, language in rows)


_CHUNK_COLUMNS = """id, key, kind, owner, part, first_definition, end_definition, header,
    start_line, end_line, start_byte, end_byte, first_line, last_line"""
_DEFINITION_COLUMNS = """id, kind, name, qualified_name, signature, doc, parent,
    start_line, end_line, start_byte, end_byte"""


def read_chunks(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, ChunkRow]:
    """Return chunks by id, with their definitions; ids that are not there are left out."""
    rows: list[tuple[Any, ...]] = []
    for part in _parts(ids):
        marks = ", ".join("?" * len(part))
        rows += connection.execute(f"SELECT {_CHUNK_COLUMNS} FROM chunk WHERE id IN ({marks})", part)
    return {row.id: row for row in _chunk_rows(connection, rows)}


def chunks_by_key(connection: sqlite3.Connection, key: int) -> list[ChunkRow]:
    """Return the chunks with a stable number: one, or several where files share a text."""
    rows = connection.execute(f"SELECT {_CHUNK_COLUMNS} FROM chunk WHERE key = ? ORDER BY id", (key,)).fetchall()
    return _chunk_rows(connection, rows)


def chunks_of_blob(connection: sqlite3.Connection, blob_id: int) -> list[tuple[int, int, int]]:
    """Return (chunk id, first line, last line) of a blob's chunks in reading order."""
    return connection.execute(
        "SELECT id, first_line, last_line FROM chunk WHERE id >= ? AND id < ? ORDER BY id",
        (blob_id << ORDINAL_BITS, (blob_id + 1) << ORDINAL_BITS),
    ).fetchall()


class NamedDefinition(NamedTuple):
    """A definition found by its name: which one of which chunk."""

    chunk_id: int
    ordinal: int
    kind: str
    name: str
    qualified_name: str


def find_definitions(connection: sqlite3.Connection, name: str) -> Iterator[NamedDefinition]:
    """Yield the definitions called `name`, in any case, whichever view shows them."""
    rows = connection.execute(
        "SELECT chunk, id, kind, name, qualified_name FROM definition WHERE name = ? COLLATE NOCASE", (name,)
    )
    for row in rows:
        yield NamedDefinition(row[0], row[1] & MAX_ORDINAL, *row[2:])


def exact_definitions(connection: sqlite3.Connection, name: str) -> list[tuple[int, int]]:
    """Return (blob id, definition ordinal) of every definition called exactly `name`, in the order of the blobs."""
    rows = connection.execute(
        "SELECT id FROM definition WHERE name = ? COLLATE NOCASE AND name = ? COLLATE BINARY ORDER BY id", (name, name)
    )
    return [(row[0] >> ORDINAL_BITS, row[0] & MAX_ORDINAL) for row in rows]


def definition_names(connection: sqlite3.Connection) -> list[str]:
    """Return the name of every definition, each once."""
    return [row[0] for row in connection.execute("SELECT DISTINCT name FROM definition")]


def definitions_of_kinds(connection: sqlite3.Connection, kinds: Sequence[str]) -> list[tuple[int, int]]:
    """Return (chunk id, definition ordinal) of every definition of one of these kinds, in reading order."""
    known = [kind for kind in kinds if kind.isascii()]  # SQLite takes no text that is no UTF-8
    marks = ", ".join("?" * len(known))
    rows = connection.execute(f"SELECT chunk, id FROM definition WHERE kind IN ({marks}) ORDER BY id", known)
    return [(row[0], row[1] & MAX_ORDINAL) for row in rows]


def chunks_of_length(connection: sqlite3.Connection, least: int, most: int) -> list[tuple[int, int]]:
    """Return (chunk id, lines) for every definition that has from `least` to `most` lines and begins in the chunk."""
    return connection.execute(
        """SELECT chunk, end_line - start_line + 1 FROM definition
           WHERE end_line - start_line + 1 BETWEEN ? AND ? ORDER BY id""",
        (least, most),
    ).fetchall()


def chunks_of_definitions(connection: sqlite3.Connection, ids: Sequence[int]) -> set[int]:
    """Return the chunks that some definitions begin in."""
    found: set[int] = set()
    for part in _parts(ids):
        marks = ", ".join("?" * len(part))
        found |= {row[0] for row in connection.execute(f"SELECT chunk FROM definition WHERE id IN ({marks})", part)}
    return found


def _chunk_rows(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[ChunkRow]:
    """Put chunks together with the definitions that begin in them and the one they belong to."""
    wanted: set[int] = set()
    for row in rows:
        first_id = row[0] >> ORDINAL_BITS << ORDINAL_BITS
        wanted.update(first_id + ordinal for ordinal in (row[3], *range(row[5], row[6])) if ordinal >= 0)
    definitions: dict[int, Definition] = {}
    for part in _parts(sorted(wanted)):
        marks = ", ".join("?" * len(part))
        for id_, *columns in connection.execute(
            f"SELECT {_DEFINITION_COLUMNS} FROM definition WHERE id IN ({marks})", part
        ):
            definitions[id_] = _definition(columns)
    result = []
    for id_, key, kind, owner, part_number, first, end, header, *spans in rows:
        first_id = id_ >> ORDINAL_BITS << ORDINAL_BITS
        chunk = Chunk(kind, owner, part_number, (first, end), header, Span(*spans[:4]), ((spans[4], spans[5]),))
        own = tuple(definitions[first_id + ordinal] for ordinal in range(first, end))
        result.append(ChunkRow(id_, key, chunk, own, definitions.get(first_id + owner) if owner >= 0 else None))
    return result


def _definition(columns: Sequence[Any]) -> Definition:
    kind, name, qualified_name, signature, doc, parent, *span = columns
    return Definition(kind, name, qualified_name, signature, doc, parent, Span(*span))


def clear(connection: sqlite3.Connection) -> None:
    """Empty the index, as the first run does, which is a new generation: who has the last one open finds nothing there.

    The vectors of other models stay, to be found again by the texts they belong to.
    """
    tables = ("entry", "origin", "path", "view", "chunk", "definition", "facts", "blob", "segment")
    for table in (*tables, "overlay_blob", "garbage"):
        connection.execute(f"DELETE FROM {table}")
    number = str(generation(connection) + 1)
    write_meta(connection, {_IDENTITY: os.urandom(16).hex(), _HIGHEST_DROPPED: "0", "generation": number})


def file_stamps(connection: sqlite3.Connection, view_name: str, paths: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the (size, modification time) that files of a view had when they were indexed."""
    stamps: dict[str, tuple[int, int]] = {}
    for part in _parts([os.fsencode(path) for path in paths]):
        marks = ", ".join("?" * len(part))
        rows = connection.execute(
            # Through the SQL view `file` the same takes five times as long.
            f"""SELECT path.path, size, mtime_ns FROM path CROSS JOIN entry ON entry.path_id = path.id
                WHERE view_id = (SELECT id FROM view WHERE name = ?) AND path.path IN ({marks})""",
            (view_name, *part),
        )
        stamps |= {os.fsdecode(path): (size, mtime_ns) for path, size, mtime_ns in rows}
    return stamps


def _parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield the values in portions that fit one statement."""
    for first in range(0, len(values), _MAX_VARIABLES):
        yield values[first : first + _MAX_VARIABLES]
