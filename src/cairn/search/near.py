"""The cosines of a large index: those of the nearest rows, and of all rows of the files that may be among the best.

Where graphs say which rows are nearest, every other row's cosine lies below a bound, and so does its score. Files are
looked into from the highest bound down until the best are known: the threshold algorithm of Fagin, Lotem, Naor 2003.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A scope with a smaller share of the rows is compared row by row: the nearest of all may lie outside of it.
NARROW = 1 / 8
# So many files have no row left that is only estimated; more than the second stage and any usual limit look at.
SETTLED_FILES = 128


def cosines(snapshot: Snapshot, vector: Floats, file_of_blob: Ints) -> tuple[Floats, Bools | None]:
    """Return the cosine of a unit vector with each row's, shape (n_rows,), and which are known: None for all in scope.

    Args:
        vector: shape (dimensions,).
        file_of_blob: shape (n_blobs,), -1 for a blob out of scope; the cosines of its rows may be missing (0).
    """
    found = snapshot.nearest(vector)
    if found is None:
        return snapshot.similarities(vector), None
    in_scope = np.repeat(file_of_blob >= 0, np.diff(snapshot.blob_rows))
    if np.count_nonzero(in_scope) > NARROW * snapshot.n_rows:
        return found
    rows = np.flatnonzero(in_scope)
    result = np.zeros(snapshot.n_rows, dtype=np.float32)
    result[rows] = snapshot.similarities_of(rows, vector)
    return result, None


def settle(snapshot: Snapshot, vector: Floats, total: Floats, dense: Floats, known: Bools, weight: float) -> None:
    """Put cosines in place of bounds, in `dense` and in the scores, until the best files have no bound left.

    Args:
        total: shape (n_rows,), the scores with `weight` times what is in `dense`; -inf for rows out of scope.
        dense, known: as `cosines` gives them.
    """
    full = np.flatnonzero(np.diff(snapshot.blob_rows))
    first, last = snapshot.blob_rows[full], snapshot.blob_rows[full + 1]
    best = np.maximum.reduceat(total, first)
    settled = ~np.isfinite(best)
    count = SETTLED_FILES
    while len(_unsettled(best, settled, SETTLED_FILES)):
        blobs = _unsettled(best, settled, count)
        lengths = last[blobs] - first[blobs]
        starts = np.cumsum(lengths) - lengths
        rows = np.arange(int(lengths.sum())) + np.repeat(first[blobs] - starts, lengths)
        bounds = rows[~known[rows]]
        exact = snapshot.similarities_of(bounds, vector)
        total[bounds] += np.float32(weight) * (exact - dense[bounds])
        dense[bounds], known[bounds] = exact, True
        best[blobs] = np.maximum.reduceat(total[rows], starts)
        settled[blobs] = True
        count *= 2


def _unsettled(best: Floats, settled: Bools, count: int) -> Ints:
    """Return those of the best `count` places that are not settled."""
    places = np.arange(len(best)) if count >= len(best) else np.argpartition(-best, count)[:count]
    found: Ints = places[~settled[places]]
    return found
