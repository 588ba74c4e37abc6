"""Unit vectors of one model for the rows of a snapshot, compared with a query's all at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

# Above this size vectors are widened block by block instead of being kept as float32.
_MAX_WIDENED_BYTES = 100_000_000
_BLOCK_ROWS = 8_192
_SCALE = np.float32(127.0)
COARSE_DIMENSIONS = 64


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
        if self._n_stored * self.dimensions * 4 <= _MAX_WIDENED_BYTES:
            stored = self._widened @ query
        else:
            stored = np.empty(self._n_stored, dtype=np.float32)
            base = 0
            for part in self._parts:
                for first in range(0, len(part), _BLOCK_ROWS):
                    block = part[first : first + _BLOCK_ROWS].astype(np.float32)
                    stored[base + first : base + first + len(block)] = block @ query
                base += len(part)
            stored /= _SCALE
        if self._places is None:
            return stored
        found: npt.NDArray[np.float32] = np.append(stored, np.float32(0))[self._places]
        return found

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of some rows, in order; for vectors that are laid out as the snapshot's rows are."""
        if "_widened" in self.__dict__:
            widened: npt.NDArray[np.float32] = self._widened[rows]
            return widened
        result = np.empty((len(rows), self.dimensions), dtype=np.float32)
        base = 0
        for part in self._parts:
            own = (rows >= base) & (rows < base + len(part))
            result[own] = part[rows[own] - base]
            base += len(part)
        return result / _SCALE

    def coarse(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return about the cosine of a unit vector with every row's, judged by the leading dimensions alone.

        A model trained as Kusupati et al. describe (Matryoshka Representation Learning, 2022) puts most of a meaning
        there, and comparing a quarter of each vector takes a quarter of the time, most of which is memory traffic.
        """
        head = query[:COARSE_DIMENSIONS]
        length = np.float32(max(1e-6, float(np.linalg.norm(head))))
        return self._heads @ (head / length)

    @cached_property
    def _heads(self) -> npt.NDArray[np.float32]:
        """The leading dimensions of every vector, as unit vectors. Shape (n_stored, COARSE_DIMENSIONS)."""
        heads = [part[:, :COARSE_DIMENSIONS].astype(np.float32) for part in self._parts]
        stored = np.concatenate(heads) if heads else np.zeros((0, COARSE_DIMENSIONS), dtype=np.float32)
        stored /= np.maximum(np.linalg.norm(stored, axis=1, keepdims=True), np.float32(1e-6))
        return stored

    @cached_property
    def _widened(self) -> npt.NDArray[np.float32]:
        parts = [part.astype(np.float32) / _SCALE for part in self._parts]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)
