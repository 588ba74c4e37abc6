"""What answers from one generation have shown: later answers often show the same chunks and files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cairn.index.views import Stamp
from cairn.storage.index import chunk_db, view_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Span

MAX_CHUNKS = 2_000  # some kilobytes each
MAX_SPANS = 20_000  # some 200 bytes each; also of the chunks in files


class ShownCode:
    """Chunks and the stamps of files, kept for as long as a generation is open; threads may share it.

    Neither changes within a generation but for the stamps of files that were touched and not changed.

    Attributes:
        cut: the numbers of the files of which the index may lack words, once somebody has looked.
    """

    def __init__(self) -> None:
        self.cut: npt.NDArray[np.int64] | None = None
        self._chunks: dict[int, ChunkRow] = {}
        self._spans: dict[int, Span] = {}
        self._of_blobs: dict[int, list[tuple[int, int, int]]] = {}
        self._n_of_blobs = 0
        self._stamps: dict[str, Stamp] = {}

    def read_chunks(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return chunks by id, as `chunk_db.read_chunks` does."""
        known = self._chunks
        found = {one: known[one] for one in ids if one in known}
        if len(found) < len(ids):
            new = chunk_db.read_chunks(connection, [one for one in ids if one not in found])
            if len(known) + len(new) > MAX_CHUNKS:
                self._chunks = known = {}
            known.update(new)
            found.update(new)
        return found

    def read_spans(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Span]:
        """Return where chunks are, by id, without what else is needed to show them."""
        known = self._spans
        found = {one: known[one] for one in ids if one in known}
        if len(found) < len(ids):
            found |= {one: self._chunks[one].chunk.span for one in ids if one not in found and one in self._chunks}
            new = chunk_db.read_spans(connection, [one for one in ids if one not in found])
            if len(known) + len(new) > MAX_SPANS:
                self._spans = known = {}
            known.update(new)
            found |= new
        return found

    def chunks_of_blob(self, connection: sqlite3.Connection, blob_id: int) -> list[tuple[int, int, int]]:
        """Return where the chunks of a blob are, as `chunk_db.chunks_of_blob` does."""
        if (found := self._of_blobs.get(blob_id)) is None:
            found = chunk_db.chunks_of_blob(connection, blob_id)
            if self._n_of_blobs + len(found) > MAX_SPANS:
                self._of_blobs, self._n_of_blobs = {}, 0
            self._of_blobs[blob_id] = found
            self._n_of_blobs += len(found)
        return found

    def stamp(self, path: str) -> Stamp | None:
        """Return a stamp that a file was indexed with, None if none is known."""
        return self._stamps.get(path)

    def read_stamps(
        self, connection: sqlite3.Connection, view_name: str, blobs: Mapping[str, int]
    ) -> Mapping[str, Stamp]:
        """Return the stamps that files have in the index now, as `view_db.file_stamps` does, and keep them."""
        found = view_db.file_stamps(connection, view_name, blobs)
        if len(self._stamps) + len(found) > MAX_CHUNKS:
            self._stamps = {}
        self._stamps.update(found)
        return found
