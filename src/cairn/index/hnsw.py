"""A neighbour graph over the vectors of a large segment, to find the nearest to a query without comparing them all.

The graph is usearch's HNSW (Malkov and Yashunin 2016, https://arxiv.org/abs/1603.09320). It says which rows are near;
the cosines come from the segment's own vectors. A graph's file is derived from one segment, which never changes, and
bears its name, so the two cannot drift apart. Without it, every row is compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cairn.digest import blake2b
from cairn.errors import DerivedFileError, IndexLockedError, NotAvailableError, StoreError
from cairn.hints import Hint
from cairn.index.plan import missing_graphs
from cairn.index.segment import Segment
from cairn.index.state_dir import StateDir
from cairn.source.text import pluralize
from cairn.storage.arrays import ArrayWriter, are_bounds, check_fits, load_arrays, release
from cairn.storage.index import segment_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.storage.own_files import create_new, open_stream

if TYPE_CHECKING:
    from usearch.index import Index

# Neighbours of a node, and candidates tried when one is added; both cost build time and memory.
_CONNECTIVITY, _TRIED = 16, 128
# How many a search finds. They include the ten nearest of all; see bench/README.md.
NEAREST = 2_000
_STEP = 20_000  # nodes added between two reports of progress
_DIGEST_BYTES = 16
_COPIED_BYTES = 8_000_000  # per pass

Progress = Callable[[int, int], None]


class NeighbourGraph:
    """Finds the rows of a segment whose vectors are near a query's.

    Equal vectors share a node, since a graph with many nodes at distance 0 falls apart. The rows of node `i` are
    `rows[start[i]:start[i + 1]]`. Zero vectors are in no node.
    """

    def __init__(self, index: Index, rows: npt.NDArray[np.int32], start: npt.NDArray[np.int64]) -> None:
        self._index = index
        self._rows = rows
        self._start = start
        self._lock = Lock()

    @classmethod
    def build(cls, vectors: npt.NDArray[np.int8], threads: int = 0, progress: Progress | None = None) -> NeighbourGraph:
        """Return the graph of some vectors, shape (n_rows, dimensions).

        Args:
            threads: 0 for one per core; with more than one, the graph varies a little between runs.
            progress: called with (nodes done, nodes to do).
        """
        from usearch.index import Index  # noqa: PLC0415 - start-up time: most indexes are too small for a graph

        known, digests = _digests(vectors)
        _, first, node = np.unique(digests, return_index=True, return_inverse=True)
        index = Index(
            ndim=vectors.shape[1],
            metric="cos",
            dtype="i8",
            connectivity=_CONNECTIVITY,
            expansion_add=_TRIED,
            enable_key_lookups=False,
        )
        # In row order, so that equal segments give equal graphs.
        order = np.argsort(first)
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        for begin in range(0, len(first), _STEP):
            keys = np.arange(begin, min(begin + _STEP, len(first)))
            index.add(keys, vectors[known[first[order[keys]]]], threads=threads)
            release([vectors])
            if progress is not None:
                progress(int(keys[-1]) + 1, len(first))
        by_node = np.argsort(number[node], kind="stable")
        counts = np.bincount(number[node], minlength=len(first))
        return cls(index, known[by_node], np.r_[0, np.cumsum(counts)].astype(np.int64))

    def save(self, path: Path) -> int:
        """Write the graph atomically and return its size in bytes."""
        scratch = path.with_name(f"{path.name}.{os.getpid()}.graph")  # serializing in memory would take as much again
        try:
            self._save_index(scratch)
            return self._save_from(scratch, path)
        finally:
            scratch.unlink(missing_ok=True)

    def _save_index(self, scratch: Path) -> None:
        try:
            os.close(create_new(scratch))  # usearch writes by name, so make sure it is our file and not a link
            self._index.save(scratch)
        except (RuntimeError, OSError) as error:
            raise StoreError(f"cannot write {scratch}: {error}", Hint("free some space, then run", "index")) from error

    def _save_from(self, scratch: Path, path: Path) -> int:
        shapes = {
            "graph": (np.uint8, (scratch.stat().st_size,)),
            "rows": (np.int32, self._rows.shape),
            "start": (np.int64, self._start.shape),
        }
        with open_stream(scratch, "rb") as stream, ArrayWriter(path, shapes) as writer:
            writer.put("rows", 0, self._rows)
            writer.put("start", 0, self._start)
            at = 0
            while block := stream.read(_COPIED_BYTES):
                writer.put("graph", at, np.frombuffer(block, np.uint8))
                at += len(block)
        return writer.n_bytes

    @classmethod
    def load(cls, path: Path) -> NeighbourGraph:
        """Map a graph's file.

        Raises:
            DerivedFileError: if it is missing or damaged.
        """
        arrays = load_arrays(path, {"graph": ("u1", 1), "rows": ("i4", 1), "start": ("i8", 1)})
        from usearch.index import Index  # noqa: PLC0415 - start-up time, as in build()

        try:
            index = Index.restore(arrays["graph"].data, view=True, enable_key_lookups=False)
        except (RuntimeError, ValueError) as error:
            raise DerivedFileError(f"{path.name} cannot be read by this usearch: {error}", Hint.of("index")) from error
        if index is None:
            raise DerivedFileError(f"{path.name} holds no graph", Hint.of("index"))
        rows, start = arrays["rows"], arrays["start"]
        check_fits(path, nodes=are_bounds(start, len(index), len(rows)))
        return cls(index, rows, start)

    def nearest(self, query: npt.NDArray[np.float32], count: int = NEAREST) -> npt.NDArray[np.int64]:
        """Return the rows of the `count` nodes nearest to a unit vector of shape (dimensions,), nearest first."""
        quantized = np.round(query * 127).astype(np.int8)
        with self._lock:  # searches share the graph's scratch space
            nodes = np.asarray(self._index.search(quantized, count, threads=1).keys).astype(np.int64)
        lengths = self._start[nodes + 1] - self._start[nodes]
        places = np.repeat(self._start[nodes] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        found: npt.NDArray[np.int64] = self._rows[places].astype(np.int64)
        return found


def _digests(vectors: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.void]]:
    """Return the rows that are not all zeros, and a digest of each one's vector. Shapes: (n_known,)."""
    known, digests = [np.zeros(0, np.int32)], [b""]
    for begin in range(0, len(vectors), _STEP):
        block = np.ascontiguousarray(vectors[begin : begin + _STEP])
        rows = np.flatnonzero(block.any(axis=1)).astype(np.int32)
        known.append(rows + np.int32(begin))
        digests += [blake2b(block[row], digest_size=_DIGEST_BYTES).digest() for row in rows.tolist()]
        release([vectors])
    return np.concatenate(known), np.frombuffer(b"".join(digests), f"V{_DIGEST_BYTES}")


