"""What the learned ranker sees of the files that scored best: one row of plain numbers for each."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

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

# For work items also what commits say of a file. What a text says of it outright did not help.
WORK_ITEM_FEATURES = (*FEATURES, "history")


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


def work_item_features(snapshot: Snapshot, vector: Floats | None, scores: Scores, blobs: Ints) -> Floats:
    """Return what `file_features` does, and what commits say of the files, shape (n, len(WORK_ITEM_FEATURES))."""
    history = np.zeros(len(blobs), dtype=np.float32)
    if "history" in scores.of_files:
        history = np.round(scores.of_files["history"][snapshot.file_of_blob[blobs]], _DECIMALS)
    return np.column_stack([file_features(snapshot, vector, scores, blobs), history])


class _RowsOfBlobs:
    """The rows of some blobs, end to end, and the best of each by any value; `counts` says how many each blob has."""

    def __init__(self, snapshot: Snapshot, blobs: Ints) -> None:
        self._rows, self.counts = snapshot.rows_of(blobs)
        self._starts = self.counts.cumsum() - self.counts
        self._group = np.arange(len(blobs)).repeat(self.counts)

    def best_of_each(self, values: Floats, n: int) -> tuple[Ints, Ints]:
        """Return the best `n` rows of each blob, equal ones in any order, blob by blob, and how many each has."""
        # Blob and value are sorted as one number, which takes a fifth of the time of sorting by two keys.
        order = (self._group * (2 * _FAR) - np.maximum(values[self._rows], -_FAR)).argsort()
        counts = np.minimum(self.counts, n)
        ends = counts.cumsum()
        chosen = np.arange(ends[-1]) + (self._starts - ends + counts).repeat(counts)
        return self._rows[order[chosen]], counts

    def best(self, values: Floats) -> Ints:
        """Return the best row of each blob, of equal ones the first."""
        own = values[self._rows]
        best = (own >= np.maximum.reduceat(own, self._starts).repeat(self.counts)).nonzero()[0]
        return self._rows[best[best.searchsorted(self._starts)]]

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
    if vector is None or dense is None or scores.path_cosines is None:
        return {"joint": nothing, "path_dense": nothing}
    near, counts = rows.best_of_each(dense, _JOINT_ROWS)
    to_path = scores.path_cosines[files]
    length = np.sqrt(np.maximum(1e-3, 1 + PATH_SHARE**2 + 2 * PATH_SHARE * _agreements_with_paths(snapshot, near)))
    joint = (dense[near] + PATH_SHARE * to_path.repeat(counts)) / length
    return {
        "joint": np.maximum.reduceat(joint, counts.cumsum() - counts),
        "path_dense": np.maximum(to_path, 0),
    }


_agreements: WeakKeyDictionary[Snapshot, Floats] = WeakKeyDictionary()


def _agreements_with_paths(snapshot: Snapshot, rows: Ints) -> Floats:
    """Return the cosine of each of some rows with the path of its file; no query changes it, so it is kept."""
    if (known := _agreements.get(snapshot)) is None:
        known = _agreements[snapshot] = np.full(snapshot.n_rows, np.nan, dtype=np.float32)
    found: Floats = known[rows]
    new = np.isnan(found).nonzero()[0]
    if len(new):
        own = rows[new]
        paths = snapshot.path_vectors.numbers(snapshot.file_of_row[own])
        found[new] = known[own] = agreements(snapshot.vectors.numbers(own), paths)
    return found


def _of_terms(snapshot: Snapshot, scores: Scores, files: Ints, n_chunks: Ints) -> dict[str, npt.NDArray[Any]]:
    """Return the share of the query's rarity that each file covers: anywhere, in names, in documentation, in its path.

    `density` is the share that its chunks cover on average: a large file has a little of everything, a file about the
    subject has much of it in every chunk.
    """
    n_files = len(files)
    place_of_file = np.full(len(snapshot.files.paths), -1)
    place_of_file[files] = np.arange(n_files)
    matches = scores.matches
    rarity = matches.rarity / (matches.rarity.sum() + 1e-6)
    in_rows = _cells(matches.rows, place_of_file[snapshot.file_of_row[matches.rows.rows]], n_files, NAME_BIT, DOC_BIT)
    in_paths = _cells(matches.paths, place_of_file[matches.paths.rows], n_files, STEM_FIELD)
    size = len(rarity) * n_files
    cells = np.concatenate([place * size + found for place, found in enumerate((*in_rows, *in_paths))])
    counts = np.bincount(cells, minlength=5 * size).reshape(5, len(rarity), n_files)
    anywhere = counts[0].astype(np.float64)
    frequency, density = rarity @ np.log1p(anywhere), rarity @ anywhere / n_chunks
    cover, cover_name, cover_doc, cover_path, cover_stem = rarity @ (counts > 0)
    return {
        "frequency": frequency,
        "density": density,
        "cover": cover,
        "cover_name": cover_name,
        "cover_doc": cover_doc,
        "cover_path": cover_path,
        "cover_stem": cover_stem,
    }


def _cells(occurrences: TermRows, columns: Ints, n_files: int, *fields: int) -> list[Ints]:
    """Return a number for the term and the file of each occurrence, and then of those in each of some fields.

    Args:
        occurrences: where the terms occur.
        columns: the file of each occurrence, -1 for another file.
        n_files: how many files count.
        fields: bits.
    """
    within = (columns >= 0).nonzero()[0]
    cells = occurrences.terms[within] * n_files + columns[within]
    found = occurrences.fields[within]
    return [cells, *(cells[(found & field).nonzero()[0]] for field in fields)]


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
