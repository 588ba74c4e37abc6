"""One consistent, read-only state of a view: its segments laid end to end, and the files they belong to."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError, IndexMissingError
from cairn.hints import Hint
from cairn.index.hnsw import NeighbourGraph, open_graph
from cairn.index.occurrences import Occurrences, PostingsOfSegment
from cairn.index.segment import Segment
from cairn.index.state_dir import StateDir
from cairn.index.vectors import Vectors
from cairn.index.view import ViewArrays, load_view
from cairn.kernels import loops
from cairn.kernels.grouping import group
from cairn.kernels.plain import TermRows
from cairn.source.roles import ASIDE, Role
from cairn.storage.connection import reading
from cairn.storage.index import chunk_db, meta_db, segment_db, view_db

_OPEN_ATTEMPTS = 5
FileStamp = tuple[str | int, ...]  # a path, and what changes when the file does


class Snapshot:
    """Rows are the chunks that the view shows, in segment order; chunks of other views have no row.

    Attributes:
        state: the index's, when this was opened.
        branch: the branch that the files were read from, or the first digits of a commit.
        revision: the full hash of that commit, empty for a checkout.
        pending: how many files were still unread when this was written.
        blob_ids: shape (n_blobs,), the view's blobs that have chunks.
        file_of_blob: shape (n_blobs,), an index into `files.paths`: the first file that shows the blob, preferably one
            whose role is not in `ASIDE`.
        file_of_row: shape (n_rows,).
        blob_rows: shape (n_blobs + 1,), the first row of each blob.
        n_rows_of_blob: shape (n_blobs,).
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
        self._frequencies: dict[int, int] = {}  # by term, computed on demand
        self.blob_ids, self.file_of_blob, counts, stored = _shown_blobs(segments, files)
        self._layout = _RowPlaces.of([len(segment) for segment in segments], stored)
        self._terms = Occurrences(
            [
                PostingsOfSegment(segment.postings, *self._layout.rows_in(number))
                for number, segment in enumerate(segments)
            ]
        )
        self.n_rows = len(stored)
        self.blob_rows = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.n_rows_of_blob = counts
        self.file_of_row = np.repeat(self.file_of_blob, counts)
        # int64, because numpy would convert a narrower index array again for every query.
        forms = np.concatenate([np.zeros(0, np.int64), *(segment.forms for segment in segments)])
        self.forms = forms if self._layout.stored is None else forms[stored]

    @property
    def generation(self) -> int:
        """The newest committed generation when this was opened."""
        return self.state.generation

    @classmethod
    def open(
        cls, connection: sqlite3.Connection, state: StateDir, view_name: str, last: Snapshot | None = None
    ) -> Snapshot:
        """Open the newest generation of a view.

        Args:
            connection: to the index.
            state: the index's folder.
            view_name: the view's name.
            last: an older snapshot. Segments that both have never change, so they are not checked again.

        Raises:
            IndexMissingError: if the view was never indexed.
            DerivedFileError: if a derived file is lost or damaged.
        """
        for attempt in range(_OPEN_ATTEMPTS):
            # Read in one transaction, so that the list of files and the generation agree.
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

    def restrict(self, files: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return `file_of_blob` and `file_of_row` restricted to `files`, with -1 for everything else."""
        file_of_blob = _first_files(self.files, self.blob_ids, files)
        return file_of_blob, np.repeat(file_of_blob, self.n_rows_of_blob)

    def term_rows(self, hashed: Sequence[int]) -> TermRows:
        """Return the rows of some terms, term by term."""
        return self._terms.find(hashed)

    def term_paths(self, hashed: Sequence[int]) -> TermRows:
        """Return the files whose paths have some terms; `rows` are file numbers."""
        found: TermRows = loops.look_up(self.files.postings, hashed, 0, None)
        return found

    def rows_of(self, blobs: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the rows of some blobs, end to end, and the number of rows of each."""
        first, counts = self.blob_rows[blobs], self.n_rows_of_blob[blobs]
        ends = np.cumsum(counts)
        return np.arange(int(ends[-1]) if len(ends) else 0) + (first - ends + counts).repeat(counts), counts

    def in_path_order(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the order that sorts `rows` by file and then by position in the file."""
        blobs = self.blob_of_row[rows]
        return np.lexsort((rows - self.blob_rows[blobs], self.file_of_blob[blobs]))

    def nearest(self, query: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]] | None:
        """Return cosines as `Vectors.similarities` does, but for segments with a graph only those of the nearest rows.

        Returns:
            shapes (n_rows,): the cosines, and which are exact; the others are upper bounds, provided that the graph
            found all near rows. None if no segment has a graph.
        """
        graphs = self._find_graphs()
        if not any(graphs):
            return None
        cosines = np.empty(self.n_rows, dtype=np.float32)
        known = np.ones(self.n_rows, dtype=bool)
        for number, graph in enumerate(graphs):
            own = np.arange(*self._layout.bounds_of(number))
            if graph is None:
                cosines[own] = self.vectors.similarities_of(own, query)
                continue
            rows = self._layout.rows_of(number, graph.nearest(query)).astype(np.int64)
            rows = rows[rows >= 0]
            near = self.vectors.similarities_of(rows, query)
            cosines[own], known[own] = max(0.0, float(near.min(initial=1.0))), False
            cosines[rows], known[rows] = near, True
        return cosines, known

    def _find_graphs(self) -> list[NeighbourGraph | None]:
        """Return the graph of each segment; newly built ones are opened, damaged ones only tried once."""
        for number, file in enumerate(self._graph_files):
            if number not in self._graphs and os.access(file, os.F_OK):  # usually missing, and `stat` would raise
                self._graphs[number] = open_graph(file)
        return [self._graphs.get(number) for number in range(len(self._segments))]

    @cached_property
    def blob_of_row(self) -> npt.NDArray[np.int64]:
        """The blob of each row, shape (n_rows,), as an index into `blob_ids`."""
        return np.repeat(np.arange(len(self.blob_ids)), self.n_rows_of_blob)

    @cached_property
    def priors(self) -> dict[str, npt.NDArray[np.float32]]:
        """Query-independent features of each file, shape (n_files,) each, 0 to 1: roles, size, mentions, depth."""
        roles = self.files.roles
        priors = {
            str(role.name).lower(): ((roles & int(role)) > 0).astype(np.float32)
            for role in Role
            if (roles & role).any()
        }
        n_files = len(self.files.paths)
        chunks = np.bincount(self.file_of_row, minlength=n_files)
        priors["size"] = _log_share(chunks, 200)
        priors["mentions"] = _log_share(self._count_mentions(), 200)
        priors["depth"] = _log_share(np.array([path.count("/") for path in self.files.paths]), 10)
        return priors

    def _count_mentions(self) -> npt.NDArray[np.int64]:
        """Return in how many chunks each file's whole stem occurs, as it would in an import or as a type's name."""
        stems, _, stem_of_file = group(self.files.stems)
        return _count_rows(self, stems)[stem_of_file]

    @cached_property
    def _blobs_in_order(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The blob ids in ascending order, and the position of each."""
        order = np.argsort(self.blob_ids, kind="stable")
        return self.blob_ids[order], order

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of all rows."""
        parts = [segment.vectors for segment in self._segments]
        return Vectors(parts, self.files.vectors.shape[1], self._layout.stored)

    @cached_property
    def path_vectors(self) -> Vectors:
        """The vectors of the files' paths."""
        return Vectors([self.files.vectors], self.files.vectors.shape[1])

    def places_of_blobs(self, blob_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the positions of blobs in `blob_ids`, -1 for those in no segment. Shape as given."""
        ordered, order = self._blobs_in_order
        if not len(ordered):
            return np.full(len(blob_ids), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(ordered, blob_ids), len(ordered) - 1)
        return np.where(ordered[place] == blob_ids, order[place], -1)

    def are_shown(self, blob_ids: Sequence[int]) -> list[bool]:
        """Tell which of some blobs the view shows."""
        found: list[bool] = (self.places_of_blobs(np.array(blob_ids, dtype=np.int64)) >= 0).tolist()
        return found

    def chunk_ids(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> list[int]:
        """Return the ids of the chunks in some rows, in order."""
        places = np.asarray(rows, dtype=np.int64)
        blobs = self.blob_of_row[places]
        ids: list[int] = ((self.blob_ids[blobs] << chunk_db.ORDINAL_BITS) + places - self.blob_rows[blobs]).tolist()
        return ids

    def rows_of_chunks(self, chunk_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of chunks, -1 for those whose blob is in no segment. Shape as given."""
        places = self.places_of_blobs(chunk_ids >> chunk_db.ORDINAL_BITS)
        if not len(self.blob_ids):
            return places
        return np.where(places >= 0, self.blob_rows[places] + (chunk_ids & chunk_db.MAX_ORDINAL), -1)


def term_frequencies(snapshot: Snapshot, hashed: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return in how many rows each term occurs; postings are only read if some chunks have no row."""
    known = snapshot._frequencies
    if new := set(hashed).difference(known):
        counts = _count_rows(snapshot, np.array(list(new), dtype=np.uint64))
        for term, count in zip(new, counts.tolist(), strict=True):
            known[term] = count  # updated at once, because other threads read it
    return np.array([known[term] for term in hashed], dtype=np.int64)


def _count_rows(snapshot: Snapshot, hashed: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return in how many rows each term, given as a hash, occurs."""
    counts = np.zeros(len(hashed), dtype=np.int64)
    for number, segment in enumerate(snapshot._segments):
        counts += loops.count_rows(segment.postings, hashed, snapshot._layout.rows_in(number)[1])
    return counts


class _ShownBlobs(NamedTuple):
    """The blobs of some segments that a view shows and that have chunks.

    Attributes:
        ids: shape (n_blobs,).
        files: shape (n_blobs,), the first file that shows each; see `_first_files`.
        counts: shape (n_blobs,), the number of chunks of each.
        stored: shape (n_rows,), their chunks, numbered through all segments laid end to end.
    """

    ids: npt.NDArray[np.int64]
    files: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    stored: npt.NDArray[np.int64]


def _shown_blobs(segments: Sequence[Segment], view: ViewArrays) -> _ShownBlobs:
    ids = np.concatenate([np.zeros(0, np.int64), *(segment.blob_ids for segment in segments)])
    counts = np.concatenate([np.zeros(0, np.int64), *(np.diff(segment.blob_start) for segment in segments)])
    files = _first_files(view, ids)
    stored = np.arange(int(counts.sum()))
    shown = (files >= 0) & (counts > 0)
    if shown.all():
        return _ShownBlobs(ids, files, counts, stored)
    return _ShownBlobs(ids[shown], files[shown], counts[shown], stored[np.repeat(shown, counts)])


class _RowPlaces(NamedTuple):
    """Maps between a snapshot's rows and the chunks of its segments.

    Attributes:
        bases: shape (n_segments + 1,), the first chunk of each segment, with all segments laid end to end.
        first_rows: shape (n_segments + 1,), the first row of each segment.
        stored: shape (n_rows,), the chunk of each row; None if every chunk has a row.
        row_of: shape (bases[-1],), the row of each chunk, -1 if the view does not show it.
    """

    bases: tuple[int, ...]
    first_rows: tuple[int, ...]
    stored: npt.NDArray[np.int64] | None = None
    row_of: npt.NDArray[np.int32] | None = None

    @classmethod
    def of(cls, lengths: Sequence[int], stored: npt.NDArray[np.int64]) -> _RowPlaces:
        bases = tuple(np.cumsum([0, *lengths]).tolist())
        if len(stored) == bases[-1]:
            return cls(bases, bases)
        row_of = np.full(bases[-1], -1, dtype=np.int32)
        row_of[stored] = np.arange(len(stored), dtype=np.int32)
        return cls(bases, tuple(np.searchsorted(stored, bases).tolist()), stored, row_of)

    def rows_of(self, segment: int, chunks: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.signedinteger[Any]]:
        """Return the rows of some chunks of a segment, -1 for chunks without one."""
        base, row_of = self.rows_in(segment)
        return chunks + np.int64(base) if row_of is None else row_of[chunks]

    def rows_in(self, segment: int) -> tuple[int, npt.NDArray[np.int32] | None]:
        """Return the first row of a segment, and the row or -1 of each of its chunks, None if all are in order."""
        bases = self.bases
        return bases[segment], None if self.row_of is None else self.row_of[bases[segment] : bases[segment + 1]]

    def bounds_of(self, segment: int) -> tuple[int, int]:
        """Return the first row of a segment, and the first one after it."""
        return self.first_rows[segment], self.first_rows[segment + 1]


def _first_files(
    view: ViewArrays, blob_ids: npt.NDArray[np.int64], files: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """Return the first file that shows each of `blob_ids`, -1 for none; files with a role in `ASIDE` come last.

    Args:
        view: the files.
        blob_ids: distinct, in any order.
        files: the numbers of the files to consider; None for all.
    """
    result = np.full(len(blob_ids), -1, dtype=np.int64)
    numbers = np.arange(len(view.paths)) if files is None else files
    if not len(numbers) or not len(blob_ids):
        return result
    numbers = numbers[np.argsort((view.roles[numbers] & int(ASIDE)) > 0, kind="stable")]
    blobs, first, _ = group(view.blob_ids[numbers])
    place = np.minimum(np.searchsorted(blobs, blob_ids), len(blobs) - 1)
    hit = blobs[place] == blob_ids
    result[hit] = numbers[first[place[hit]]]
    return result


def _stamp(file: Path) -> FileStamp:
    """Return a stamp by which to recognise the file that was opened; just the path if it is gone."""
    try:
        status = os.stat(file)
    except OSError:
        return (str(file),)
    return str(file), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _log_share(counts: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.float32]:
    """Map counts to a logarithmic scale from 0 (none) to 1 (`most` or more)."""
    shares: npt.NDArray[np.float32] = np.minimum(1, np.log1p(counts) / np.log1p(most)).astype(np.float32)
    return shares
