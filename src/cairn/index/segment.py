"""An immutable part of the index: one file with postings and vectors of some blobs. Segments merge into larger ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import POSTINGS_LAYOUT, Postings
from cairn.kernels.grouping import distinct
from cairn.storage.arrays import ArrayWriter, are_below, are_bounds, check_fits, load_arrays, release, save_arrays
from cairn.types import Chunk, Definition, ParsedFile

# How much a merge holds in memory at a time.
_BLOCK_POSTINGS = 1_000_000
_BLOCK_ROWS = 16_384
_PARTS_AT_A_TIME = 8
_OF_POSTINGS = {"rows": np.int32, "impacts": np.uint8, "fields": np.uint8}


class Form(IntEnum):
    """What kind of code a chunk is, as far as ranking cares."""

    MODULE = 0
    TYPE = 1
    FUNCTION = 2
    VALUE = 3
    SECTION = 4
    CONTINUATION = 5
    TEST = 6


_FUNCTIONS = frozenset({"function", "method", "constructor", "macro", "procedure", "modifier", "target", "test"})
_LAYOUT = {"blob_ids": ("i8", 1), "blob_start": ("i8", 1), "forms": ("u1", 1), "vectors": ("i1", 2)} | POSTINGS_LAYOUT
_TEST_SCOPES = frozenset({"tests", "test"})  # tests in a module beside the code, as in Rust
_VALUES = frozenset({"constant", "variable", "field", "property", "key", "event", "rule", "table", "block"})


def form_of(chunk: Chunk, owner: Definition | None) -> Form:
    """Return the form of a chunk: a test, a later part of something long, else by its definition's kind.

    Args:
        chunk: the chunk.
        owner: the definition that it belongs to, if any.
    """
    if owner is not None and _is_test(owner):
        return Form.TEST
    if chunk.part:
        return Form.CONTINUATION
    if chunk.owner < 0:
        return Form.MODULE
    if chunk.kind == "section":
        return Form.SECTION
    if chunk.kind in _FUNCTIONS:
        return Form.FUNCTION
    return Form.VALUE if chunk.kind in _VALUES else Form.TYPE


def _is_test(definition: Definition) -> bool:
    *scopes, name = definition.qualified_name.split(".")
    return definition.kind == "test" or not _TEST_SCOPES.isdisjoint(
        [*scopes, *([name] if definition.kind == "module" else [])]
    )


def forms_of(parsed: ParsedFile) -> list[Form]:
    """Return the form of each chunk of a file."""
    return [form_of(chunk, parsed.definitions[chunk.owner] if chunk.owner >= 0 else None) for chunk in parsed.chunks]


class Segment(NamedTuple):
    """Rows are chunks; blob `blob_ids[i]` has rows `blob_start[i]:blob_start[i + 1]`, in reading order.

    Shapes: blob_ids (n_blobs,) ascending, blob_start (n_blobs + 1,), forms (n_rows,) values of `Form`, vectors
    (n_rows, dimensions).
    """

    blob_ids: npt.NDArray[np.int64]
    blob_start: npt.NDArray[np.int64]
    forms: npt.NDArray[np.uint8]
    vectors: npt.NDArray[np.int8]
    postings: Postings

    def __len__(self) -> int:
        return len(self.forms)

    def count_rows(self, blobs: Collection[int]) -> int:
        """Return how many rows some blobs have together."""
        wanted = np.isin(self.blob_ids, np.fromiter(blobs, dtype=np.int64, count=len(blobs)))
        return int(np.diff(self.blob_start)[wanted].sum())

    def save(self, path: Path) -> int:
        """Write the segment atomically and return its size in bytes."""
        return save_arrays(
            path,
            {
                "blob_ids": self.blob_ids,
                "blob_start": self.blob_start,
                "forms": self.forms,
                "vectors": self.vectors,
                **self.postings.to_arrays(),
            },
        )

    @classmethod
    def load(cls, path: Path) -> Segment:
        """Map a segment file.

        Raises:
            DerivedFileError: if it is missing, damaged, or inconsistent.
        """
        arrays = load_arrays(path, _LAYOUT)
        found = cls(
            arrays["blob_ids"], arrays["blob_start"], arrays["forms"], arrays["vectors"], Postings.from_arrays(arrays)
        )
        check_fits(
            path,
            blobs=are_bounds(found.blob_start, len(found.blob_ids), len(found)),
            forms=are_below(found.forms, len(Form)),
            vectors=len(found.vectors) == len(found),
            postings=found.postings.fit(len(found)),
        )
        return found


def merge_segments(
    path: Path, segments: Sequence[Segment], keep: Collection[int], block_postings: int = _BLOCK_POSTINGS
) -> tuple[int, int]:
    """Merge segments into one that holds the blobs in `keep`, in ascending order.

    It is written in blocks, so that neither the old segments nor the new one have to fit in memory.

    Args:
        path: where to write the new segment.
        segments: the old ones.
        keep: the blobs to keep.
        block_postings: about how many postings to hold in memory at a time.

    Returns:
        The rows of the new segment, and its size in bytes.

    Raises:
        StoreError: if it cannot be written.
    """
    order = _blob_order(segments, keep)
    rows = _MergedRows.of(segments, order)
    terms = _Terms.of([segment.postings for segment in segments], rows.new_rows, block_postings)
    n_used, vectors = int(np.count_nonzero(terms.counts)), segments[0].vectors
    shapes: dict[str, tuple[npt.DTypeLike, tuple[int, ...]]] = {
        "blob_ids": (np.int64, (len(order),)),
        "blob_start": (np.int64, (len(order) + 1,)),
        "forms": (np.uint8, (rows.n_new,)),
        "vectors": (np.int8, (rows.n_new, vectors.shape[1])),
        "hashes": (np.uint64, (n_used,)),
        "start": (np.int64, (n_used + 1,)),
        **{name: (dtype, (int(terms.counts.sum()),)) for name, dtype in _OF_POSTINGS.items()},
    }
    with ArrayWriter(path, shapes) as writer:
        writer.put("blob_ids", 0, np.concatenate([segment.blob_ids for segment in segments])[order])
        writer.put("blob_start", 0, rows.blob_start)
        writer.put("forms", 0, np.concatenate([segment.forms for segment in segments])[rows.old_rows])
        for first in range(0, rows.n_new, _BLOCK_ROWS):
            block = rows.old_rows[first : first + _BLOCK_ROWS]
            writer.put("vectors", first, rows.take([segment.vectors for segment in segments], block))
            release(segment.vectors for segment in segments)
        _write_postings(writer, [segment.postings for segment in segments], rows, terms, block_postings)
    return rows.n_new, writer.n_bytes


def _blob_order(segments: Sequence[Segment], keep: Collection[int]) -> npt.NDArray[np.int64]:
    """Return the positions of the blobs to keep, with all segments laid end to end, in the order of their ids."""
    blob_ids = np.concatenate([segment.blob_ids for segment in segments])
    order = np.argsort(blob_ids, kind="stable")
    return order[np.isin(blob_ids[order], np.fromiter(keep, dtype=np.int64, count=len(keep)))]


class _MergedRows(NamedTuple):
    """Maps old rows to new ones. Shapes: blob_start (n_blobs + 1,), old_rows (n_new,), bases (n_segments + 1,).

    `old_rows` has the old row of each new one, with all segments laid end to end; `new_rows` has, for each segment, the
    new row of each old one, -1 if dropped. `bases` is the first old row of each segment.
    """

    blob_start: npt.NDArray[np.int64]
    old_rows: npt.NDArray[np.int32]
    new_rows: list[npt.NDArray[np.int32]]
    bases: npt.NDArray[np.int64]

    @classmethod
    def of(cls, segments: Sequence[Segment], order: npt.NDArray[np.int64]) -> _MergedRows:
        counts = np.concatenate([np.diff(segment.blob_start) for segment in segments])[order]
        bases = np.cumsum([0, *(len(segment) for segment in segments)])
        starts = np.concatenate(
            [segment.blob_start[:-1] + base for segment, base in zip(segments, bases[:-1], strict=True)]
        )[order]
        blob_start = np.r_[0, np.cumsum(counts)].astype(np.int64)
        n_new = int(blob_start[-1])
        old_rows = (np.repeat(starts - blob_start[:-1], counts) + np.arange(n_new)).astype(np.int32)
        new_rows = np.full(int(bases[-1]), -1, dtype=np.int32)
        new_rows[old_rows] = np.arange(n_new, dtype=np.int32)
        return cls(blob_start, old_rows, np.split(new_rows, bases[1:-1]), bases)

    @property
    def n_new(self) -> int:
        return len(self.old_rows)

    def take(self, columns: Sequence[npt.NDArray[np.int8]], rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int8]:
        """Return the given old rows of a column that is spread over several arrays."""
        found = np.empty((len(rows), *columns[0].shape[1:]), dtype=columns[0].dtype)
        for column, first, end in zip(columns, self.bases[:-1], self.bases[1:], strict=True):
            own = np.flatnonzero((rows >= first) & (rows < end))
            found[own] = column[rows[own] - first]
        return found


class _Terms(NamedTuple):
    """The sorted terms of all segments. Shapes: hashes, all_counts, counts (n_terms,).

    `all_counts` is how many postings each has, `counts` how many of them are kept. `ranks` has, for each segment, the
    position of its terms among all.
    """

    hashes: npt.NDArray[np.uint64]
    all_counts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    ranks: list[npt.NDArray[np.int32]]

    @classmethod
    def of(cls, parts: Sequence[Postings], new_rows: Sequence[npt.NDArray[np.int32]], block_postings: int) -> _Terms:
        hashes = _all_hashes(parts)
        all_counts, counts = np.zeros(len(hashes), np.int64), np.zeros(len(hashes), np.int64)
        ranks = []
        for part, rows in zip(parts, new_rows, strict=True):
            rank = np.searchsorted(hashes, part.hashes).astype(np.int32)
            ranks.append(rank)
            all_counts[rank] += np.diff(part.start)
            counts[rank] += _count_postings(part, rows, block_postings)
        return cls(hashes, all_counts, counts, ranks)

    def blocks(self, block_postings: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of terms with about `n_postings` postings each, and at least one term."""
        ends = np.cumsum(self.all_counts)
        first = 0
        while first < len(ends):
            done = ends[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(ends, done + block_postings, "right")))
            yield first, end
            first = end


