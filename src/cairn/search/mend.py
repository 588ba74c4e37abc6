"""Updates hits whose files changed since they were indexed, as far as their code is still found there."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from cairn.digest import blake2b
from cairn.search.hits import MISSING, FileText, Focus, focus_on
from cairn.source.languages import detect_language
from cairn.storage.index import blob_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Definition

MAX_MENDED_BYTES = 500_000  # of files parsed for one answer; further hits stay marked as stale
_HEAD_BYTES = 8_192


class Mender:
    """Parses the changed files of one answer, each once, and finds the indexed code in them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._bytes_left = MAX_MENDED_BYTES
        self._rows: dict[str, list[ChunkRow] | None] = {}

    def refresh(self, path: str, text: FileText, row: ChunkRow, focus: Focus) -> tuple[Focus, FileText]:
        """Return what to show of a chunk whose file may have changed, and the file, still stale if the code is gone.

        Args:
            path: of the file; it determines the language.
            text: the file as it is now.
            row: the chunk as it was indexed.
            focus: the part of it to show.
        """
        if (match := self.find(path, text, row, focus.place)) is None:
            return focus, text
        now, place = match
        ordinal = None if place is None else now.chunk.definitions[0] + place
        # The id stays that of the indexed chunk, by which it can be fetched.
        return focus_on(now, frozenset(), ordinal)._replace(place=focus.place), text._replace(stale=False)

    def find(self, path: str, text: FileText, row: ChunkRow, place: int | None) -> tuple[ChunkRow, int | None] | None:
        """Return where a chunk and a place in it are in the file now, None if they are gone."""
        if not text.stale:
            return None
        if self._is_as_indexed(text, row):
            return row, place
        fresh = self.rows(path, text) or []
        for now in fresh:
            if now.key == row.key:
                return now, place
        wanted = _definition_of(row, place)
        return None if wanted is None else _same_definition(fresh, wanted)

    def rows(self, path: str, text: FileText) -> list[ChunkRow] | None:
        """Return the chunks of a changed file as it is now; None if it is gone or too large to parse."""
        if path not in self._rows:
            affordable = text is not MISSING and len(text.data) <= self._bytes_left
            self._rows[path] = _parse(path, text.data) if affordable else None
            self._bytes_left -= len(text.data) if affordable else 0
        return self._rows[path]

    def _is_as_indexed(self, text: FileText, row: ChunkRow) -> bool:
        """Tell whether only the file's time changed."""
        hashes = blob_db.read_blob_hashes(self._connection, [row.blob_id])
        indexed = hashes.get(row.blob_id)
        return indexed is not None and blake2b(text.data, digest_size=len(indexed)).digest() == indexed


def _definition_of(row: ChunkRow, place: int | None) -> Definition | None:
    if place is not None:
        return row.definitions[place]
    own = row.chunk.owner - row.chunk.definitions[0]
    if 0 <= own < len(row.definitions):
        return row.definitions[own]
    return row.owner


def _same_definition(fresh: Sequence[ChunkRow], wanted: Definition) -> tuple[ChunkRow, int] | None:
    """Return where a definition is now: the one most like it among those with its qualified name."""

    def likeness(definition: Definition) -> tuple[bool, bool, int]:
        distance = abs(definition.span.start_line - wanted.span.start_line)
        return definition.kind == wanted.kind, definition.signature == wanted.signature, -distance

    namesakes = [
        (likeness(definition), row, place)
        for row in fresh
        for place, definition in enumerate(row.definitions)
        if definition.qualified_name == wanted.qualified_name
    ]
    if not namesakes:
        return None
    _, row, place = max(namesakes, key=lambda namesake: namesake[0])
    return row, place


def _parse(path: str, data: bytes) -> list[ChunkRow]:
    from cairn.index.beside import parse_safely  # noqa: PLC0415 - start-up time: few answers meet a changed file

    parsed, _, keys = parse_safely(data, detect_language(path, data[:_HEAD_BYTES]).name)
    return [
        ChunkRow(
            id=number,
            key=key,
            chunk=chunk,
            definitions=parsed.definitions[slice(*chunk.definitions)],
            owner=parsed.definitions[chunk.owner] if chunk.owner >= 0 else None,
        )
        for number, (chunk, key) in enumerate(zip(parsed.chunks, keys, strict=True))
    ]
