"""The features of the best files for an example, as rows of numbers to which weights are fitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.segment import Form
from cairn.optimize.asking import ASIDE, EVERYTHING, at_time_of, gains_of, understand_example
from cairn.optimize.examples import Example
from cairn.search.habits import tuned_features
from cairn.search.learned import correct
from cairn.search.library import Library
from cairn.search.past import file_history
from cairn.search.query import is_work_item
from cairn.search.rank import first_stage
from cairn.search.rank_files import query_vector
from cairn.search.score import Weights, form_feature
from cairn.search.tuning import Tuning

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
# Files to consider for each example: those with the best scores, and those with most support from the history.
_BEST, _BY_HISTORY = 50, 8
# The weights to fit; the others are about the form of a chunk, or rare.
FITTED = (
    *("lexical", "dense", "symbol", "file_lexical", "path", "stem", "path_dense", "mentions", "size", "depth"),
    *("test", "example", "docs", "config", "reexport", "wanted", "history", "recent", "churn", "words", "learned"),
    *("last", "last_folder", "telling", "scope"),
)
_PROBE = Weights(recent=1.0, churn=1.0, words=1.0, last=1.0, last_folder=1.0, telling=1.0, scope=1.0)


class Candidates(NamedTuple):
    """The candidate files of an example.

    Attributes:
        values: shape (n, len(Weights)), the features of each file's best row.
        gains: shape (n,), how much each is wanted.
        is_code: shape (n,).
        paths: n of them.
    """

    values: Floats
    gains: Floats
    is_code: Bools
    paths: tuple[str, ...] = ()

    def wanting(self, example: Example) -> Candidates:
        """Return the same files with the gains of another example."""
        wanted = gains_of(example)
        gains = np.array([wanted.get(path, 0.0) for path in self.paths], dtype=np.float32)
        return self._replace(gains=gains)


def candidates_of(library: Library, tuning: Tuning, example: Example) -> Candidates | None:
    """Return the candidates of an example, None if none of them is wanted.

    The best row of each file and the second stage's correction are computed with the tuning's own weights.

    Args:
        tuning: its openings and expansions are used.
    """
    query = understand_example(example)
    if query is None:
        return None
    query = tuning.expand(query)
    library = at_time_of(library, example)
    snapshot = library.snapshot
    weights = tuning.weights_for(query.text)
    vector = query_vector(library.model, query)
    history = file_history(snapshot, library.past, query, tuning.share_for(query.text))
    more = tuned_features(snapshot, library.past, query, _PROBE) or {}
    scores, scope, _ = first_stage(
        snapshot, library.connection, query, vector, EVERYTHING, weights, None, None, history, more
    )
    correct(snapshot, vector, scores, weights, for_work_item=is_work_item(query))
    best = np.where(scope.file_of_blob >= 0, scores.best, -np.inf)
    blobs = np.argsort(-best, kind="stable")[:_BEST].tolist()
    for values in (history, *more.values()):
        if values is not None:
            spoken = np.where(np.isfinite(best), values[np.maximum(scope.file_of_blob, 0)], 0.0)
            blobs += [blob for blob in np.argsort(-spoken, kind="stable")[:_BY_HISTORY].tolist() if spoken[blob] > 0]
    chosen = [blob for blob in dict.fromkeys(blobs) if np.isfinite(best[blob])]
    files = scope.file_of_blob[chosen]
    wanted, paths = gains_of(example), tuple(snapshot.files.paths[file] for file in files.tolist())
    if wanted.keys().isdisjoint(paths):
        return None
    table = np.zeros((len(chosen), len(Weights._fields)), dtype=np.float32)
    places = {name: place for place, name in enumerate(Weights._fields)}
    for number, (blob, file) in enumerate(zip(chosen, files.tolist(), strict=True)):
        first, last = snapshot.blob_rows[blob : blob + 2].tolist()
        row = first + int(np.argmax(scores.total[first:last]))
        for name, value in scores.features(row, blob, file).items():
            table[number, places[name]] = value
        form = form_feature(Form(int(snapshot.forms[row])))
        if form and scores.of_forms[row]:
            table[number, places[form]] = 1.0
    is_code = (snapshot.files.roles[files] & ASIDE) == 0
    return Candidates(table, np.zeros(len(paths), dtype=np.float32), is_code, paths).wanting(example)
