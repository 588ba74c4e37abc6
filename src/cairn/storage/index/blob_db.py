"""All SQL of blobs: stores, finds and drops a content with everything derived from it."""

from __future__ import annotations

import marshal
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cairn.storage.connection import in_parts
from cairn.storage.index.chunk_db import ORDINAL_BITS
from cairn.storage.index.meta_db import HIGHEST_DROPPED_BLOB, read_meta, write_meta
from cairn.storage.index.rows import number
from cairn.types import ParsedFile

_MARK_BYTES = 4  # bytes of the checksum before facts, which ties them to their content


def find_blob(connection: sqlite3.Connection, content_hash: bytes, language: str) -> int | None:
    """Return the id of the blob with this content, parsed as this language."""
    row = connection.execute("SELECT id FROM blob WHERE hash = ? AND language = ?", (content_hash, language)).fetchone()
    return row[0] if row else None


def read_blob_hashes(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, bytes]:
    """Return the content hashes of blobs."""
    found: dict[int, bytes] = {}
    for part in in_parts(blob_ids):
        marks = ", ".join("?" * len(part))
        found |= dict(connection.execute(f"SELECT id, hash FROM blob WHERE id IN ({marks})", part))
    return found


def next_blob_id(connection: sqlite3.Connection) -> int:
    """Return an id above those of all past and present blobs, so that no id is ever reused."""
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM blob").fetchone()[0]
    return max(highest, number(read_meta(connection).get(HIGHEST_DROPPED_BLOB, "0"))) + 1


def put_blob(
    connection: sqlite3.Connection,
    blob_id: int,
    content_hash: bytes,
    parsed: ParsedFile,
    keys: Sequence[int],
    segment_id: int,
    *,
    is_generated: bool = False,
) -> None:
    """Store a parsed content; `keys` are the stable numbers of its chunks. `is_generated`: judged by the content."""
    first_id = blob_id << ORDINAL_BITS
    chunk_of = [place for place, chunk in enumerate(parsed.chunks) for _ in range(*chunk.definitions)]
    definitions = [
        (first_id + ordinal, first_id + chunk_of[ordinal], *values, *span)
        for ordinal, (*values, span) in enumerate(parsed.definitions)
    ]
    chunks = [
        (first_id + ordinal, key, kind, owner, part, *own, header, *span, *lines[0])
        for ordinal, ((kind, owner, part, own, header, span, lines), key) in enumerate(
            zip(parsed.chunks, keys, strict=True)
        )
    ]
    blob = (blob_id, content_hash, parsed.language, parsed.note, len(parsed.chunks), int(is_generated))
    connection.execute(
        """INSERT INTO blob (id, hash, language, note, n_chunks, is_generated, segment_id, checksum)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (*blob, segment_id, _checksum(blob, definitions, chunks)),
    )
    connection.executemany("INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", definitions)
    connection.executemany("INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chunks)


def _checksum(blob: tuple[Any, ...], definitions: list[tuple[Any, ...]], chunks: list[tuple[Any, ...]]) -> int:
    """Return a checksum above 0 of a blob's rows, since SQLite does not notice altered values.

    Version 2 of marshal writes equal values as equal bytes.
    """
    return 1 + zlib.crc32(marshal.dumps((blob, definitions, chunks), 2))


def iter_damaged_blobs(connection: sqlite3.Connection) -> Iterator[int]:
    """Yield the blobs whose rows differ from what was written. Blobs from before there were checksums pass."""
    for *blob, checksum in connection.execute(
        "SELECT id, hash, language, note, n_chunks, is_generated, checksum FROM blob ORDER BY id"
    ):
        bounds = (blob[0] << ORDINAL_BITS, (blob[0] + 1) << ORDINAL_BITS)
        definitions, chunks = (
            connection.execute(f"SELECT * FROM {table} WHERE id >= ? AND id < ? ORDER BY id", bounds).fetchall()
            for table in ("definition", "chunk")
        )
        if checksum and checksum != _checksum(tuple(blob), definitions, chunks):
            yield blob[0]


def count_noted(connection: sqlite3.Connection, note: str) -> int:
    """Count the blobs that have a note."""
    count: int = connection.execute("SELECT count(*) FROM blob WHERE note = ?", (note,)).fetchone()[0]
    return count


def drop_blobs(connection: sqlite3.Connection, blob_ids: Iterable[int]) -> None:
    """Delete blobs with everything derived from them; their ids are not reused.

    The caller must increment the generation, since readers of the last one no longer find them.
    """
    write_meta(connection, {HIGHEST_DROPPED_BLOB: str(next_blob_id(connection) - 1)})
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


def count_live_chunks(connection: sqlite3.Connection) -> int:
    """Return the total number of chunks of the blobs that some view shows."""
    count: int = connection.execute(
        "SELECT coalesce(sum(n_chunks), 0) FROM blob WHERE EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id)"
    ).fetchone()[0]
    return count


def read_facts(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, bytes]:
    """Return the stored facts of blobs; see `cairn.source.references`.

    Facts that are damaged or belong to another content are left out, and are then found again.
    """
    found: dict[int, bytes] = {}
    for part in in_parts(blob_ids):
        marks = ", ".join("?" * len(part))
        rows = connection.execute(
            f"SELECT id, hash, data FROM facts JOIN blob ON blob.id = facts.blob_id WHERE id IN ({marks})", part
        )
        for blob_id, content_hash, data in rows:
            if isinstance(data, bytes) and data[:_MARK_BYTES] == _facts_mark(content_hash, data[_MARK_BYTES:]):
                found[blob_id] = data[_MARK_BYTES:]
    return found


def _facts_mark(content_hash: bytes, data: bytes) -> bytes:
    return zlib.crc32(data, zlib.crc32(content_hash)).to_bytes(_MARK_BYTES, "little")


def blobs_with_facts(connection: sqlite3.Connection, blob_ids: Sequence[int], made_by: bytes) -> set[int]:
    """Return the blobs whose stored facts begin with `made_by`."""
    found: set[int] = set()
    for part in in_parts(blob_ids):
        found.update(blob_id for blob_id, data in read_facts(connection, part).items() if data.startswith(made_by))
    return found


def put_facts(connection: sqlite3.Connection, facts: Iterable[tuple[int, bytes, bytes]]) -> None:
    """Store facts, as (blob id, hash of the content they were read from, facts).

    Facts of a blob that has gone, or whose id now belongs to another content, are dropped.
    """
    connection.executemany(
        "INSERT OR REPLACE INTO facts SELECT id, ? FROM blob WHERE id = ? AND hash = ?",
        ((_facts_mark(content_hash, data) + data, blob_id, content_hash) for blob_id, content_hash, data in facts),
    )
