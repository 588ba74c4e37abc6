"""Scores every row of a snapshot for a query: a weighted sum of features that each mean something by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE
from cairn.index.segment import Form
from cairn.index.snapshot import Snapshot, TermRows
from cairn.index.view import STEM_FIELD
from cairn.search.near import cosines, settle
from cairn.search.query import Query
from cairn.source.roles import Role

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

NAME_BIT, DOC_BIT = 1, 4  # of a posting's fields: the term stands in a definition's name, in its documentation
ASKED_FOR = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.CONFIG  # roles that answer a query that names them
# A file is judged by this many of its chunks, the best by lexical score.
FILE_CHUNKS = 3
# A term of a file's stem counts fully when its rarity among all paths is at least 1 / this of the highest possible.
STEM_RARITY = 2.0
# Chunks below this share of the best lexical score say nothing about their file.
FILE_CHUNK_FLOOR = 0.2


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature adds to a score; fitted on the development half of the benchmark, see bench/README.md.

    The first group belongs to a chunk, the second to its file. Features lie between 0 and 1, but for `learned`: what
    the second stage (see learned.py) thinks of the file.
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

    learned: float = 0.2


_FORM_WEIGHTS = {
    Form.TYPE: "type_form",
    Form.FUNCTION: "function_form",
    Form.VALUE: "value_form",
    Form.CONTINUATION: "continuation",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files count: shapes (n_blobs,) and (n_rows,), the file a blob or row belongs to, -1 for none."""

    file_of_blob: Ints
    file_of_row: Ints


class TermMatch(NamedTuple):
    """Where one term of the query stands: in which chunks and in which files' paths. `rarity` includes `weight`."""

    rarity: float
    weight: float
    rows: TermRows
    paths: TermRows


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one query: `total` of shape (n_rows,), -inf for rows out of scope.

    The features are kept apart for explanations: those of chunks (n_rows,), of blobs (n_blobs,), of files (n_files,).
    `known` is the share of the query's terms that the project contains at all.
    """

    total: Floats
    known: float
    of_rows: dict[str, Floats]
    of_blobs: dict[str, Floats]
    of_files: dict[str, Floats]
    terms: tuple[TermMatch, ...] = ()

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
) -> Scores:
    """Score all rows; no `vector` leaves the dense features out, `symbols` are {row that defines a name: strength}.

    Args:
        dense: shape (n_rows,), what another model has for the feature `dense` in place of the bundled one's cosines.
    """
    terms = _match_terms(snapshot, query)
    of_rows, of_files = _lexical(snapshot, terms)
    known = sum(len(term.rows.rows) > 0 for term in terms) / max(1, len(terms))
    of_blobs = {"file_lexical": _file_lexical(snapshot, of_rows["lexical"])}
    known_cosines = None
    if vector is not None:
        if dense is None:
            dense, known_cosines = cosines(snapshot, vector, scope.file_of_blob)
        of_rows["dense"] = dense
        of_files["path_dense"] = np.maximum(snapshot.path_similarities(vector), 0)
    elif dense is not None:
        of_rows["dense"] = dense
    if symbols:
        of_rows["symbol"] = np.zeros(snapshot.n_rows, dtype=np.float32)
        of_rows["symbol"][list(symbols)] = list(symbols.values())
    of_files |= _priors(snapshot, query)
    # Files first, then blobs, so that the long arrays are touched as seldom as possible.
    by_file = _weighted(of_files, weights, len(snapshot.files.paths))
    by_blob = _weighted(of_blobs, weights, len(snapshot.blob_ids)) + by_file[np.maximum(scope.file_of_blob, 0)]
    by_blob[scope.file_of_blob < 0] = -np.inf
    total = np.repeat(by_blob, np.diff(snapshot.blob_rows)) + _weighted(of_rows, weights, snapshot.n_rows)
    total += np.array([form_weight(form, weights) for form in Form], dtype=np.float32)[snapshot.forms]
    total[scope.file_of_row < 0] = -np.inf
    if vector is not None and known_cosines is not None:
        settle(snapshot, vector, total, of_rows["dense"], known_cosines, weights.dense)
    return Scores(total, known, of_rows, of_blobs, of_files, terms)


def weighted_features(features: dict[str, float], weights: Weights) -> dict[str, float]:
    """Return what each feature of a row adds to its score."""
    return {name: value * float(getattr(weights, name)) for name, value in features.items()}


def _weighted(features: dict[str, Floats], weights: Weights, size: int) -> Floats:
    total = np.zeros(size, dtype=np.float32)
    for name, values in features.items():
        if weight := getattr(weights, name):
            total += np.float32(weight) * values
    return total


def form_weight(form: Form, weights: Weights) -> float:
    """Return what a chunk's form adds to its score."""
    return float(getattr(weights, _FORM_WEIGHTS[form])) if form in _FORM_WEIGHTS else 0.0


