"""One consistent, read-only state of a view: its segments laid end to end, and the files they belong to."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError, IndexMissingError
from cairn.hints import Hint
from cairn.index.analysis import Postings
from cairn.index.hnsw import NeighbourGraph, open_graph
from cairn.index.segment import Segment
from cairn.index.state_dir import StateDir
from cairn.index.vectors import Vectors
from cairn.index.view import ViewArrays, load_view
from cairn.source.roles import Role
from cairn.storage.connection import reading
from cairn.storage.index import chunk_db, meta_db, segment_db, view_db

_OPEN_ATTEMPTS = 5
FileStamp = tuple[str | int, ...]  # a path, and what changes with the file


class TermRows(NamedTuple):
    """Where some terms stand: which term in which live row. Shapes: (n,). `impacts` are 0..255, `fields` a bit each."""

    terms: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    impacts: npt.NDArray[np.uint8]
    fields: npt.NDArray[np.uint8]


class Snapshot:
    """Rows number the chunks of all segments; a row whose blob the view does not show has file -1.

    Attributes:
        state: of the index, when this was opened.
        branch: what the files were read from: a branch, or the first digits of a commit.
        revision: the full hash of that commit, empty for a checkout.
        pending: how many files the run that wrote this had yet to read.
        file_of_row: shape (n_rows,), file numbers into `files.paths`.
        blob_rows: shape (n_blobs + 1,), where each blob's rows begin.
        file_of_blob: shape (n_blobs,).
    """

    def __init__(
        self,
        state: meta_db.State,
        branch: str,
        pending: int,
        segments: Sequence[Segment],
        files: ViewArrays,
        graph_files: Sequence[Path] = (),
        revision: str = "",
        segment_files: Sequence[FileStamp] = (),
    ) -> None:
        self.state = state
        self.branch = branch
        self.revision = revision
        self.pending = pending
        self.files = files
        self._segments = tuple(segments)
        self._segment_files = tuple(segment_files)
        self._graph_files = tuple(graph_files)
        self._graphs: dict[int, NeighbourGraph | None] = {}
        bases = np.cumsum([0, *(len(segment) for segment in segments)])
        self._bases = [int(base) for base in bases]
        self.n_rows = self._bases[-1]
        blob_ids = [segment.blob_ids for segment in segments]
        starts = [segment.blob_start[:-1] + base for segment, base in zip(segments, bases, strict=False)]
        self.blob_ids = np.concatenate(blob_ids) if blob_ids else np.zeros(0, dtype=np.int64)
        self.blob_rows = np.concatenate([*starts, [self.n_rows]]).astype(np.int64)
        self.file_of_blob = self._show(np.arange(len(files.blob_ids)))
        self.file_of_row = np.repeat(self.file_of_blob, np.diff(self.blob_rows))
        # Wide, as what indexes an array must be: narrow ones are widened again for every query.
        self.forms = np.concatenate([np.zeros(0, np.int64), *(segment.forms for segment in segments)])
        self._all_live = bool((self.file_of_row >= 0).all())
        self.n_live = int((self.file_of_row >= 0).sum())

    @property
    def generation(self) -> int:
        """The number of the newest committed state when this was opened."""
        return self.state.generation

    @classmethod
    def open(
        cls, connection: sqlite3.Connection, state: StateDir, view_name: str, last: Snapshot | None = None
    ) -> Snapshot:
        """Open the newest generation of a view.

        Args:
            connection: what the index is read through.
            state: where its files are.
            view_name: the view.
            last: an older generation. The segments that both have, which never change, are not checked again.

        Raises:
            IndexMissingError: if the view was never indexed.
            DerivedFileError: if a derived file is lost or damaged.
        """
        for attempt in range(_OPEN_ATTEMPTS):
            # Read together, in one transaction, so that the list of files and the generation agree.
            with reading(connection):
                committed = meta_db.state(connection)
                view = view_db.find_view(connection, view_name)
                rows = segment_db.read_segments(connection)
            if view is None or not view.generation:
                raise IndexMissingError("this project is not indexed yet", Hint.of("index"))
            try:
                stamps = [_stamp(state.segment(row.name)) for row in rows]
                known = {} if last is None else dict(zip(last._segment_files, last._segments, strict=False))
                segments = [known.get(stamp) or Segment.load(Path(str(stamp[0]))) for stamp in stamps]
                files = load_view(state, view)
            except DerivedFileError:
                # A writer may have replaced the files since the list was read.
                if attempt + 1 == _OPEN_ATTEMPTS or meta_db.state(connection) == committed:
                    raise
                continue
            graph_files = [state.neighbours(row.name) for row in rows]
            opened = cls(committed, view.branch, view.pending, segments, files, graph_files, view.revision, stamps)
            if last is not None:
                graphs = {last._segment_files[number]: graph for number, graph in last._graphs.items() if graph}
                opened._graphs |= {number: graphs[stamp] for number, stamp in enumerate(stamps) if stamp in graphs}
            return opened
        raise AssertionError("unreachable")

    def _show(self, files: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return for each blob the first of `files` that shows it, -1 for none."""
        result = np.full(len(self.blob_ids), -1, dtype=np.int64)
        if not len(files) or not len(self.blob_ids):
            return result
        ordered, order = self._blobs_in_order
        wanted = self.files.blob_ids[files]
        place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
        hit = ordered[place] == wanted
        # Written back to front, so that the first file in path order stays.
        result[order[place[hit]][::-1]] = files[hit][::-1]
        return result

    def restrict(self, files: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return `file_of_blob` and `file_of_row` when only `files` are shown."""
        file_of_blob = self._show(files)
        return file_of_blob, np.repeat(file_of_blob, np.diff(self.blob_rows))

    def term_rows(self, hashed: Sequence[int]) -> TermRows:
        """Return the live rows of some terms."""
        parts = []
        for segment, base in zip(self._segments, self._bases, strict=False):
            if len((part := _look_up(segment.postings, hashed)).rows):
                parts.append(part._replace(rows=part.rows + base) if base else part)
        found = parts[0] if len(parts) == 1 else _join(parts)
        if self._all_live:
            return found
        live = self.file_of_row[found.rows] >= 0
        return TermRows(found.terms[live], found.rows[live], found.impacts[live], found.fields[live])

    def term_paths(self, hashed: Sequence[int]) -> TermRows:
        """Return the files whose path has one of some terms; `rows` are file numbers."""
        return _look_up(self.files.postings, hashed)

    def rows_of(self, blobs: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the rows of some blobs, laid end to end, and how many each has."""
        first = self.blob_rows[blobs]
        counts = self.blob_rows[blobs + 1] - first
        ends = np.cumsum(counts)
        return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - ends + counts, counts), counts

    def in_path_order(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return places in `rows` by file and then by place in the file, however the rows are laid out."""
        blobs = self.blob_of_row[rows]
        return np.lexsort((rows - self.blob_rows[blobs], self.file_of_blob[blobs]))

    def nearest(self, query: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]] | None:
        """Return cosines as `Vectors.similarities` does, but in segments with a graph for the nearest rows only.

        Returns:
            shapes (n_rows,): the cosines, and which are known; in place of one that is not known stands a value that
            it does not exceed, as far as the graph found all that is near. None when no segment has a graph.
        """
        graphs = self._find_graphs()
        if not any(graphs):
            return None
        cosines = np.empty(self.n_rows, dtype=np.float32)
        known = np.ones(self.n_rows, dtype=bool)
        for segment, base, graph in zip(self._segments, self._bases, graphs, strict=False):
            part = slice(base, base + len(segment))
            if graph is None:
                cosines[part] = Vectors([segment.vectors], len(query)).similarities(query)
                continue
            rows = graph.nearest(query) + base
            near = self.vectors.similarities_of(rows, query)
            cosines[part], known[part] = max(0.0, float(near.min(initial=1.0))), False
            cosines[rows], known[rows] = near, True
        return cosines, known

    def _find_graphs(self) -> list[NeighbourGraph | None]:
        """Return the graph of each segment; one that a run has built since is opened, a damaged one just once."""
        for number, file in enumerate(self._graph_files):
            if number not in self._graphs and file.exists():
                self._graphs[number] = open_graph(file)
        return [self._graphs.get(number) for number in range(len(self._segments))]

    @cached_property
    def blob_of_row(self) -> npt.NDArray[np.int64]:
        """The blob of each row, shape (n_rows,), a number into `blob_ids`."""
        return np.repeat(np.arange(len(self.blob_ids)), np.diff(self.blob_rows))

    @cached_property
    def priors(self) -> dict[str, npt.NDArray[np.float32]]:
        """What is true of each file whatever the query, shape (n_files,) each, 0 to 1: its roles, its weight."""
        roles = self.files.roles
        priors = {
            str(role.name).lower(): ((roles & int(role)) > 0).astype(np.float32)
            for role in Role
            if (roles & role).any()
        }
        n_files = len(self.files.paths)
        chunks = np.bincount(self.file_of_row[self.file_of_row >= 0], minlength=n_files)
        priors["size"] = _log_share(chunks, 200)
        priors["mentions"] = _log_share(self._count_mentions(), 200)
        priors["depth"] = _log_share(np.array([path.count("/") for path in self.files.paths]), 10)
        return priors

    def _count_mentions(self) -> npt.NDArray[np.int64]:
        """Return in how many chunks each file's stem stands, taken whole, as an import or a type's name would."""
        stems, stem_of_file = np.unique(self.files.stems, return_inverse=True)
        counts = np.zeros(len(stems), dtype=np.int64)
        for segment, base in zip(self._segments, self._bases, strict=False):
            hashes, start = segment.postings.hashes, segment.postings.start
            if not len(hashes):
                continue
            place = np.minimum(np.searchsorted(hashes, stems), len(hashes) - 1)
            known = np.flatnonzero(hashes[place] == stems)
            first, lengths = start[place[known]], start[place[known] + 1] - start[place[known]]
            if self._all_live:
                counts[known] += lengths
                continue
            ends = np.cumsum(lengths)
            at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - ends + lengths, lengths)
            live = self.file_of_row[segment.postings.rows[at] + base] >= 0
            counts += np.bincount(np.repeat(known, lengths)[live], minlength=len(stems))
        return counts[stem_of_file]

    @cached_property
    def _blobs_in_order(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The blob ids in ascending order, and where each stands."""
        order = np.argsort(self.blob_ids, kind="stable")
        return self.blob_ids[order], order

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of all rows."""
        return Vectors([segment.vectors for segment in self._segments], self.files.vectors.shape[1])

    @cached_property
    def path_vectors(self) -> Vectors:
        """The vectors of the files' paths."""
        return Vectors([self.files.vectors], self.files.vectors.shape[1])

    def places_of_blobs(self, blob_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return where blobs stand in `blob_ids`, -1 for those in no segment. Shape as given."""
        ordered, order = self._blobs_in_order
        if not len(ordered):
            return np.full(len(blob_ids), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(ordered, blob_ids), len(ordered) - 1)
        return np.where(ordered[place] == blob_ids, order[place], -1)

    def chunk_id(self, row: int) -> int:
        """Return the id of the chunk in a row."""
        blob = int(self.blob_of_row[row])
        return (int(self.blob_ids[blob]) << chunk_db.ORDINAL_BITS) + row - int(self.blob_rows[blob])

    def rows_of_chunks(self, chunk_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of chunks, -1 for those whose blob is in no segment. Shape as given."""
        places = self.places_of_blobs(chunk_ids >> chunk_db.ORDINAL_BITS)
        if not len(self.blob_ids):
            return places
        return np.where(places >= 0, self.blob_rows[places] + (chunk_ids & chunk_db.MAX_ORDINAL), -1)


def _stamp(file: Path) -> FileStamp:
    """Return what tells that a file is the one that was opened, as it was then; only the path for one that is gone."""
    try:
        status = os.stat(file)
    except OSError:
        return (str(file),)
    return str(file), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


_NOWHERE = TermRows(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))


def _look_up(postings: Postings, hashed: Sequence[int]) -> TermRows:
    """Return where some terms stand in one set of postings, term after term."""
    if not len(postings.hashes) or not hashed:
        return _NOWHERE
    wanted = np.array(hashed, dtype=np.uint64)
    places = np.minimum(np.searchsorted(postings.hashes, wanted), len(postings.hashes) - 1)
    known = np.flatnonzero(postings.hashes[places] == wanted)
    if not len(known):
        return _NOWHERE
    first, last = postings.start[places[known]], postings.start[places[known] + 1]
    parts = [slice(*bounds) for bounds in zip(first.tolist(), last.tolist(), strict=True)]
    rows, impacts, fields = (
        np.concatenate([column[part] for part in parts])
        for column in (postings.rows, postings.impacts, postings.fields)
    )
    return TermRows(np.repeat(known, last - first), rows.astype(np.int64), impacts, fields)


def _join(parts: Sequence[TermRows]) -> TermRows:
    terms, rows, impacts, fields = zip(_NOWHERE, *parts, strict=True)
    return TermRows(np.concatenate(terms), np.concatenate(rows), np.concatenate(impacts), np.concatenate(fields))


def _log_share(counts: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.float32]:
    """Return counts on a logarithmic scale from 0 (none) to 1 (`most` or more)."""
    shares: npt.NDArray[np.float32] = np.minimum(1, np.log1p(counts) / np.log1p(most)).astype(np.float32)
    return shares
