"""All SQL that reads chunks and definitions; `blob_db` writes them with their blob."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

from cairn.storage.connection import MAX_VARIABLES, in_lists
from cairn.types import Chunk, Definition, Span

# The id of a definition or chunk is its blob's id shifted left, plus its position in the file.
ORDINAL_BITS = 20
_new = tuple.__new__
MAX_ORDINAL = (1 << ORDINAL_BITS) - 1
_CHUNK_COLUMNS = """id, key, kind, owner, part, first_definition, end_definition, header,
    start_line, end_line, start_byte, end_byte, first_line, last_line"""
_NAMED = f"SELECT chunk, id & {MAX_ORDINAL}, kind, name, qualified_name FROM definition WHERE"
_FEW = 16  # definitions of one name, at most
_DEFINITION_COLUMNS = """id, kind, name, qualified_name, signature, doc, parent,
    start_line, end_line, start_byte, end_byte"""


class ChunkRow(NamedTuple):
    """A stored chunk, with what it takes to show and fetch it. `definitions` are those that begin in it."""

    id: int
    key: int
    chunk: Chunk
    definitions: tuple[Definition, ...]
    owner: Definition | None

    @property
    def blob_id(self) -> int:
        """The blob that the chunk is part of."""
        return self.id >> ORDINAL_BITS


class NamedDefinition(NamedTuple):
    """A definition found by name: its chunk, and its position in the blob."""

    chunk_id: int
    ordinal: int
    kind: str
    name: str
    qualified_name: str

    @property
    def id(self) -> int:
        """Its id in the index."""
        return (self.chunk_id >> ORDINAL_BITS << ORDINAL_BITS) + self.ordinal


def read_chunks(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, ChunkRow]:
    """Return chunks by id, with their definitions; unknown ids are left out."""
    rows: list[tuple[Any, ...]] = []
    for marks, part in in_lists(ids):
        rows += connection.execute(f"SELECT {_CHUNK_COLUMNS} FROM chunk WHERE id IN ({marks})", part)
    return {row.id: row for row in _chunk_rows(connection, rows)}


def read_spans(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Span]:
    """Return the spans of chunks by id; unknown ids are left out."""
    columns = "id, start_line, end_line, start_byte, end_byte"
    rows: list[tuple[int, int, int, int, int]] = []
    for marks, part in in_lists(ids):
        rows += connection.execute(f"SELECT {columns} FROM chunk WHERE id IN ({marks})", part)
    return {id_: Span(*span) for id_, *span in rows}


def chunks_by_key(connection: sqlite3.Connection, key: int) -> list[ChunkRow]:
    """Return the chunks with a stable number; several if files share a text."""
    rows = connection.execute(f"SELECT {_CHUNK_COLUMNS} FROM chunk WHERE key = ? ORDER BY id", (key,)).fetchall()
    return _chunk_rows(connection, rows)


def chunks_of_blob(connection: sqlite3.Connection, blob_id: int) -> list[tuple[int, int, int]]:
    """Return (chunk id, first line, last line) of a blob's chunks in reading order."""
    return connection.execute(
        "SELECT id, first_line, last_line FROM chunk WHERE id >= ? AND id < ? ORDER BY id",
        (blob_id << ORDINAL_BITS, (blob_id + 1) << ORDINAL_BITS),
    ).fetchall()


def chunks_of_length(connection: sqlite3.Connection, least: int, most: int) -> list[tuple[int, int]]:
    """Return (chunk id, lines) for every definition of `least` to `most` lines, with the chunk that it begins in."""
    return connection.execute(
        """SELECT chunk, end_line - start_line + 1 FROM definition
           WHERE end_line - start_line + 1 BETWEEN ? AND ? ORDER BY id""",
        (least, most),
    ).fetchall()


def blobs_with_long_chunks(connection: sqlite3.Connection, least: int) -> list[int]:
    """Return the blobs with a chunk that spans at least this many bytes."""
    found = connection.execute(
        f"SELECT DISTINCT id >> {ORDINAL_BITS} FROM chunk WHERE end_byte - start_byte >= ?",
        (least,),
    )
    return [blob_id for (blob_id,) in found]