def _match_terms(snapshot: Snapshot, query: Query) -> tuple[TermMatch, ...]:
    matches = []
    for term in query.terms:
        rows = snapshot.term(term.hashed)
        rarity = _idf(len(rows.rows), snapshot.n_live) * term.weight
        matches.append(TermMatch(rarity, term.weight, rows, snapshot.path_term(term.hashed)))
    return tuple(matches)


def _lexical(snapshot: Snapshot, terms: Sequence[TermMatch]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return features of rows and files, each a share of the query's whole rarity."""
    n_rows, n_files = snapshot.n_rows, len(snapshot.files.paths)
    lexical, name, doc = (np.zeros(n_rows, dtype=np.float32) for _ in range(3))
    path, stem = (np.zeros(n_files, dtype=np.float32) for _ in range(2))
    whole = 1e-6
    rarest = _idf(1, n_files)
    for rarity, weight, found, in_path in terms:
        path_idf = _idf(len(in_path.rows), n_files)
        path_rarity = min(rarity, path_idf * weight)
        whole += rarity
        lexical[found.rows] += found.impacts * np.float32(rarity / IMPACT_SCALE)
        name[found.rows[(found.fields & NAME_BIT) > 0]] += np.float32(rarity)
        doc[found.rows[(found.fields & DOC_BIT) > 0]] += np.float32(rarity)
        path[in_path.rows] += in_path.impacts * np.float32(path_rarity / IMPACT_SCALE)
        stem[in_path.rows[(in_path.fields & STEM_FIELD) > 0]] += np.float32(min(1.0, STEM_RARITY * path_idf / rarest))
    share = np.float32(1 / whole)
    stem = np.minimum(1, stem / np.maximum(1, snapshot.files.stem_terms))
    of_rows = {"lexical": lexical * share, "name": name * share, "doc": doc * share}
    return of_rows, {"path": path * share, "stem": stem}


def _idf(frequency: int, total: int) -> float:
    """Return how rare a term is (Robertson and Spärck Jones), never negative."""
    return float(np.log(1 + (total - frequency + 0.5) / (frequency + 0.5)))


def _file_lexical(snapshot: Snapshot, lexical: Floats) -> Floats:
    """Return for each blob how well its best chunks match together, as a share of the best blob. Shape (n_blobs,)."""
    top = float(lexical.max(initial=0.0))
    if top <= 0:
        return np.zeros(len(snapshot.blob_ids), dtype=np.float32)
    rows = np.flatnonzero(lexical > FILE_CHUNK_FLOOR * top)
    blobs = snapshot.blob_of_row[rows]
    order = np.lexsort((-lexical[rows], blobs))
    rows, blobs = rows[order], blobs[order]
    starts = np.flatnonzero(np.concatenate(([True], blobs[1:] != blobs[:-1])))
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    sums = np.bincount(blobs, weights=np.where(place < FILE_CHUNKS, lexical[rows], 0), minlength=len(snapshot.blob_ids))
    share: Floats = (sums / sums.max()).astype(np.float32)
    return share


def _priors(snapshot: Snapshot, query: Query) -> dict[str, Floats]:
    """Return what speaks for or against a file whatever the query; one in a role that is asked for has no penalty."""
    priors = dict(snapshot.priors)
    if query.wants:
        wanted = (snapshot.files.roles & int(query.wants)) > 0
        for role in Role:
            if (name := str(role.name).lower()) in priors:
                priors[name] = np.where(wanted, np.float32(0), priors[name])
        if query.wants & ASKED_FOR:
            priors["wanted"] = ((snapshot.files.roles & int(query.wants & ASKED_FOR)) > 0).astype(np.float32)
    return priors
