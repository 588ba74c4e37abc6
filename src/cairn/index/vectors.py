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
        for first in range(0, self._n_stored, _COARSE_BLOCK_ROWS):
            block = slice(first, first + _COARSE_BLOCK_ROWS)
            np.dot(self._heads[block], scaled, out=found[block])
        return found

    @cached_property
    def _heads(self) -> npt.NDArray[np.float32]:
        """The leading dimensions of every vector, kept as float32. Shape (n_stored, COARSE_DIMENSIONS)."""
        heads = [part[:, :COARSE_DIMENSIONS].astype(np.float32) for part in self._parts]
        stored = np.concatenate(heads) if heads else np.zeros((0, COARSE_DIMENSIONS), dtype=np.float32)
        stored /= _SCALE
        return stored

    def similarities_of(self, rows: npt.NDArray[np.int64], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the cosine of a unit vector with those of some rows, in order; for vectors as in `take`."""
        found = np.empty(len(rows), dtype=np.float32)
        for first in range(0, len(rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            found[block] = self.take(rows[block]) @ query
        return found

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of some rows, in order; for vectors that are laid out as the snapshot's rows are."""
        result = np.empty((len(rows), self.dimensions), dtype=np.float32)
        base = 0
        for part in self._parts:
            own = (rows >= base) & (rows < base + len(part))
            result[own] = part[rows[own] - base]
            base += len(part)
        return result / _SCALE
