"""Turns ranked rows and matching lines into hits: what to show of a chunk, its lines on disk, its preview."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cairn.index.snapshot import Snapshot
from cairn.search.ids import format_hit_id
from cairn.source.eligible import normalize
from cairn.source.text import estimate_tokens, raw_words, split_identifier, terms_of
from cairn.source.walk import read_file
from cairn.storage import index_db
from cairn.storage.index_db import ChunkRow
from cairn.types import CodeHit, Confidence, Definition, Span

PREVIEW_LINES = 8
PREVIEW_CHARS = 160  # of one line


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of a chunk a hit shows: one of the definitions that begin in it, or (`place` None) all of it."""

    kind: str
    name: str
    signature: str
    span: Span
    place: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good a hit is: its score, the calibrated chance that it is relevant, and the word for that."""

    score: float
    relevance: float
    confidence: Confidence
    explain: dict[str, float] | None = None


class Reader:
    """Reads files of a view, each once, and tells whether they are still what was indexed."""

    def __init__(self, root: Path, max_file_bytes: int, connection: sqlite3.Connection, view_name: str) -> None:
        self.root = root
        self.max_file_bytes = max_file_bytes
        self._connection = connection
        self._view_name = view_name
        self._files: dict[str, tuple[list[bytes], bool]] = {}

    def lines(self, path: str) -> tuple[list[bytes], bool]:
        """Return the file's lines as they are now, and whether the file changed since it was indexed."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> tuple[list[bytes], bool]:
        stamp = index_db.file_stamp(self._connection, self._view_name, path)
        try:
            status = os.stat(self.root / path, follow_symlinks=False)
            data = normalize(read_file(self.root, path, self.max_file_bytes))
        except OSError:
            return [], True
        return data.split(b"\n"), stamp != (status.st_size, status.st_mtime_ns)


def focus_on(row: ChunkRow, terms: frozenset[str], definition: int | None) -> Focus:
    """Choose what to show of a chunk: the given definition, else the one whose whole name the query says, else all."""
    first = row.chunk.definitions[0]
    if definition is not None and 0 <= definition - first < len(row.definitions):
        return _on_definition(row, definition - first)
    owner_place = row.chunk.owner - first
    if 0 <= owner_place < len(row.definitions):
        named = [place for place, one in enumerate(row.definitions) if _is_named(one, terms)]
        return _on_definition(row, owner_place if owner_place in named or not named else named[0])
    if row.owner is not None:
        return Focus(row.owner.kind, row.owner.name, row.owner.signature, row.chunk.span, None)
    return Focus(row.chunk.kind, "", "", row.chunk.span, None)


def _on_definition(row: ChunkRow, place: int) -> Focus:
    one = row.definitions[place]
    return Focus(one.kind, one.name, one.signature, one.span, place if len(row.definitions) > 1 else None)


def _is_named(definition: Definition, terms: frozenset[str]) -> bool:
    own = {term for raw in raw_words(definition.name) for term in terms_of(raw, split_identifier(raw))}
    return bool(own) and own <= terms


def make_hit(
    snapshot: Snapshot, row: ChunkRow, focus: Focus, file: int, lines: Sequence[bytes], stale: bool, verdict: Verdict
) -> CodeHit:
    """Put one hit together. `lines` are those of the file on disk."""
    path = snapshot.files.paths[file]
    return CodeHit(
        id=format_hit_id(row.key, path, focus.place),
        kind=focus.kind,
        name=focus.name,
        path=path,
        start_line=focus.span.start_line,
        end_line=focus.span.end_line,
        language=snapshot.files.language_names[snapshot.files.languages[file]],
        signature=focus.signature,
        tokens=estimate_tokens(focus.span.end_byte - focus.span.start_byte),
        score=round(verdict.score, 4),
        relevance=round(verdict.relevance, 3),
        confidence=verdict.confidence,
        preview=preview(lines, focus.span),
        stale=stale,
        explain=verdict.explain,
    )


def preview(lines: Sequence[bytes], span: Span) -> str:
    """Return the first lines of a span, each cut to a readable width."""
    shown = lines[span.start_line - 1 : min(span.end_line, span.start_line - 1 + PREVIEW_LINES)]
    return "\n".join(cut(line) for line in shown)


def cut(line: bytes) -> str:
    """Return a line as text of at most `PREVIEW_CHARS` characters."""
    return line[: 4 * PREVIEW_CHARS].decode("utf-8", "replace").rstrip()[:PREVIEW_CHARS]
