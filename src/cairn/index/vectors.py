"""Unit vectors of one model for the rows of a snapshot, compared with a query's all at once.

A cosine must not depend on where its row lies, or an index would rank as its history has it. Sums of fractions do:
their last bits follow the order in which a matrix product adds. So both sides are whole numbers, the query's as fine as
keeps every sum within what float32 holds exactly; then all orders give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

# Rows are widened to float32 a block at a time, into memory that stays in the cache: as fast as a product with float32
# that is kept, in a quarter of the memory, and nothing is done at opening. BLAS starts no threads for a block.
_BLOCK_ROWS = 512
_SCALE = 127.0
_EXACT = 1 << 24  # float32 holds all whole numbers up to this
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
        scaled, unit = whole_numbers(query)
        base = 0
        for part in self._parts:
            for first in range(0, len(part), _BLOCK_ROWS):
                rows = part[first : first + _BLOCK_ROWS]
                block = buffer[: len(rows)]
                np.copyto(block, rows)
                np.dot(block, scaled, out=stored[base + first : base + first + len(rows)])
            base += len(part)
        stored *= unit
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
        scaled, unit = whole_numbers(head)
        found = np.empty(self._n_stored, dtype=np.float32)
        first = 0
        for heads in self._heads:
            np.dot(scaled, heads, out=found[first : first + heads.shape[1]])
            first += heads.shape[1]
        found *= np.float32(unit / max(1e-6, float(head @ head)))
        return found

    @cached_property
    def _heads(self) -> list[npt.NDArray[np.float32]]:
        """The leading dimensions of every vector, kept as float32: for each block, shape (COARSE_DIMENSIONS, n_i).

        Dimension by dimension they are read in long runs, which takes half the time where they left the cache.
        """
        return [
            part[first : first + _COARSE_BLOCK_ROWS, :COARSE_DIMENSIONS].T.astype(np.float32, order="C")
            for part in self._parts
            for first in range(0, len(part), _COARSE_BLOCK_ROWS)
        ]

    def similarities_of(self, rows: npt.NDArray[np.int64], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the cosine of a unit vector with those of some rows, in order; for vectors as in `take`."""
        found = np.empty(len(rows), dtype=np.float32)
        scaled, unit = whole_numbers(query)
        for first in range(0, len(rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            found[block] = self._rows_at(rows[block]).astype(np.float32) @ scaled
        found *= unit
        return found

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of some rows, in order; for vectors that are laid out as the snapshot's rows are."""
        result = self._rows_at(rows).astype(np.float32)
        result /= np.float32(_SCALE)
        return result

    def numbers(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return what `take` does, each vector times 127: whole numbers."""
        return self._rows_at(rows).astype(np.float32)

    def _rows_at(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        if len(self._parts) == 1:
            return self._parts[0][rows]
        result = np.empty((len(rows), self.dimensions), dtype=np.int8)
        base = 0
        for part in self._parts:
            own = np.flatnonzero((rows >= base) & (rows < base + len(part)))
            result[own] = part[rows[own] - base]
            base += len(part)
        return result


def whole_numbers(query: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], np.float32]:
    """Return a unit vector, or a part of one, as whole numbers, and what to multiply its products with stored ones by.

    The numbers are as large as keeps sums exact: a sum over any of the products is at most the product of both lengths
    (Cauchy and Schwarz), and rounding adds at most half the root of the dimensions to a length.
    """
    slack = 0.5 * float(np.sqrt(len(query)))
    scale = _EXACT / (_SCALE + slack) - slack
    return np.round(query * np.float32(scale)), np.float32(1 / (_SCALE * scale))


def agreements(left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the cosines of two lists of vectors, pair by pair, as `Vectors.numbers` returns them. Shape: (n,)."""
    found: npt.NDArray[np.float32] = np.vecdot(left, right)
    found *= np.float32(1 / _SCALE**2)
    return found
