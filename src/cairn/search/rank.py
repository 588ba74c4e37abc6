"""Scores every row of a snapshot for a query, in numpy, from features with fixed weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE
from cairn.index.snapshot import Snapshot
from cairn.index.view import STEM_FIELD
from cairn.search.query import Query
from cairn.source.roles import Role

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

NAME_BIT = 1  # of a posting's fields: the term stands in a definition's name
# A file is judged by this many of its chunks, the best by lexical score.
FILE_CHUNKS = 3
# How much a role counts against a file that the query does not ask for, as a share of the role weight.
ROLE_PENALTIES = (
    (Role.TEST, 1.0),
    (Role.EXAMPLE, 1.0),
    (Role.DOCS, 0.7),
    (Role.CONFIG, 0.5),
    (Role.LEGACY, 0.6),
    (Role.REEXPORT, 0.4),
    (Role.DECLARATION, 0.4),
)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature adds to a score; fitted on the development half of the benchmark, see bench/README.md."""

    lexical: float = 1.0
    dense: float = 1.0
    name: float = 0.3
    path: float = 0.35
    path_dense: float = 0.25
    stem: float = 0.2
    file_lexical: float = 0.3
    symbol: float = 1.0
    role: float = 0.35


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files count: shapes (n_blobs,) and (n_rows,), the file a blob or row belongs to, -1 for none."""

    file_of_blob: Ints
    file_of_row: Ints


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one query: `total` of shape (n_rows,), -inf for rows out of scope; `features` weighted, by name."""

    total: Floats
    features: dict[str, Floats]


def score(
    snapshot: Snapshot, query: Query, vector: Floats | None, symbols: dict[int, float], scope: Scope, weights: Weights
) -> Scores:
    """Score all rows.

    Args:
        vector: the query's unit vector, shape (dimensions,); None leaves the dense features out.
        symbols: {row: strength 0..1} of rows that define a name in the query.
    """
    files = np.maximum(scope.file_of_row, 0)
    features = _lexical(snapshot, query, files)
    features["file_lexical"] = _file_lexical(snapshot, features["lexical"])
    if vector is not None:
        features["dense"] = snapshot.similarities(vector)
        features["path_dense"] = np.maximum(snapshot.path_similarities(vector), 0)[files]
    if symbols:
        strengths = np.zeros(snapshot.n_rows, dtype=np.float32)
        strengths[list(symbols)] = list(symbols.values())
        features["symbol"] = strengths
    features["role"] = -_role_penalty(snapshot, query)[files]
    total = np.zeros(snapshot.n_rows, dtype=np.float32)
    for name, values in features.items():
        values *= np.float32(getattr(weights, name))
        total += values
    total[scope.file_of_row < 0] = -np.inf
    return Scores(total, features)


def _lexical(snapshot: Snapshot, query: Query, files: Ints) -> dict[str, Floats]:
    """Return features from the query's terms, each as a share of the query's whole rarity, so 0 to 1."""
    n_rows, n_files = snapshot.n_rows, len(snapshot.files.paths)
    lexical, name = np.zeros(n_rows, dtype=np.float32), np.zeros(n_rows, dtype=np.float32)
    path, stem = np.zeros(n_files, dtype=np.float32), np.zeros(n_files, dtype=np.float32)
    whole = 1e-6
    for term in query.terms:
        found, in_path = snapshot.term(term.hashed), snapshot.path_term(term.hashed)
        rarity = _idf(len(found.rows), snapshot.n_live) * term.weight
        path_rarity = min(rarity, _idf(len(in_path.rows), n_files) * term.weight)
        whole += rarity
        lexical[found.rows] += found.impacts * np.float32(rarity / IMPACT_SCALE)
        name[found.rows] += (found.fields & NAME_BIT) * np.float32(rarity)
        path[in_path.rows] += in_path.impacts * np.float32(path_rarity / IMPACT_SCALE)
        stem[in_path.rows] += (in_path.fields & STEM_FIELD).astype(np.float32)
    share = np.float32(1 / whole)
    stem = np.minimum(1, stem / np.maximum(1, snapshot.files.stem_terms))
    return {"lexical": lexical * share, "name": name * share, "path": (path * share)[files], "stem": stem[files]}


def _idf(frequency: int, total: int) -> float:
    """Return how rare a term is (Robertson and Spärck Jones), never negative."""
    return float(np.log(1 + (total - frequency + 0.5) / (frequency + 0.5)))


def _file_lexical(snapshot: Snapshot, lexical: Floats) -> Floats:
    """Return for each row how well its file matches: its best chunks together, as a share of the best file."""
    result = np.zeros(len(lexical), dtype=np.float32)
    top = float(lexical.max(initial=0.0))
    if top <= 0:
        return result
    rows = np.flatnonzero(lexical > 0.2 * top)
    blobs = np.searchsorted(snapshot.blob_rows, rows, side="right") - 1
    order = np.lexsort((-lexical[rows], blobs))
    rows, blobs = rows[order], blobs[order]
    starts = np.flatnonzero(np.r_[True, blobs[1:] != blobs[:-1]])
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(np.r_[starts, len(rows)]))
    sums = np.bincount(blobs, weights=np.where(place < FILE_CHUNKS, lexical[rows], 0), minlength=len(snapshot.blob_ids))
    return np.repeat((sums / sums.max()).astype(np.float32), np.diff(snapshot.blob_rows))


def _role_penalty(snapshot: Snapshot, query: Query) -> Floats:
    """Return for each file, shape (n_files,), the largest penalty of a role the query does not ask for."""
    roles = snapshot.files.roles
    penalty = np.zeros(len(roles), dtype=np.float32)
    for role, amount in ROLE_PENALTIES:
        if not role & query.wants:
            np.maximum(penalty, np.where(roles & int(role), np.float32(amount), np.float32(0)), out=penalty)
    return penalty
