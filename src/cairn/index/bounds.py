"""Upper bounds of cosines, from a quarter of what an exact comparison widens and multiplies.

Vectors of one project lie close to few directions, its principal components. The product of two vectors along these is
most of their cosine, and the product of what is left of their lengths bounds the rest (Cauchy and Schwarz).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

SCALE = 127.0  # of a stored vector, which is of int8 and otherwise of length 1
_SHARE = 4  # a vector has so many times the components that are kept
_SAMPLE_ROWS = 8_192  # from which the components are computed
_BLOCK_ROWS = 2_048  # in one piece BLAS starts threads, which wait by spinning
_SLACK = np.float32(1e-3)  # more than rounding can change a cosine


class _BoundsOfBlock(NamedTuple):
    """What is kept of some vectors along the components.

    Attributes:
        heads: shape (n_components, n_rows), int8; component by component they are read in long runs.
        steps: shape (n_components,), what 1 stands for in a head.
        error: the most that a head differs from the vector along the components, as a length.
    """

    heads: npt.NDArray[np.int8]
    steps: Floats
    error: np.float32


class BoundsOfPart(NamedTuple):
    """What is kept of some vectors: blocks, and the length of what is left of each vector beside the components."""

    blocks: list[_BoundsOfBlock]
    tails: Floats


class CosineBounds:
    """What bounds the cosines of all vectors.

    Attributes:
        basis: shape (dimensions, n_components), orthonormal.
        parts: laid end to end.
    """

    def __init__(self, basis: Floats, parts: Sequence[BoundsOfPart]) -> None:
        self.basis = basis
        self.parts = tuple(parts)
        self._tails = np.concatenate([np.zeros(0, np.float32), *(part.tails for part in parts)])

    @classmethod
    def of(
        cls, parts: Sequence[npt.NDArray[np.int8]], known: CosineBounds | None = None, n_known: int = 0
    ) -> CosineBounds:
        """Return the bounds of int8 vectors.

        Args:
            parts: shapes (n_i, dimensions).
            known: bounds of which the first `n_known` parts are of the same vectors; its components serve the others.
        """
        basis = _find_basis(parts) if known is None else known.basis
        same = () if known is None else known.parts[:n_known]
        return cls(basis, [*same, *(_bounds_of_part(part, basis) for part in parts[len(same) :])])

    def bounds(self, query: Floats) -> Floats:
        """Return a value for every row that its cosine with a unit vector does not exceed, shape (n_rows,)."""
        head = query @ self.basis
        square = float(head @ head)
        length, left = np.float32(math.sqrt(square)), np.float32(math.sqrt(max(0.0, 1.0 - square)))
        found: Floats = self._tails * (left + _SLACK)
        wide = np.empty((len(head), _BLOCK_ROWS), dtype=np.float32)
        first = 0
        for block in (block for part in self.parts for block in part.blocks):
            count = block.heads.shape[1]
            own = wide if count == _BLOCK_ROWS else np.empty((len(head), count), dtype=np.float32)
            np.copyto(own, block.heads)
            products = (head * block.steps) @ own
            products += length * block.error + _SLACK
            found[first : first + count] += products
            first += count
        return found


def _find_basis(parts: Sequence[npt.NDArray[np.int8]]) -> Floats:
    """Return the leading principal components of a sample of vectors, shape (dimensions, n_components)."""
    step = max(1, sum(map(len, parts)) // _SAMPLE_ROWS)
    sample = np.concatenate([part[::step] for part in parts]).astype(np.float32) / np.float32(SCALE)
    _, directions = np.linalg.eigh(sample.T @ sample)
    n_components = max(1, sample.shape[1] // _SHARE)
    leading: Floats = np.ascontiguousarray(directions[:, : -n_components - 1 : -1], dtype=np.float32)
    return leading


def _bounds_of_part(part: npt.NDArray[np.int8], basis: Floats) -> BoundsOfPart:
    blocks, tails = [], np.empty(len(part), dtype=np.float32)
    for first in range(0, len(part), _BLOCK_ROWS):
        rows = part[first : first + _BLOCK_ROWS].astype(np.float32)
        rows /= np.float32(SCALE)
        head = rows @ basis
        left = np.vecdot(rows, rows) - np.vecdot(head, head)
        tails[first : first + len(rows)] = np.sqrt(np.maximum(left, 0)) + _SLACK
        steps = np.maximum(np.abs(head).max(axis=0), _SLACK) / np.float32(SCALE)
        numbers = np.round(head / steps)
        error = np.sqrt(np.square(head - numbers * steps).sum(axis=1).max())
        blocks.append(_BoundsOfBlock(np.ascontiguousarray(numbers.T, dtype=np.int8), steps, error))
    return BoundsOfPart(blocks, tails)
