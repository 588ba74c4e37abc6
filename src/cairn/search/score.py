"""Scores every row of a snapshot for a query: a weighted sum of features, each of which means something by itself.

To add a feature, give it a weight in `Weights` and put its values under the same name into `of_rows`, `of_blobs` or
`of_files` in `score`; docs/architecture.md lists what each one says. Features of the second stage are in features.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE
from cairn.index.segment import Form
from cairn.index.snapshot import Snapshot, TermRows
from cairn.index.view import STEM_FIELD
from cairn.search.foreign import meant_files
from cairn.search.near import compare
from cairn.search.query import Query
from cairn.search.subject import asked_roles, subjects_of
from cairn.source.roles import FOREIGN, Role

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NAME_BIT, DOC_BIT = 1, 4  # of a posting's fields: the term is in a definition's name, in its documentation
ANSWERING_ROLES = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.CONFIG  # their files answer a query that names the role
_FOREIGN_NAMES = {str(role.name).lower() for role in FOREIGN}
# A file's lexical score is that of this many of its chunks, the best ones.
FILE_CHUNKS = 3
# A term of a file's stem counts fully from 1 / this of the highest possible rarity among all paths.
STEM_RARITY = 2.0
# Chunks below this share of the best lexical score say nothing about their file.
FILE_CHUNK_FLOOR = 0.2


class Weights(NamedTuple):
    """The weight of each feature, fitted on the development half of the benchmark; see bench/README.md.

    The first group is about a chunk, the second about its file, the third is what a long text says outright.
    Features are between 0 and 1 except for `learned`, the
    correction by the second stage (see learned.py).
    """

    lexical: float = 0.4
    name: float = 0.05
    doc: float = 0.05
    dense: float = 0.8
    symbol: float = 0.6
    type_form: float = 0.08
    function_form: float = 0.05
    value_form: float = -0.1
    continuation: float = 0.04

    file_lexical: float = 0.5
    path: float = 0.33
    stem: float = 0.27
    path_dense: float = 0.47
    mentions: float = 0.16
    size: float = 0.1
    depth: float = -0.3
    test: float = -0.5
    example: float = -0.45
    docs: float = -0.35
    config: float = -0.2
    legacy: float = -0.3
    reexport: float = -0.05
    declaration: float = -0.15
    wanted: float = 0.25
    other_platform: float = -0.5
    old_version: float = -0.6
    generated: float = -1.0
    vendored: float = -0.8
    history: float = 1.0

    named: float = 0.0
    pointed: float = 0.0
    framed: float = 0.0
    raised: float = 0.0

    learned: float = 0.2


_FORM_WEIGHTS = {
    Form.TYPE: "type_form",
    Form.FUNCTION: "function_form",
    Form.VALUE: "value_form",
    Form.CONTINUATION: "continuation",
}


class Scope(NamedTuple):
    """Which files count: the file of each blob and of each row, -1 for none. Shapes: (n_blobs,) and (n_rows,)."""

    file_of_blob: Ints
    file_of_row: Ints


class Matches(NamedTuple):
    """Where the terms of a query occur, in chunks and in the paths of files.

    `rarity` includes the term's `weight` in the query, `path_rarity` is that among paths; each has shape (n_terms,).
    `known` is the share of the terms that occur anywhere.
    """

    rarity: Doubles
    path_rarity: Doubles
    weight: Doubles
    known: float
    rows: TermRows
    paths: TermRows


class Scores(NamedTuple):
    """The scores for one query: `total` of shape (n_rows,), -inf for rows out of scope, and the `best` of each blob.

    The features are kept for explanations: those of chunks (n_rows,), of blobs (n_blobs,), of files (n_files,).
    """

    total: Floats
    best: Floats
    of_rows: dict[str, Floats]
    of_blobs: dict[str, Floats]
    of_files: dict[str, Floats]
    matches: Matches

    def features(self, row: int, blob: int, file: int) -> dict[str, float]:
        """Return the value of every feature for one row."""
        places = ((self.of_rows, row), (self.of_blobs, blob), (self.of_files, file))
        return {name: float(values[place]) for group, place in places for name, values in group.items()}


def score(
    snapshot: Snapshot,
    query: Query,
    vector: Floats | None,
    symbols: dict[int, float],
    scope: Scope,
    weights: Weights,
    dense: Floats | None = None,
    evidence: Mapping[str, Floats] | None = None,
) -> Scores:
    """Score all rows.

    Args:
        vector: the query's vector from the bundled model; without it there are no features of meaning.
        symbols: {row that defines a name of the query: strength}.
        dense: shape (n_rows,), another model's values for the feature `dense`, in place of the bundled model's cosines.
        evidence: further features of files, each of shape (n_files,).
    """
    matches = _match_terms(snapshot, query)
    of_rows, of_files = _lexical(snapshot, matches)
    of_blobs = {"file_lexical": _file_lexical(snapshot, of_rows["lexical"])}
    nearness = None
    if vector is not None:
        if dense is None:
            nearness = compare(snapshot, vector, scope.file_of_blob)
            dense = nearness.cosines
        of_rows["dense"] = dense
        of_files["path_dense"] = np.maximum(snapshot.path_vectors.similarities(vector), 0)
    elif dense is not None:
        of_rows["dense"] = dense
    if symbols:
        of_rows["symbol"] = np.zeros(snapshot.n_rows, dtype=np.float32)
        of_rows["symbol"][list(symbols)] = list(symbols.values())
    of_files |= {**_priors(snapshot, query, symbols, scope), **(evidence or {})}
    # Files first, then blobs, so that the long arrays are touched as little as possible.
    by_file = _sum_features(of_files, weights, len(snapshot.files.paths))
    by_blob = _sum_features(of_blobs, weights, len(snapshot.blob_ids)) + by_file[np.maximum(scope.file_of_blob, 0)]
    by_blob[scope.file_of_blob < 0] = -np.inf
    total = by_blob[snapshot.blob_of_row] + _sum_features(of_rows, weights, snapshot.n_rows)
    total += _form_weights(weights)[snapshot.forms]
    total[scope.file_of_row < 0] = -np.inf
    if vector is not None and nearness is not None:
        nearness.sharpen(snapshot, vector, total, weights.dense)
    return Scores(total, _best_of_blobs(snapshot, total), of_rows, of_blobs, of_files, matches)


def _best_of_blobs(snapshot: Snapshot, total: Floats) -> Floats:
    """Return the best score of each blob's rows, -inf for a blob without rows. Shape (n_blobs,)."""
    best = np.full(len(snapshot.blob_ids), -np.inf, dtype=np.float32)
    full = np.flatnonzero(np.diff(snapshot.blob_rows))
    best[full] = np.maximum.reduceat(total, snapshot.blob_rows[full])
    return best


