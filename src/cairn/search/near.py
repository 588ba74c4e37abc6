"""The cosines of all rows with a query, exact for every row that can matter for the best scores.

A small index is compared row by row. A larger one is compared by the leading dimensions of the vectors first, and the
rows that then score best are compared exactly. Where neighbour graphs say which rows are nearest, the cosine of every
other row has an upper bound, and so has its score: files are examined from the highest bound down until the best are
certain. This is the threshold algorithm of Fagin, Lotem and Naor (2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# An index of at most EXACT_ROWS rows is compared row by row, of a larger one the best SHARPENED_ROWS. Where leading
# dimensions alone would take 100 MB, all rows are compared again.
EXACT_ROWS, SHARPENED_ROWS, MAX_COARSE_ROWS = 4_000, 240, 400_000
# A scope with a smaller share of the rows is compared row by row: the nearest rows of all may be outside it.
NARROW = 1 / 8
# In this many of the best files no row is left with only a bound: more than the second stage or a usual limit needs.
SETTLED_FILES = 128


class Nearness(NamedTuple):
    """How near the rows are to a query.

    Attributes:
        cosines: shape (n_rows,); `sharpen` makes those that matter exact.
        known: shape (n_rows,), which cosines are exact while the others are bounds; None when there are no bounds.
        coarse: whether the cosines are of the leading dimensions alone.
    """

    cosines: Floats
    known: Bools | None = None
    coarse: bool = False

    def sharpen(self, snapshot: Snapshot, vector: Floats, total: Floats, weight: float) -> None:
        """Replace estimates by exact cosines, here and in the scores, for the rows that may be among the best.

        Args:
            total: shape (n_rows,), the scores with `weight` times the cosines; -inf for rows out of scope.
        """
        if self.known is not None:
            _settle(snapshot, vector, total, self.cosines, self.known, weight)
        elif self.coarse:
            rows = best_rows(snapshot, total, SHARPENED_ROWS)
            exact = snapshot.vectors.similarities_of(rows, vector)
            total[rows] += np.float32(weight) * (exact - self.cosines[rows])
            self.cosines[rows] = exact


def largest(values: Floats, count: int) -> Ints:
    """Return the places of the largest values in ascending order, with all that equal the least of them."""
    if count >= len(values):
        return np.arange(len(values))
    return np.flatnonzero(values >= np.partition(values, -count)[-count])


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
    if (nearest := snapshot.nearest(vector)) is None:
        if EXACT_ROWS < snapshot.n_live <= MAX_COARSE_ROWS:
            return Nearness(snapshot.vectors.coarse(vector), coarse=True)
        return Nearness(snapshot.vectors.similarities(vector))
    in_scope = np.repeat(file_of_blob >= 0, np.diff(snapshot.blob_rows))
    if np.count_nonzero(in_scope) > NARROW * snapshot.n_live:
        return Nearness(*nearest)
    rows = np.flatnonzero(in_scope)
    cosines = np.zeros(snapshot.n_rows, dtype=np.float32)
    cosines[rows] = snapshot.vectors.similarities_of(rows, vector)
    return Nearness(cosines)


def _settle(snapshot: Snapshot, vector: Floats, total: Floats, dense: Floats, known: Bools, weight: float) -> None:
    """Replace bounds by cosines, in `dense` and in the scores, until the best files have no bounds left."""
    full = np.flatnonzero(np.diff(snapshot.blob_rows))
    best = np.maximum.reduceat(total, snapshot.blob_rows[full])
    settled = ~np.isfinite(best)
    count = SETTLED_FILES
    while len(_best_unsettled(best, settled, SETTLED_FILES)):
        blobs = _best_unsettled(best, settled, count)
        rows, counts = snapshot.rows_of(full[blobs])
        bounds = rows[~known[rows]]
        exact = snapshot.vectors.similarities_of(bounds, vector)
        total[bounds] += np.float32(weight) * (exact - dense[bounds])
        dense[bounds], known[bounds] = exact, True
        best[blobs] = np.maximum.reduceat(total[rows], np.cumsum(counts) - counts)
        settled[blobs] = True
        count *= 2


def _best_unsettled(best: Floats, settled: Bools, count: int) -> Ints:
    """Return those of the best `count` places that are not settled."""
    places = largest(best, count)
    unsettled: Ints = places[~settled[places]]
    return unsettled
