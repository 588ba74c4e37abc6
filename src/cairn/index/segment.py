"""An immutable part of the index: postings and vectors of some blobs, in one file; segments merge into larger ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import POSTINGS_LAYOUT, Postings
from cairn.storage.arrays import are_below, are_bounds, check_fits, load_arrays, save_arrays
from cairn.types import Chunk


class Form(IntEnum):
    """What a chunk is, as far as ranking cares."""

    MODULE = 0
    TYPE = 1
    FUNCTION = 2
    VALUE = 3
    SECTION = 4
    CONTINUATION = 5


_FUNCTIONS = frozenset({"function", "method", "constructor", "macro", "procedure", "modifier", "target", "test"})
_LAYOUT = {"blob_ids": ("i8", 1), "blob_start": ("i8", 1), "forms": ("u1", 1), "vectors": ("i1", 2)} | POSTINGS_LAYOUT
_VALUES = frozenset({"constant", "variable", "field", "property", "key", "event", "rule", "table", "block"})


def form_of(chunk: Chunk) -> Form:
    """Return what a chunk is: a later part of something long, else by the kind of its definition."""
    if chunk.part:
        return Form.CONTINUATION
    if chunk.owner < 0:
        return Form.MODULE
    if chunk.kind == "section":
        return Form.SECTION
    if chunk.kind in _FUNCTIONS:
        return Form.FUNCTION
    return Form.VALUE if chunk.kind in _VALUES else Form.TYPE


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows are chunks; the rows of blob `blob_ids[i]` are `blob_start[i]:blob_start[i + 1]`, in reading order.

    Shapes: blob_ids (n_blobs,) ascending, blob_start (n_blobs + 1,), forms
    (n_rows,) what each is (see `Form`), vectors (n_rows, dimensions).
    """

    blob_ids: npt.NDArray[np.int64]
    blob_start: npt.NDArray[np.int64]
    forms: npt.NDArray[np.uint8]
    vectors: npt.NDArray[np.int8]
    postings: Postings

    def __len__(self) -> int:
        return len(self.forms)

    def save(self, path: Path) -> int:
        """Write the segment and return its size in bytes; a crash leaves either the whole file or none."""
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
            DerivedFileError: if it is missing, damaged, or its arrays do not fit each other.
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


def merge_segments(segments: Sequence[Segment], keep: Collection[int]) -> Segment:
    """Return one segment with the blobs of all that are in `keep`, in ascending blob order."""
    blob_ids = np.concatenate([segment.blob_ids for segment in segments])
    counts = np.concatenate([np.diff(segment.blob_start) for segment in segments])
    bases = np.cumsum([0, *(len(segment) for segment in segments)])[:-1]
    starts = np.concatenate([segment.blob_start[:-1] + base for segment, base in zip(segments, bases, strict=True)])

    order = np.argsort(blob_ids, kind="stable")
    order = order[np.isin(blob_ids[order], np.fromiter(keep, dtype=np.int64, count=len(keep)))]
    blob_start = np.r_[0, np.cumsum(counts[order])].astype(np.int64)
    # The old row of each new row, and the new row of each old one (-1: dropped).
    old_rows = np.repeat(starts[order] - blob_start[:-1], counts[order]) + np.arange(blob_start[-1])
    new_rows = np.full(sum(len(segment) for segment in segments), -1, dtype=np.int64)
    new_rows[old_rows] = np.arange(len(old_rows))

    return Segment(
        blob_ids=blob_ids[order],
        blob_start=blob_start,
        forms=np.concatenate([segment.forms for segment in segments])[old_rows],
        vectors=np.concatenate([segment.vectors for segment in segments])[old_rows],
        postings=_merge_postings([segment.postings for segment in segments], bases, new_rows),
    )


def _merge_postings(
    parts: Sequence[Postings], bases: npt.NDArray[np.int64], new_rows: npt.NDArray[np.int64]
) -> Postings:
    hashes, ranks = np.unique(np.concatenate([part.hashes for part in parts]), return_inverse=True)
    term_base = np.cumsum([0, *(len(part.hashes) for part in parts)])
    terms = np.concatenate(
        [
            np.repeat(ranks[first : first + len(part.hashes)].astype(np.int32), np.diff(part.start))
            for part, first in zip(parts, term_base, strict=False)
        ]
    )
    rows = new_rows[np.concatenate([part.rows + base for part, base in zip(parts, bases, strict=True)])]
    kept = np.flatnonzero(rows >= 0)
    # One sort key a posting: term above, row below.
    order = kept[np.argsort(terms[kept].astype(np.int64) * max(1, len(new_rows)) + rows[kept], kind="stable")]
    counts = np.bincount(terms[order], minlength=len(hashes))
    used = counts > 0
    return Postings(
        hashes=hashes[used],
        start=np.r_[0, np.cumsum(counts[used])].astype(np.int64),
        rows=rows[order].astype(np.int32),
        impacts=np.concatenate([part.impacts for part in parts])[order],
        fields=np.concatenate([part.fields for part in parts])[order],
    )
