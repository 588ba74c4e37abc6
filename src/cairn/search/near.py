"""The cosines of all rows with a query, exact for every row that can matter for the best files.

An index is compared row by row. Only in a very large one, where neighbour graphs say which rows are nearest, the others
get an upper bound, from the last of these. Then files are compared from the highest bound down until the best are
certain. This is the threshold algorithm of Fagin, Lotem and Naor (2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot
from cairn.kernels.grouping import largest

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A scope with a smaller share of the rows is compared row by row: the nearest rows of all may be outside it.
NARROW = 1 / 8
# Of this many of the best files every row is compared: some more than the second stage sees.
SETTLED_FILES = 40
_MARGIN = np.float32(2e-4)  # more than the rounding of scores can change their order


class Totals(NamedTuple):
    """Scores that depend on cosines: `of_rows` is `base`, the scores without cosines, plus `weight` times these.

    `of_blobs` is the highest of each blob's rows.
    """

    base: Floats
    weight: np.float32
    of_rows: Floats
    of_blobs: Floats


class Nearness:
    """How near the rows are to a query.

    Args:
        snapshot: that has the rows.
        vector: the query's, of length 1.
        cosines: shape (n_rows,).
        known: shape (n_rows,), which cosines are exact while the others are bounds; None when all are.

    Attributes:
        cosines, known: as given; both change while scores are settled.
    """

    def __init__(self, snapshot: Snapshot, vector: Floats, cosines: Floats, known: Bools | None = None) -> None:
        self.cosines = cosines
        self.known = known
        self._snapshot = snapshot
        self._vector = vector

    def settle(self, totals: Totals, count: int = SETTLED_FILES) -> None:
        """Replace bounds by cosines until the `count` best blobs are certain and none of their rows has a bound."""
        if self._is_settled(totals, count):
            return
        best, snapshot = totals.of_blobs, self._snapshot
        top = _largest_finite(best, 2 * count)
        rows, counts = snapshot.rows_of(top)
        highest = totals.of_rows[rows] >= np.repeat(best[top], counts)
        self.make_exact(totals, rows[highest])
        reached = np.full(len(top), -np.inf, dtype=np.float32)  # each blob's score is at least that of this row
        np.maximum.at(reached, np.repeat(np.arange(len(top)), counts)[highest], totals.of_rows[rows[highest]])
        least = np.float32(-np.inf)
        if len(top) >= count:  # so many reach this; what cannot reach it is none of the best
            least = np.partition(reached, -count)[-count] - _MARGIN
        others = np.flatnonzero(best >= least)
        rows, counts = snapshot.rows_of(others)
        self.make_exact(totals, rows[totals.of_rows[rows] >= least])
        best[others] = np.maximum.reduceat(totals.of_rows[rows], np.cumsum(counts) - counts)
        self._compare_all(totals, np.flatnonzero(best >= least) if len(top) < count else _at_least(best, count))

    def _is_settled(self, totals: Totals, count: int) -> bool:
        """Tell whether the `count` best blobs are certain already, as they mostly are when asked a second time."""
        if self.known is None or not self.known.any():
            return self.known is None
        rows, _ = self._snapshot.rows_of(_at_least(totals.of_blobs, count))
        return bool(self.known[rows].all())

    def make_exact(self, totals: Totals, rows: Ints) -> None:
        """Replace the bounds of some rows by cosines; the scores of their blobs are left as they are."""
        if self.known is None:
            return
        rows = rows[~self.known[rows]]
        exact = self._snapshot.vectors.similarities_of(rows, self._vector)
        self.cosines[rows], self.known[rows] = exact, True
        totals.of_rows[rows] = totals.base[rows] + totals.weight * exact

    def _compare_all(self, totals: Totals, blobs: Ints) -> None:
        """Compare every row of some blobs."""
        if len(blobs):
            rows, counts = self._snapshot.rows_of(blobs)
            self.make_exact(totals, rows)
            totals.of_blobs[blobs] = np.maximum.reduceat(totals.of_rows[rows], np.cumsum(counts) - counts)


def _largest_finite(values: Floats, count: int) -> Ints:
    places = largest(values, count)
    return places[np.isfinite(values[places])]


def _at_least(values: Floats, count: int) -> Ints:
    """Return the places of the `count` largest values, and of those that rounding may put among them."""
    places = _largest_finite(values, count)
    found: Ints = np.flatnonzero(values >= values[places].min(initial=np.inf) - _MARGIN)
    return found


def best_rows(snapshot: Snapshot, values: Floats, count: int) -> Ints:
    """Return at most `count` rows with the largest finite values, in no order; of equal ones the first by path.

    Args:
        values: shape (n_rows,).
    """
    rows = largest(values, count)
    rows = rows[np.isfinite(values[rows])]
    if len(rows) <= count:
        return rows
    is_least = values[rows] == values[rows].min()
    above, equal = rows[~is_least], rows[is_least]
    best: Ints = np.concatenate([above, equal[snapshot.in_path_order(equal)][: count - len(above)]])
    return best


def compare(snapshot: Snapshot, vector: Floats, file_of_blob: Ints) -> Nearness:
    """Compare every row with a unit vector.

    Args:
        vector: shape (dimensions,).
        file_of_blob: shape (n_blobs,), -1 for a blob out of scope; the cosines of its rows may be missing (0).
    """
    nearest = snapshot.nearest(vector)
    if nearest is None:
        return Nearness(snapshot, vector, snapshot.vectors.similarities(vector))
    in_scope = np.repeat(file_of_blob >= 0, snapshot.n_rows_of_blob)
    if np.count_nonzero(in_scope) > NARROW * snapshot.n_rows:
        return Nearness(snapshot, vector, *nearest)
    rows = np.flatnonzero(in_scope)
    cosines = np.zeros(snapshot.n_rows, dtype=np.float32)
    cosines[rows] = snapshot.vectors.similarities_of(rows, vector)
    return Nearness(snapshot, vector, cosines)