def contributions(features: dict[str, float], weights: Weights) -> dict[str, float]:
    """Return what each feature of a row contributes to its score."""
    return {name: value * float(getattr(weights, name)) for name, value in features.items()}


def _sum_features(features: dict[str, Floats], weights: Weights, size: int) -> Floats:
    total = np.zeros(size, dtype=np.float32)
    for name, values in features.items():
        if weight := getattr(weights, name):
            total += np.float32(weight) * values
    return total


@lru_cache(maxsize=8)
def _form_weights(weights: Weights) -> Floats:
    return np.array([form_weight(form, weights) for form in Form], dtype=np.float32)


def form_weight(form: Form, weights: Weights) -> float:
    """Return what a chunk's form adds to its score."""
    return float(getattr(weights, _FORM_WEIGHTS[form])) if form in _FORM_WEIGHTS else 0.0


def _match_terms(snapshot: Snapshot, query: Query) -> Matches:
    hashes = [term.hashed for term in query.terms]
    weight = np.array([term.weight for term in query.terms])
    rows, paths = snapshot.term_rows(hashes), snapshot.term_paths(hashes)
    frequency = np.bincount(rows.terms, minlength=len(hashes))
    return Matches(
        _idf(frequency, snapshot.n_live) * weight,
        _idf(np.bincount(paths.terms, minlength=len(hashes)), len(snapshot.files.paths)),
        weight,
        np.count_nonzero(frequency) / max(1, len(hashes)),
        rows,
        paths,
    )


