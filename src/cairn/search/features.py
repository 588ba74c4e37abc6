"""What the learned ranker sees of the files that scored best: one row of plain numbers for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot, TermRows
from cairn.index.vectors import agreements
from cairn.index.view import STEM_FIELD
from cairn.search.score import DOC_BIT, NAME_BIT, Floats, Ints, Scores

# The weight of the path's vector when it is added to a chunk's; training/train.py reads it here.
PATH_SHARE = 0.6
_FAR = 512.0  # larger than any value except the infinity of a row out of scope
_DECIMALS = 4
_JOINT_ROWS = 4  # the rows of a file nearest to the query; only these are compared together with the path
# In the order of the matrix's columns. Further ones did not help on repositories that were left out of the training;
# see docs/adr/0009. After a change here, train the trees again: training/README.md.
FEATURES = (
    *("lexical", "name", "doc", "joint", "path_dense"),
    *("cover", "cover_name", "cover_doc", "cover_stem", "cover_path", "frequency", "density"),
    *("file_lexical", "path", "stem", "stem_terms", "mentions", "size", "depth", "reexport", "project_files"),
)


def file_features(snapshot: Snapshot, vector: Floats | None, scores: Scores, blobs: Ints) -> Floats:
    """Return the features of the files of some blobs.

    Args:
        vector: the query's vector from the bundled model, None when the model knows none of its words.
        scores: of the query.
        blobs: shape (n,), each shown by a file and with at least one row.

    Returns:
        shape (n, len(FEATURES)).
    """
    files = snapshot.file_of_blob[blobs]
    rows = _RowsOfBlobs(snapshot, blobs)
    features = {
        **_of_chunks(rows, scores),
        **_of_meaning(snapshot, rows, vector, scores, files),
        **_of_terms(snapshot, scores, files, rows.counts),
        **_of_files(snapshot, scores, blobs, files),
    }
    table = np.empty((len(FEATURES), len(blobs)), dtype=np.float32)
    for place, name in enumerate(FEATURES):
        table[place] = features[name]
    # A difference that only comes from the order of summing must not change which branch of a tree is taken.
    rounded: Floats = np.round(table, _DECIMALS).T
    return rounded


class _RowsOfBlobs:
    """The rows of some blobs, end to end, and the best of each by any value; `counts` says how many each blob has."""

    def __init__(self, snapshot: Snapshot, blobs: Ints) -> None:
        self._rows, self.counts = snapshot.rows_of(blobs)
        self._starts = np.cumsum(self.counts) - self.counts
        self._group = np.repeat(np.arange(len(blobs)), self.counts)

    def best_of_each(self, values: Floats, n: int) -> tuple[Ints, Ints, Ints]:
        """Return the best `n` rows of each blob: which blob, which place, which row."""
        # Blob and value are sorted as one number, which takes a fifth of the time of sorting by two keys.
        own = np.maximum(values[self._rows], -_FAR)
        order = np.argsort(self._group * (2 * _FAR) - own, kind="stable")
        place = np.arange(len(order)) - self._starts[self._group]  # groups are contiguous before and after
        chosen = place < n
        return self._group[chosen], place[chosen], self._rows[order[chosen]]

    def best(self, values: Floats) -> Ints:
        """Return the best row of each blob."""
        return self.best_of_each(values, 1)[2]

    def highest(self, values: Floats) -> Floats:
        """Return the highest value among each blob's rows."""
        highest: Floats = np.maximum.reduceat(values[self._rows], self._starts)
        return highest


def _of_chunks(rows: _RowsOfBlobs, scores: Scores) -> dict[str, Floats]:
    return {
        "lexical": scores.of_rows["lexical"][rows.best(scores.total)],
        "name": rows.highest(scores.of_rows["name"]),
        "doc": rows.highest(scores.of_rows["doc"]),
    }


