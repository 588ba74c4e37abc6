"""One model's unit vectors for the rows of a snapshot, compared with a query's all at once.

A cosine must not depend on the position of its row, or ranking would depend on the history of the index. With floats it
would: the last bits of a matrix product depend on the order of its additions. So both sides are whole numbers, scaled
so that float32 holds every sum exactly; then every order gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cairn.kernels import loops

SCALE = 127.0  # of a stored int8 vector, which stands for one of length 1
_EXACT = 1 << 24  # float32 holds all whole numbers up to this exactly
# If the parts hold this many times more vectors than needed, copy those needed, unless that takes over 100 MB.
_LOOSE_SHARE = 1.25
_MAX_COPIED_ROWS = 400_000


class Vectors:
    """Rows of int8, each a unit vector times 127.

    Args:
        parts: shapes (n_i, dimensions), laid end to end.
        dimensions: the length of a vector.
        places: shape (n_rows,), the position of each row's vector, -1 for none; None if they are in order.
    """

    def __init__(
        self, parts: Sequence[npt.NDArray[np.int8]], dimensions: int, places: npt.NDArray[np.int64] | None = None
    ) -> None:
        self.dimensions = dimensions
        self._parts = tuple(parts)
        self._places = places
        n_stored = sum(len(part) for part in self._parts)
        self._n_rows = n_stored if places is None else len(places)
        # Otherwise every query would also be compared with other views' vectors.
        if places is not None and _LOOSE_SHARE * self._n_rows < n_stored and self._n_rows <= _MAX_COPIED_ROWS:
            self._parts = (self._gather(places),)
            self._places = None

    def similarities(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return a unit vector's cosine with each row, shape (n_rows,); 0 for a row without a vector."""
        scaled, unit = whole_numbers(query)
        found = [loops.cosines(part, scaled, float(unit)) for part in self._parts]
        return self._of_rows(found[0] if len(found) == 1 else np.concatenate([np.zeros(0, np.float32), *found]))

    def _of_rows(self, stored: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return values by row, given the values by stored vector."""
        if self._places is None:
            return stored
        found: npt.NDArray[np.float32] = np.append(stored, np.float32(0))[self._places]
        return found

    def similarities_of(self, rows: npt.NDArray[np.int64], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the cosines of a unit vector with some rows, in order."""
        scaled, unit = whole_numbers(query)
        found: npt.NDArray[np.float32] = loops.cosines(self.numbers(rows), scaled, float(unit))
        return found

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of some rows, in order."""
        result = self.numbers(rows).astype(np.float32)
        result /= np.float32(SCALE)
        return result

    def numbers(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        """Return the same as `take`, times 127: whole numbers."""
        return self._gather(rows if self._places is None else self._places[rows])

    def _gather(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        """Return the vectors at some positions, zeros for -1."""
        if len(self._parts) == 1 and self._places is None:
            return self._parts[0][places]
        result = np.zeros((len(places), self.dimensions), dtype=np.int8)
        base = 0
        for part in self._parts:
            own = np.flatnonzero((places >= base) & (places < base + len(part)))
            result[own] = part[places[own] - base]
            base += len(part)
        return result


def whole_numbers(query: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], np.float32]:
    """Return a unit vector, or part of one, in whole numbers, and the factor that turns products into cosines.

    The numbers are as large as possible while sums stay exact: any partial sum is at most the product of both lengths
    (Cauchy-Schwarz), and rounding adds at most half the square root of the dimensions to a length.
    """
    scale, unit = _scale_of(len(query))
    return (query * scale).round(), unit


@lru_cache(maxsize=16)
def _scale_of(dimensions: int) -> tuple[np.float32, np.float32]:
    slack = 0.5 * float(np.sqrt(dimensions))
    scale = _EXACT / (SCALE + slack) - slack
    return np.float32(scale), np.float32(1 / (SCALE * scale))


def agreements(left: npt.NDArray[np.int8], right: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return the pairwise cosines of two lists of vectors, given as by `Vectors.numbers`. Shape: (n,)."""
    found: npt.NDArray[np.float32] = loops.pair_products(left, right)
    found *= np.float32(1 / SCALE**2)
    return found