def _lexical(snapshot: Snapshot, matches: Matches) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return features of rows and of files, each as a share of the query's total rarity."""
    rarity, path_rarity, weight, _, in_rows, in_paths = matches
    share = 1 / (IMPACT_SCALE * (rarity.sum() + 1e-6))
    n_rows, n_files = snapshot.n_rows, len(snapshot.files.paths)
    gain = (rarity * share)[in_rows.terms]
    path_gain = np.minimum(rarity, path_rarity * weight) * share
    rarest = float(_idf(np.array(1), n_files))
    stem = _sum_where(
        in_paths, np.minimum(1.0, STEM_RARITY / rarest * path_rarity)[in_paths.terms], n_files, STEM_FIELD
    )
    of_rows = {
        "lexical": _sum(in_rows.rows, gain * in_rows.impacts, n_rows),
        "name": _sum_where(in_rows, gain * IMPACT_SCALE, n_rows, NAME_BIT),
        "doc": _sum_where(in_rows, gain * IMPACT_SCALE, n_rows, DOC_BIT),
    }
    of_files = {
        "path": _sum(in_paths.rows, path_gain[in_paths.terms] * in_paths.impacts, n_files),
        "stem": np.minimum(1, stem / np.maximum(1, snapshot.files.stem_terms)),
    }
    return of_rows, of_files


def _sum_where(occurrences: TermRows, values: Doubles, size: int, field: int) -> Floats:
    within = np.flatnonzero(occurrences.fields & field)
    return _sum(occurrences.rows[within], values[within], size)


def _sum(rows: Ints, values: Doubles, size: int) -> Floats:
    """Return for each row the sum of its values, shape (size,)."""
    return np.bincount(rows, weights=values, minlength=size).astype(np.float32)


def _idf(frequencies: Ints, total: int) -> Doubles:
    """Return how rare terms are (Robertson and Spärck Jones), never negative. Shape as given."""
    return np.log1p((total - frequencies + 0.5) / (frequencies + 0.5))


def _file_lexical(snapshot: Snapshot, lexical: Floats) -> Floats:
    """Return for each blob how well its best chunks match together, as a share of the best blob. Shape (n_blobs,)."""
    top = float(lexical.max(initial=0.0))
    if top <= 0:
        return np.zeros(len(snapshot.blob_ids), dtype=np.float32)
    rows = np.flatnonzero(lexical > FILE_CHUNK_FLOOR * top)
    blobs = snapshot.blob_of_row[rows]
    order = np.argsort(blobs * 2.0 - lexical[rows] / top, kind="stable")  # by blob, best first
    rows, blobs = rows[order], blobs[order]
    starts = np.flatnonzero(np.concatenate(([True], blobs[1:] != blobs[:-1])))
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    sums = np.bincount(blobs, weights=np.where(place < FILE_CHUNKS, lexical[rows], 0), minlength=len(snapshot.blob_ids))
    share: Floats = (sums / sums.max()).astype(np.float32)
    return share


def _priors(snapshot: Snapshot, query: Query, symbols: dict[int, float], scope: Scope) -> dict[str, Floats]:
    """Return what counts for or against a file in any query; a role that the query asks for is no penalty."""
    priors = dict(snapshot.priors)
    if foreign := priors.keys() & _FOREIGN_NAMES:
        meant = meant_files(snapshot, query, symbols, scope.file_of_blob)
        for name in foreign:
            priors[name] = np.where(meant, np.float32(0), priors[name])
    wants = asked_roles(snapshot, query)
    if query.wants & ~wants & Role.TEST:
        priors["test"] = np.where(subjects_of(snapshot)[1], np.float32(0), priors["test"])
    if wants:
        wanted = (snapshot.files.roles & int(wants)) > 0
        for role in Role:
            if (name := str(role.name).lower()) in priors:
                priors[name] = np.where(wanted, np.float32(0), priors[name])
        if wants & ANSWERING_ROLES:
            priors["wanted"] = ((snapshot.files.roles & int(wants & ANSWERING_ROLES)) > 0).astype(np.float32)
    return priors