def is_installed() -> bool:
    """Tell whether usearch is installed, as by the extra `large`."""
    return find_spec("usearch") is not None


def open_graph(path: Path) -> NeighbourGraph | None:
    """Open a graph; a damaged one is removed, so that the next run rebuilds it, and gives None.

    Without usearch this gives None as well, and the file stays.
    """
    if not is_installed():
        return None
    try:
        return NeighbourGraph.load(path)
    except DerivedFileError:
        with suppress(OSError):  # in use, or not ours to remove; it stays refused
            path.unlink()
        return None


def build_graphs(state: StateDir, exact_chunks: int, timeout_seconds: float, progress: Progress | None = None) -> int:
    """Build the missing graphs and return how many rows they cover; 0 if another process is building.

    The index can be read and written meanwhile. A segment that is merged away in the meantime gets no graph.

    Args:
        exact_chunks: see `missing_graphs`.
        timeout_seconds: how long to wait for the write lock once a graph is done.
        progress: called with (nodes done, nodes to do) of each graph.

    Raises:
        NotAvailableError: if usearch is not installed.
    """
    if not is_installed():
        raise NotAvailableError(
            f"the index has more than {pluralize(exact_chunks, 'chunk')}, and what answers faster is not installed",
            Hint("uv tool install 'codecairn[large]', then", "index"),
        )
    n_rows = 0
    try:
        with write_lock(state.neighbours_lock, 0.0, INDEX), closing(state.open_for_reading()) as connection:
            for row in missing_graphs(connection, state, exact_chunks):
                try:
                    vectors = Segment.load(state.segment(row.name)).vectors
                except DerivedFileError:
                    continue  # merged away, or damaged, in which case the next run reads its files again
                graph = NeighbourGraph.build(vectors, progress=progress)
                # Under the lock, because a writer deletes all files that belong to no segment, even half-written ones.
                with write_lock(state.lock, timeout_seconds, INDEX):
                    if any(segment.name == row.name for segment in segment_db.read_segments(connection)):
                        graph.save(state.neighbours(row.name))
                        n_rows += row.n_rows
    except IndexLockedError:
        return n_rows
    return n_rows
