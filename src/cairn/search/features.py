"""What the learned ranker sees of the files that scored best: one row of plain numbers for each."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot
from cairn.index.vectors import agreements
from cairn.index.view import STEM_FIELD
from cairn.kernels import loops
from cairn.kernels.plain import OfChunks
from cairn.search.score import NAME_AND_DOC, Floats, Ints, Scores

# The weight of the path's vector when it is added to a chunk's; training/train.py reads it here.
PATH_SHARE = 0.6
_DECIMALS = 4
_JOINT_ROWS = 4  # the rows of a file nearest to the query; only these are compared together with the path
# In the order of the matrix's columns. Further ones did not help on repositories that were left out of the training;
# see docs/adr/0009. After a change here, train the trees again: training/README.md.
FEATURES = (
    *("lexical", "name", "doc", "joint", "path_dense"),
    *("cover", "cover_name", "cover_doc", "cover_stem", "cover_path", "frequency", "density"),
    *("file_lexical", "path", "stem", "stem_terms", "mentions", "size", "depth", "reexport", "project_files"),
)
PLACE = {name: place for place, name in enumerate(FEATURES)}
_OF_FILES = ("path", "stem", "mentions", "size", "depth", "reexport")

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
    is_meant = vector is not None and scores.path_cosines is not None and "dense" in scores.of_rows
    features, of_files = scores.of_rows, scores.of_files
    of_chunks = loops.chunk_features(
        blobs,
        snapshot.blob_rows,
        scores.total,
        features["lexical"],
        features["name"],
        features["doc"],
        features["dense"] if is_meant else scores.total,
        _JOINT_ROWS,
    )
    table = np.empty((len(FEATURES), len(blobs)), dtype=np.float32)
    table[:3] = of_chunks.values
    table[3:5] = _of_meaning(snapshot, scores, of_chunks, files) if is_meant else 0
    table[5:12] = _of_terms(snapshot, scores, blobs, files)
    table[PLACE["file_lexical"]] = scores.of_blobs["file_lexical"][blobs]
    for name in _OF_FILES:
        table[PLACE[name]] = of_files[name][files] if name in of_files else 0
    table[PLACE["stem_terms"]] = snapshot.files.stem_terms[files]
    table[PLACE["project_files"]] = np.log1p(len(snapshot.files.paths))
    # A difference that only comes from the order of summing must not change which branch of a tree is taken.
    rounded: Floats = table.round(_DECIMALS).T
    return rounded


def work_item_features(snapshot: Snapshot, vector: Floats | None, scores: Scores, blobs: Ints) -> Floats:
    """Return what `file_features` does, and what commits say of the files, shape (n, len(WORK_ITEM_FEATURES))."""
    history = np.zeros(len(blobs), dtype=np.float32)
    if "history" in scores.of_files:
        history = np.round(scores.of_files["history"][snapshot.file_of_blob[blobs]], _DECIMALS)
    return np.column_stack([file_features(snapshot, vector, scores, blobs), history])


def _of_meaning(snapshot: Snapshot, scores: Scores, of_chunks: OfChunks, files: Ints) -> list[Floats]:
    """Compare the meaning of each file's chunks, taken together with its path as one vector, and that of its path."""
    if scores.path_cosines is None:
        raise ValueError("these scores know nothing of the meaning of paths")
    near, counts = of_chunks.near, of_chunks.counts
    to_path = scores.path_cosines[files]
    length = np.sqrt(np.maximum(1e-3, 1 + PATH_SHARE**2 + 2 * PATH_SHARE * _agreements_with_paths(snapshot, near)))
    joint = (scores.of_rows["dense"][near] + PATH_SHARE * to_path.repeat(counts)) / length
    return [np.maximum.reduceat(joint, counts.cumsum() - counts), np.maximum(to_path, 0)]


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


def _of_terms(snapshot: Snapshot, scores: Scores, blobs: Ints, files: Ints) -> npt.NDArray[np.float64]:
    """Return how much of a query's terms files have, and which share of their rarity; see `cairn.kernels.plain`."""
    matches = scores.matches
    found: npt.NDArray[np.float64] = loops.term_features(
        matches.rows,
        matches.paths,
        snapshot.file_of_row,
        len(snapshot.files.paths),
        files,
        snapshot.n_rows_of_blob[blobs],
        matches.rarity / (matches.rarity.sum() + 1e-6),
        NAME_AND_DOC,
        bytes([STEM_FIELD]),
    )
    return found
