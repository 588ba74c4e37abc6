"""All SQL that reads chunks and definitions, which `blob_db` stores with their blob."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

from cairn.storage.connection import MAX_VARIABLES, in_lists
from cairn.types import Chunk, Definition, Span

# A definition's or chunk's id is its blob's id shifted left, plus its place in the file.
ORDINAL_BITS = 20
_new = tuple.__new__
MAX_ORDINAL = (1 << ORDINAL_BITS) - 1
_CHUNK_COLUMNS = """id, key, kind, owner, part, first_definition, end_definition, header,
    start_line, end_line, start_byte, end_byte, first_line, last_line"""
_NAMED = f"SELECT chunk, id & {MAX_ORDINAL}, kind, name, qualified_name FROM definition WHERE"
_FEW = 16  # definitions of one name
_DEFINITION_COLUMNS = """id, kind, name, qualified_name, signature, doc, parent,
    start_line, end_line, start_byte, end_byte"""


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


class NamedDefinition(NamedTuple):
    """A definition found by its name: which one of which chunk."""

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
    """Return chunks by id, with their definitions; ids that are not there are left out."""
    rows: list[tuple[Any, ...]] = []
    for marks, part in in_lists(ids):
        rows += connection.execute(f"SELECT {_CHUNK_COLUMNS} FROM chunk WHERE id IN ({marks})", part)
    return {row.id: row for row in _chunk_rows(connection, rows)}


def read_spans(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Span]:
    """Return where chunks are in their files, by id; ids that are not there are left out."""
    columns = "id, start_line, end_line, start_byte, end_byte"
    rows: list[tuple[int, int, int, int, int]] = []
    for marks, part in in_lists(ids):
        rows += connection.execute(f"SELECT {columns} FROM chunk WHERE id IN ({marks})", part)
    return {id_: Span(*span) for id_, *span in rows}


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


def chunks_of_length(connection: sqlite3.Connection, least: int, most: int) -> list[tuple[int, int]]:
    """Return (chunk id, lines) for every definition that has from `least` to `most` lines and begins in the chunk."""
    return connection.execute(
        """SELECT chunk, end_line - start_line + 1 FROM definition
           WHERE end_line - start_line + 1 BETWEEN ? AND ? ORDER BY id""",
        (least, most),
    ).fetchall()


def blobs_with_long_chunks(connection: sqlite3.Connection, least: int) -> list[int]:
    """Return the blobs that have a chunk that spans so many bytes or more."""
    found = connection.execute(
        f"SELECT DISTINCT id >> {ORDINAL_BITS} FROM chunk WHERE end_byte - start_byte >= ?",
        (least,),
    )
    return [blob_id for (blob_id,) in found]


def chunks_of_definitions(connection: sqlite3.Connection, ids: Sequence[int]) -> set[int]:
    """Return the chunks that some definitions begin in."""
    found: set[int] = set()
    for marks, part in in_lists(ids):
        found |= {row[0] for row in connection.execute(f"SELECT chunk FROM definition WHERE id IN ({marks})", part)}
    return found


def read_definitions(connection: sqlite3.Connection, blob_ids: Sequence[int]) -> dict[int, list[Definition]]:
    """Return the definitions of blobs in reading order; a blob without any is left out."""
    found: dict[int, list[Definition]] = {}
    if len(blob_ids) > MAX_VARIABLES:  # one scan is faster than so many look-ups
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
    """Return the definitions of a blob that have exactly one of some names, in reading order."""
    rows: list[tuple[Any, ...]] = []
    for name in names:
        rows += connection.execute(
            f"""SELECT {_DEFINITION_COLUMNS} FROM definition
               WHERE name = ? COLLATE NOCASE AND name = ? COLLATE BINARY AND id >= ? AND id < ?""",
            (name, name, blob_id << ORDINAL_BITS, (blob_id + 1) << ORDINAL_BITS),
        )
    return [_definition(row[1:]) for row in sorted(rows)]


def definitions_at(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Definition]:
    """Return definitions by id; ids that are not there are left out."""
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
        are_shown: tells in which of some blobs definitions count.
    """
    rows = connection.execute(f"{_NAMED} name = ? COLLATE NOCASE LIMIT {_FEW + 1}", (name,)).fetchall()
    if len(rows) <= _FEW:
        shown = compress(rows, are_shown([row[0] >> ORDINAL_BITS for row in rows]))
        return [_new(NamedDefinition, row) for row in shown]
    # Most are in blobs of other views: the SQL index of names tells which, and no more is read of them.
    found = connection.execute("SELECT id FROM definition WHERE name = ? COLLATE NOCASE", (name,))
    ids = [id_ for (id_,) in found]
    shown = compress(ids, are_shown([id_ >> ORDINAL_BITS for id_ in ids]))
    parts = (connection.execute(f"{_NAMED} id IN ({marks})", part) for marks, part in in_lists(list(shown)))
    return [_new(NamedDefinition, row) for part in parts for row in part]


def definitions_called(connection: sqlite3.Connection, name: str, most: int) -> list[NamedDefinition]:
    """Return the definitions called exactly `name`, at most so many, whichever view shows them."""
    rows = connection.execute(
        f"""SELECT chunk, id & {MAX_ORDINAL}, kind, name, qualified_name FROM definition
           WHERE name = ? COLLATE NOCASE AND name = ? COLLATE BINARY LIMIT ?""",
        (name, name, most),
    )
    return [_new(NamedDefinition, row) for row in rows]


def definitions_of_names(
    connection: sqlite3.Connection, names: Collection[str], most: int
) -> dict[str, list[NamedDefinition]]:
    """Return by name what `definitions_called` does for each; for two dozen names it takes half of the time."""
    if not names:
        return {}
    marks = ", ".join(["(?)"] * len(names))
    rows = connection.execute(
        f"""SELECT wanted.column1, chunk, id & {MAX_ORDINAL}, kind, name, qualified_name
           FROM (VALUES {marks}) AS wanted CROSS JOIN definition
           ON name = wanted.column1 COLLATE NOCASE AND name = wanted.column1 COLLATE BINARY LIMIT ?""",
        (*names, most * len(names)),
    ).fetchall()
    if len(rows) == most * len(names):  # those of one name may have left none for others
        return {name: definitions_called(connection, name, most) for name in names}
    found: dict[str, list[NamedDefinition]] = {name: [] for name in names}
    for name, *columns in rows:
        found[name].append(_new(NamedDefinition, columns))
    return {name: own[:most] for name, own in found.items()}


def exact_definitions(connection: sqlite3.Connection, name: str, *, are_tests: bool = False) -> list[tuple[int, int]]:
    """Return (blob id, definition ordinal) of every definition called exactly `name`, in the order of the blobs.

    Tests whose kind says that they are some are apart from all others.
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
    """Return the name of every definition that a view shows and that has from so many to so many characters.

    Each is there once, in order.
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
    """Put chunks together with the definitions that begin in them and the one they belong to."""
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
    # As `Definition(*columns[:6], Span(*columns[6:]))`, in a third of the time: a question reads some dozens.
    return _new(Definition, (*columns[:6], _new(Span, columns[6:])))
