"""The learned second stage of ranking: a small ensemble of decision trees that corrects the scores of the best files.

`training/ranker.py` writes the trees as data; without that file the first stage stands as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot
from cairn.search.features import FEATURES, file_features
from cairn.search.rank import ASKED_FOR, Floats, Ints, Scores, Weights

DATA = Path(__file__).parent / "ranker.json"
# Files that the first stage puts below this place stay there: 99.6 % of the right ones are above it.
CANDIDATES = 40
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees in arrays, one row each, padded; a leaf points at itself.

    Shapes (n_trees, n_nodes): features (a place in `FEATURES`), thresholds, left (taken when not above), right, values.
    """

    features: Ints
    thresholds: Floats
    left: Ints
    right: Ints
    values: Floats
    depth: int

    def predict(self, rows: Floats) -> Floats:
        """Return the sum of all trees for each row of features. Shapes: (n, len(FEATURES)) to (n,)."""
        trees = np.arange(len(self.features))
        nodes = np.zeros((len(rows), len(trees)), dtype=np.int64)
        places = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            goes_left = rows[places, self.features[trees, nodes]] <= self.thresholds[trees, nodes]
            nodes = np.where(goes_left, self.left[trees, nodes], self.right[trees, nodes])
        total: Floats = self.values[trees, nodes].sum(axis=1)
        return total


def make_forest(model: Mapping[str, Any]) -> Forest:
    """Return the trees that `training/ranker.py` describes."""
    columns: dict[str, npt.NDArray[np.float64]] = {
        name: np.array([tree[name] for tree in model["trees"]])
        for name in ("feature", "threshold", "left", "right", "value")
    }
    return Forest(
        columns["feature"].astype(np.int64),
        columns["threshold"].astype(np.float32),
        columns["left"].astype(np.int64),
        columns["right"].astype(np.int64),
        columns["value"].astype(np.float32),
        int(model["depth"]),
    )


@cache
def load_forest(path: Path = DATA) -> Forest | None:
    """Return the trees in a file, None when it is missing or was trained on other features."""
    if not path.is_file():
        return None
    model = json.loads(path.read_text(encoding="utf-8"))
    return make_forest(model) if tuple(model["features"]) == FEATURES else None


def candidates(snapshot: Snapshot, scores: Scores) -> Ints:
    """Return the blobs of the files whose best row scored highest, best first."""
    full = np.flatnonzero(np.diff(snapshot.blob_rows))
    best = np.maximum.reduceat(scores.total, snapshot.blob_rows[full])
    full, best = full[np.isfinite(best)], best[np.isfinite(best)]
    # What differs only in how it was summed up is a tie, which the order of the paths decides.
    order = np.lexsort((snapshot.file_of_blob[full], -np.round(best, _DECIMALS)))
    return full[order[:CANDIDATES]]


def correct(snapshot: Snapshot, vector: Floats | None, scores: Scores, weights: Weights) -> None:
    """Add what the trees say about the best files to the scores of all their rows, and note it as a feature."""
    forest = load_forest()
    blobs = candidates(snapshot, scores)
    if forest is None or not weights.learned or len(blobs) < 2:
        return
    opinion = np.zeros(len(snapshot.blob_ids), dtype=np.float32)
    opinion[blobs] = forest.predict(np.round(file_features(snapshot, vector, scores, blobs), _DECIMALS))
    # The trees have seen no question whose answer is a test, a configuration file or documentation: no file gains on
    # one of these.
    unjudged = (snapshot.files.roles[snapshot.file_of_blob[blobs]] & int(ASKED_FOR)) > 0
    opinion[blobs[unjudged]] = opinion[blobs].max()
    scores.of_blobs["learned"] = opinion
    for blob in blobs.tolist():
        scores.total[_rows_of(snapshot, blob)] += weights.learned * opinion[blob]


def _rows_of(snapshot: Snapshot, blob: int) -> slice:
    return slice(int(snapshot.blob_rows[blob]), int(snapshot.blob_rows[blob + 1]))
