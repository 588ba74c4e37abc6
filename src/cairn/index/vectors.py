"""Unit vectors of one model for the rows of a snapshot, compared with a query's all at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

# Rows are widened to float32 a block at a time, into memory that stays in the cache: as fast as a product with float32
# that is kept, in a quarter of the memory, and nothing is done at opening. BLAS starts no threads for a block.
_BLOCK_ROWS = 512
_SCALE = np.float32(127.0)
COARSE_DIMENSIONS = 64
_COARSE_BLOCK_ROWS = 2_048  # as many numbers as above: in one piece BLAS starts threads, which wait by spinning


class Vectors:
    """Rows of int8, a unit vector times 127 each.

    Args:
        parts: shapes (n_i, dimensions), laid end to end.
        dimensions: the length of a vector.
        places: shape (n_rows,), where each row of the snapshot has its vector, -1 for none; None: in order.
    """

    def __init__(
        self, parts: Sequence[npt.NDArray[np.int8]], dimensions: int, places: npt.NDArray[np.int64] | None = None
    ) -> None:
        self.dimensions = dimensions
        self._parts = tuple(parts)
        self._places = places
        self._n_stored = sum(len(part) for part in self._parts)

    def similarities(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the cosine of a unit vector, shape (dimensions,), with every row's, shape (n_rows,); 0 for none."""
        stored = np.empty(self._n_stored, dtype=np.float32)
        buffer = np.empty((_BLOCK_ROWS, self.dimensions), dtype=np.float32)
        scaled = (query / _SCALE).astype(np.float32, copy=False)
        base = 0
        for part in self._parts:
            for first in range(0, len(part), _BLOCK_ROWS):
                rows = part[first : first + _BLOCK_ROWS]
                block = buffer[: len(rows)]
                np.copyto(block, rows)
                np.dot(block, scaled, out=stored[base + first : base + first + len(rows)])
            base += len(part)
        if self._places is None:
            return stored
        found: npt.NDArray[np.float32] = np.append(stored, np.float32(0))[self._places]
        return found

    def coarse(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return about the cosine of a unit vector with every row's, judged by the leading dimensions alone.

        A model trained as Kusupati et al. describe (Matryoshka Representation Learning, 2022) puts most of a meaning
        there, and comparing a quarter of each vector takes a part of the time. A row is taken to have as much of its
        length there as the query has.
        """
        head = query[:COARSE_DIMENSIONS]
        scaled = head / np.float32(max(1e-6, float(head @ head)))
        found = np.empty(self._n_stored, dtype=np.float32)
        first = 0
        for heads in self._heads:
            np.dot(scaled, heads, out=found[first : first + heads.shape[1]])
            first += heads.shape[1]
        return found

    @cached_property
    def _heads(self) -> list[npt.NDArray[np.float32]]:
        """The leading dimensions of every vector, kept as float32: for each block, shape (COARSE_DIMENSIONS, n_i).

        Dimension by dimension they are read in long runs, which takes half the time where they left the cache.
        """
        blocks = [
            part[first : first + _COARSE_BLOCK_ROWS, :COARSE_DIMENSIONS].T.astype(np.float32, order="C")
            for part in self._parts
            for first in range(0, len(part), _COARSE_BLOCK_ROWS)
        ]
        for block in blocks:
            block /= _SCALE
        return blocks

    def similarities_of(self, rows: npt.NDArray[np.int64], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the cosine of a unit vector with those of some rows, in order; for vectors as in `take`."""
        found = np.empty(len(rows), dtype=np.float32)
        scaled = (query / _SCALE).astype(np.float32, copy=False)
        for first in range(0, len(rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            found[block] = self._stored(rows[block]).astype(np.float32) @ scaled
        return found

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of some rows, in order; for vectors that are laid out as the snapshot's rows are."""
        result = self._stored(rows).astype(np.float32)
        result /= _SCALE
        return result

    def _stored(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        if len(self._parts) == 1:
            return self._parts[0][rows]
        result = np.empty((len(rows), self.dimensions), dtype=np.int8)
        base = 0
        for part in self._parts:
            own = np.flatnonzero((rows >= base) & (rows < base + len(part)))
            result[own] = part[rows[own] - base]
            base += len(part)
        return result