def _of_meaning(
    snapshot: Snapshot, rows: _RowsOfBlobs, vector: Floats | None, scores: Scores, files: Ints
) -> dict[str, npt.NDArray[Any]]:
    """Compare the meaning of each file's path, and of its chunks taken together with the path as one vector."""
    dense, nothing = scores.of_rows.get("dense"), np.zeros(len(files), dtype=np.float32)
    if vector is None or dense is None:
        return {"joint": nothing, "path_dense": nothing}
    group, place, near = rows.best_of_each(dense, _JOINT_ROWS)
    to_path = snapshot.path_vectors.similarities_of(files, vector)
    agreement = agreements(snapshot.vectors.numbers(near), snapshot.path_vectors.numbers(files[group]))
    length = np.sqrt(np.maximum(1e-3, 1 + PATH_SHARE**2 + 2 * PATH_SHARE * agreement))
    joint = np.full((len(files), _JOINT_ROWS), -1.0, dtype=np.float32)
    joint[group, place] = (dense[near] + PATH_SHARE * to_path[group]) / length
    return {"joint": joint.max(axis=1), "path_dense": np.maximum(to_path, 0)}


def _of_terms(snapshot: Snapshot, scores: Scores, files: Ints, n_chunks: Ints) -> dict[str, npt.NDArray[Any]]:
    """Return the share of the query's rarity that each file covers: anywhere, in names, in documentation, in its path.

    `density` is the share that its chunks cover on average: a large file has a little of everything, a file about the
    subject has much of it in every chunk.
    """
    n_files = len(files)
    place_of_file = np.full(len(snapshot.files.paths) + 1, -1)  # one more: for the rows of no file
    place_of_file[files] = np.arange(n_files)
    matches = scores.matches
    rarity = matches.rarity / (matches.rarity.sum() + 1e-6)
    in_rows = _TermTable(matches.rows, place_of_file[snapshot.file_of_row], (len(rarity), n_files))
    in_paths = _TermTable(matches.paths, place_of_file, (len(rarity), n_files))
    counts = in_rows.counts()
    return {
        "frequency": rarity @ np.log1p(counts),
        "density": rarity @ counts / n_chunks,
        "cover": rarity @ (counts > 0),
        "cover_name": rarity @ (in_rows.counts(NAME_BIT) > 0),
        "cover_doc": rarity @ (in_rows.counts(DOC_BIT) > 0),
        "cover_path": rarity @ (in_paths.counts() > 0),
        "cover_stem": rarity @ (in_paths.counts(STEM_FIELD) > 0),
    }


class _TermTable:
    """Where the terms of a query occur in some files: a row for each term, a column for each file.

    Args:
        occurrences: where the terms occur.
        place_of: shape (n,), the column of each place where a term may occur, -1 for none.
        shape: how many terms and how many files.
    """

    def __init__(self, occurrences: TermRows, place_of: Ints, shape: tuple[int, int]) -> None:
        self._shape = shape
        columns = place_of[occurrences.rows]
        within = np.flatnonzero(columns >= 0)
        self._cells = occurrences.terms[within] * shape[1] + columns[within]
        self._fields = occurrences.fields[within]

    def counts(self, field: int = 0) -> Ints:
        """Return how often each term occurs in each file; with a `field`, only in that field."""
        cells = self._cells[(self._fields & field) > 0] if field else self._cells
        return np.bincount(cells, minlength=self._shape[0] * self._shape[1]).reshape(self._shape)


def _of_files(snapshot: Snapshot, scores: Scores, blobs: Ints, files: Ints) -> dict[str, npt.NDArray[Any]]:
    of_files = scores.of_files
    names = ("path", "stem", "mentions", "size", "depth", "reexport")
    nothing = np.zeros(len(files), dtype=np.float32)
    return {
        **{name: of_files[name][files] if name in of_files else nothing for name in names},
        "file_lexical": scores.of_blobs["file_lexical"][blobs],
        "stem_terms": snapshot.files.stem_terms[files],
        "project_files": np.full(len(files), np.log1p(len(snapshot.files.paths))),
    }