def _all_hashes(parts: Sequence[Postings]) -> npt.NDArray[np.uint64]:
    """Return the sorted distinct hashes of all parts, merging a few at a time, since they share most hashes."""
    found = np.zeros(0, dtype=np.uint64)
    for first in range(0, len(parts), _PARTS_AT_A_TIME):
        found = distinct(np.concatenate([found, *(part.hashes for part in parts[first : first + _PARTS_AT_A_TIME])]))
    return found


def _count_postings(part: Postings, new_rows: npt.NDArray[np.int32], block_postings: int) -> npt.NDArray[np.int64]:
    """Return how many postings of each term are in rows that are kept. Shape (n_terms,)."""
    if (new_rows >= 0).all():
        return np.diff(part.start)
    until = np.zeros(len(part.rows) + 1, dtype=np.int32)  # the number of kept postings before each one
    for first in range(0, len(part.rows), block_postings):
        kept = np.cumsum(new_rows[part.rows[first : first + block_postings]] >= 0)
        until[first + 1 : first + 1 + len(kept)] = until[first] + kept
    release([part.rows])
    return np.diff(until[part.start]).astype(np.int64)


def _write_postings(
    writer: ArrayWriter, parts: Sequence[Postings], rows: _MergedRows, terms: _Terms, block_postings: int
) -> None:
    used = terms.counts > 0
    writer.put("hashes", 0, terms.hashes[used])
    writer.put("start", 0, np.r_[0, np.cumsum(terms.counts[used])])
    written = 0
    for first, end in terms.blocks(block_postings):
        slices = [(np.searchsorted(rank, first), np.searchsorted(rank, end)) for rank in terms.ranks]
        columns = _block(parts, slices, terms.ranks, rows)
        for name, column in columns.items():
            writer.put(name, written, column)
        written += len(columns["rows"])
        release(part.rows for part in parts)


def _block(
    parts: Sequence[Postings],
    slices: Sequence[tuple[np.intp, np.intp]],
    ranks: Sequence[npt.NDArray[np.int32]],
    rows: _MergedRows,
) -> dict[str, npt.NDArray[Any]]:
    """Return the kept postings of a range of terms, by term and then by row.

    Args:
        slices: the range within the terms of each part.
    """
    found: list[tuple[npt.NDArray[Any], ...]] = []
    for part, (first, end), rank, new_rows in zip(parts, slices, ranks, rows.new_rows, strict=True):
        own = slice(part.start[first], part.start[end])
        to = new_rows[part.rows[own]]
        terms = np.repeat(rank[first:end].astype(np.int64), np.diff(part.start[first : end + 1]))
        keys = terms * max(1, rows.n_new) + to
        columns = (keys, to, part.impacts[own], part.fields[own])
        kept = to >= 0
        found.append(columns if kept.all() else tuple(column[kept] for column in columns))
    keys, *columns_of = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(keys, kind="stable")
    return {name: column[order] for name, column in zip(_OF_POSTINGS, columns_of, strict=True)}
