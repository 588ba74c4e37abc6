"""The learned second stage of ranking: a small ensemble of decision trees that corrects the scores of the best files.

`training/ranker.py` writes the trees as data, those for questions and those for work items; without its file the first
stage of a kind stands as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cairn.index.snapshot import Snapshot
from cairn.kernels import loops
from cairn.search.features import FEATURES, PLACE, WORK_ITEM_FEATURES, file_features, work_item_features
from cairn.search.score import ANSWERING_ROLES, Floats, Ints, Scores, Weights

DATA = Path(__file__).parent / "ranker.json"
# The trees for work items, which also see what commits and the text itself say of a file.
WORK_ITEM_DATA = Path(__file__).parent / "ranker_work_items.json"
# The trees reorder only this many files, the best of the first stage: 99.6 % of the right ones are among them.
CANDIDATES = 30
_ASIDE = [str(role.name).lower() for role in ANSWERING_ROLES]


class Forest(NamedTuple):
    """Trees as arrays. The answers to a tree's questions, as bits, give the number of the leaf.

    Shapes: features (n_trees * n_questions,), places in `FEATURES`; thresholds likewise; values (n_trees, 2 **
    n_questions), the value of the leaf for each pattern of answers, the first question being the lowest bit.
    """

    features: Ints
    thresholds: Floats
    values: Floats

    def predict(self, rows: Floats) -> Floats:
        """Return the sum of all trees for each row of features. Shapes: (n, len(FEATURES)) to (n,)."""
        total: Floats = loops.predict(self.features, self.thresholds, self.values, np.ascontiguousarray(rows.T))
        return total


def make_forest(model: Mapping[str, Any]) -> Forest:
    """Return the trees that `training/ranker.py` describes: each its questions and the value for each pattern."""
    features, thresholds, values = (
        np.array([tree[name] for tree in model["trees"]]) for name in ("features", "thresholds", "values")
    )
    return Forest(features.ravel(), thresholds.ravel().astype(np.float32), values.astype(np.float32))


@cache
def load_forest(path: Path = DATA) -> Forest | None:
    """Return the trees in a file, None when it is missing or was trained on other features."""
    if not path.is_file():
        return None
    model = json.loads(path.read_text(encoding="utf-8"))
    seen = FEATURES if path == DATA else WORK_ITEM_FEATURES
    return make_forest(model) if tuple(model["features"]) == seen else None


def candidates(snapshot: Snapshot, scores: Scores, count: int = CANDIDATES) -> Ints:
    """Return the blobs of the files whose best row scored highest, best first."""
    blobs: Ints = loops.best_files(scores.best, snapshot.file_of_blob, count)
    return blobs


def correct(
    snapshot: Snapshot, vector: Floats | None, scores: Scores, weights: Weights, *, for_work_item: bool = False
) -> Floats | None:
    """Add the trees' correction of the best files to the scores of all their rows, and keep it as a feature.

    Returns:
        shape (n_blobs,), how much of the query each of these files says, 0 to 1 by the rarity of its terms, 0 for all
        others; None where nothing was corrected.
    """
    if not weights.learned or (forest := load_forest(WORK_ITEM_DATA if for_work_item else DATA)) is None:
        return None
    blobs = candidates(snapshot, scores)
    if not len(blobs):
        return None
    features = work_item_features if for_work_item else file_features
    seen = features(snapshot, vector, scores, blobs)
    opinion, cover = np.zeros((2, len(snapshot.blob_ids)), dtype=np.float32)
    opinion[blobs] = _fair(forest.predict(seen), snapshot, scores, blobs, for_work_item=for_work_item)
    cover[blobs] = np.maximum(seen[:, PLACE["cover"]], seen[:, PLACE["cover_path"]])
    scores.of_blobs["learned"] = opinion
    gain = np.float32(weights.learned) * opinion[blobs]
    rows, counts = snapshot.rows_of(blobs)
    scores.total[rows] += np.repeat(gain, counts)
    scores.best[blobs] += gain
    return cover


def _fair(opinions: Floats, snapshot: Snapshot, scores: Scores, blobs: Ints, *, for_work_item: bool) -> Floats:
    """Return the trees' corrections, with others for tests, examples, documentation and configuration.

    The trees never saw a question that these answer. Where their role does not count against them, since the question
    asks for it, they get the highest correction, so that no other file overtakes them; so do all for a work item, which
    may be about any. Else they get the mean of the code.
    """
    files = snapshot.file_of_blob[blobs]
    is_aside = (snapshot.files.roles[files] & int(ANSWERING_ROLES)) > 0
    if not is_aside.any():
        return opinions
    if for_work_item or is_aside.all():
        return np.where(is_aside, opinions.max(), opinions)
    against = sum(scores.of_files[name][files] for name in _ASIDE if name in scores.of_files)
    return np.where(is_aside, np.where(against > 0, opinions[~is_aside].mean(), opinions.max()), opinions)