def chunks_of_definitions(connection: sqlite3.Connection, ids: Sequence[int]) -> set[int]:
    """Return the chunks in which definitions begin."""
    found: set[int] = set()
    for marks, part in in_lists(ids):
        found |= {row[0] for row in connection.execute(f"SELECT chunk FROM definition WHERE id IN ({marks})", part)}
    return found


def read_definitions(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, list[Definition]]:
    """Return the definitions of blobs in reading order; a blob without any is left out."""
    found: dict[int, list[Definition]] = {}
    if len(blob_ids) > MAX_VARIABLES:  # one scan is faster than this many look-ups
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


def definitions_of_blob_called(
    connection: sqlite3.Connection, blob_id: int, names: Collection[str]
) -> list[Definition]:
    """Return a blob's definitions with one of some exact names, in reading order."""
    rows: list[tuple[Any, ...]] = []
    for name in names:
        rows += connection.execute(
            f"""SELECT {_DEFINITION_COLUMNS} FROM definition
               WHERE name = ? COLLATE NOCASE AND name = ? COLLATE BINARY AND id >= ? AND id < ?""",
            (name, name, blob_id << ORDINAL_BITS, (blob_id + 1) << ORDINAL_BITS),
        )
    return [_definition(row[1:]) for row in sorted(rows)]


def definitions_at(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Definition]:
    """Return definitions by id; unknown ids are left out."""
    found: dict[int, Definition] = {}
    for marks, part in in_lists(ids):
        rows = connection.execute(f"SELECT {_DEFINITION_COLUMNS} FROM definition WHERE id IN ({marks})", part)
        for row in rows:
            found[row[0]] = _definition(row[1:])
    return found


def iter_definitions(connection: sqlite3.Connection) -> Iterator[tuple[int, int, str, str]]:
    """Yield (blob id, ordinal, kind, name) of every definition, by blob and in reading order."""
    for id_, kind, name in connection.execute("SELECT id, kind, name FROM definition ORDER BY id"):
        yield id_ >> ORDINAL_BITS, id_ & MAX_ORDINAL, kind, name


def find_definitions(
    connection: sqlite3.Connection,
    name: str,
    are_shown: Callable[[Sequence[int]], Iterable[bool]] = lambda blob_ids: [True] * len(blob_ids),
) -> list[NamedDefinition]:
    """Return the definitions called `name`, in any case.

    Args:
        connection: of the index.
        name: the name.
        are_shown: tells which of some blobs count.
    """
    rows = connection.execute(f"{_NAMED} name = ? COLLATE NOCASE LIMIT {_FEW + 1}", (name,)).fetchall()
    if len(rows) <= _FEW:
        shown = compress(rows, are_shown([row[0] >> ORDINAL_BITS for row in rows]))
        return [_new(NamedDefinition, row) for row in shown]
    # Most may be in blobs of other views, so read only the SQL index of names first.
    found = connection.execute("SELECT id FROM definition WHERE name = ? COLLATE NOCASE", (name,))
    ids = [id_ for (id_,) in found]
    shown = compress(ids, are_shown([id_ >> ORDINAL_BITS for id_ in ids]))
    parts = (connection.execute(f"{_NAMED} id IN ({marks})", part) for marks, part in in_lists(list(shown)))
    return [_new(NamedDefinition, row) for part in parts for row in part]


def definitions_called(connection: sqlite3.Connection, name: str, most: int) -> list[NamedDefinition]:
    """Return at most `limit` definitions called exactly `name`, in any view."""
    rows = connection.execute(
        f"""SELECT chunk, id & {MAX_ORDINAL}, kind, name, qualified_name FROM definition
           WHERE name = ? COLLATE NOCASE AND name = ? COLLATE BINARY LIMIT ?""",
        (name, name, most),
    )
    return [_new(NamedDefinition, row) for row in rows]


def definitions_of_names(
    connection: sqlite3.Connection, names: Collection[str], most: int
) -> dict[str, list[NamedDefinition]]:
    """Return the same as `definitions_called`, by name; for two dozen names this takes half the time."""
    if not names:
        return {}
    marks = ", ".join(["(?)"] * len(names))
    rows = connection.execute(
        f"""SELECT wanted.column1, chunk, id & {MAX_ORDINAL}, kind, name, qualified_name
           FROM (VALUES {marks}) AS wanted CROSS JOIN definition
           ON name = wanted.column1 COLLATE NOCASE AND name = wanted.column1 COLLATE BINARY LIMIT ?""",
        (*names, most * len(names)),
    ).fetchall()
    if len(rows) == most * len(names):  # one name may have used up the limit
        return {name: definitions_called(connection, name, most) for name in names}
    found: dict[str, list[NamedDefinition]] = {name: [] for name in names}
    for name, *columns in rows:
        found[name].append(_new(NamedDefinition, columns))
    return {name: own[:most] for name, own in found.items()}


def exact_definitions(connection: sqlite3.Connection, name: str, *, are_tests: bool = False) -> list[tuple[int, int]]:
    """Return (blob id, definition ordinal) of every definition called exactly `name`, by blob.

    Definitions of the kind `test` are looked up separately from all others.
    """
    rows = connection.execute(
        "SELECT id FROM definition WHERE name = ? COLLATE NOCASE AND name = ? COLLATE BINARY AND (kind = 'test') = ?"
        " ORDER BY id",
        (name, name, are_tests),
    )
    return [(row[0] >> ORDINAL_BITS, row[0] & MAX_ORDINAL) for row in rows]


def definition_names(
    connection: sqlite3.Connection, view_id: int, chars: tuple[int, int] = (0, MAX_ORDINAL)
) -> list[str]:
    """Return the names, of a length between two limits, of all definitions that a view shows.

    Names are sorted and distinct.
    """
    rows = connection.execute(
        f"""SELECT DISTINCT name FROM definition WHERE length(name) BETWEEN ? AND ?
            AND id >> {ORDINAL_BITS} IN (SELECT blob_id FROM entry WHERE view_id = ?) ORDER BY name""",
        (*chars, view_id),
    )
    return [row[0] for row in rows]


def definitions_of_kinds(connection: sqlite3.Connection, kinds: Sequence[str]) -> list[tuple[int, int]]:
    """Return (chunk id, definition ordinal) of every definition of one of these kinds, in reading order."""
    known = [kind for kind in kinds if kind.isascii()]  # SQLite refuses text that is not UTF-8
    marks = ", ".join("?" * len(known))
    rows = connection.execute(f"SELECT chunk, id FROM definition WHERE kind IN ({marks}) ORDER BY id", known)
    return [(row[0], row[1] & MAX_ORDINAL) for row in rows]


def _chunk_rows(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[ChunkRow]:
    """Assemble chunks with the definitions that begin in them and the one they belong to."""
    wanted: set[int] = set()
    for row in rows:
        first_id = row[0] >> ORDINAL_BITS << ORDINAL_BITS
        wanted.update(range(first_id + row[5], first_id + row[6]))
        if row[3] >= 0:
            wanted.add(first_id + row[3])
    definitions = definitions_at(connection, sorted(wanted))
    result = []
    for id_, key, kind, owner, part_number, first, end, header, line, end_line, start, stop, *lines in rows:
        first_id = id_ >> ORDINAL_BITS << ORDINAL_BITS
        span = _new(Span, (line, end_line, start, stop))
        chunk = _new(Chunk, (kind, owner, part_number, (first, end), header, span, ((lines[0], lines[1]),)))
        own = tuple([definitions[first_id + ordinal] for ordinal in range(first, end)])
        result.append(ChunkRow(id_, key, chunk, own, definitions.get(first_id + owner) if owner >= 0 else None))
    return result


def _definition(columns: Sequence[Any]) -> Definition:
    # Same as `Definition(*columns[:6], Span(*columns[6:]))` in a third of the time; a question reads dozens.
    return _new(Definition, (*columns[:6], _new(Span, columns[6:])))
