"""Ranks the rows of a snapshot for one query: scope, scores, one good chunk per file first."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from cairn.index.snapshot import Snapshot
from cairn.search.filters import Filters, filter_files
from cairn.search.query import Query
from cairn.search.rank import Floats, Ints, Scope, Scores, Weights, score
from cairn.storage import index_db
from cairn.storage.index_db import NamedDefinition

# Each further chunk of a file counts this much less than the one before, so that one file does not fill the list.
SATURATION = 0.5
# How many of the best rows are looked at for that; more than any list shows.
POOL_ROWS = 400
MAX_NAMESAKES = 200
# Names of these kinds are often just mentioned again elsewhere; a type or function is what is meant.
MINOR_KINDS = frozenset({"field", "variable", "key", "property", "section", "constant", "target"})


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row of the result: where it is, what its score is made of, and which definition it is there for."""

    row: int
    file: int
    score: float
    definition: int | None
    features: dict[str, float]


def rank(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    vector: Floats | None,
    filters: Filters,
    limit: int,
    weights: Weights,
) -> list[Ranked]:
    """Return the best rows for a query, best first; none when the index is empty or the filters leave nothing."""
    if not snapshot.n_rows:
        return []
    scope = _scope(snapshot, filters)
    chosen: dict[int, int] = {}
    if filters.kinds:
        chosen = _rows_of_kinds(snapshot, connection, filters.kinds)
        keep = np.isin(np.arange(snapshot.n_rows), list(chosen))
        scope = Scope(scope.file_of_blob, np.where(keep, scope.file_of_row, -1))
    named = _named_rows(snapshot, connection, query, scope)
    scores = score(snapshot, query, vector, {row: one[0] for row, one in named.items()}, scope, weights)
    chosen = chosen or {row: one[1] for row, one in named.items()}
    return _diversify(scores, scope.file_of_row, chosen, limit)


def _scope(snapshot: Snapshot, filters: Filters) -> Scope:
    files = filter_files(snapshot.files, filters)
    if files is None:
        return Scope(snapshot.file_of_blob, snapshot.file_of_row)
    return Scope(*snapshot.restrict(files))


def _rows_of_kinds(snapshot: Snapshot, connection: sqlite3.Connection, kinds: tuple[str, ...]) -> dict[int, int]:
    """Return {row: first definition of one of the kinds that begins there}."""
    rows: dict[int, int] = {}
    for chunk_id, ordinal in index_db.definitions_of_kinds(connection, kinds):
        row = snapshot.row_of(chunk_id)
        if row is not None:
            rows.setdefault(row, ordinal)
    return rows


def _named_rows(
    snapshot: Snapshot, connection: sqlite3.Connection, query: Query, scope: Scope
) -> dict[int, tuple[float, int]]:
    """Return {row: (strength, definition)} of the rows that define a name in the query."""
    rows: dict[int, tuple[float, int]] = {}
    for name in query.symbols:
        for found in index_db.find_definitions(connection, name.last, MAX_NAMESAKES):
            row = snapshot.row_of(found.chunk_id)
            if row is None or scope.file_of_row[row] < 0:
                continue
            strength = _strength(name.last, name.scope, found)
            if strength > rows.get(row, (0.0, 0))[0]:
                rows[row] = (strength, found.ordinal)
    return rows


def _strength(last: str, scope: str, found: NamedDefinition) -> float:
    strength = 1.0 if found.name == last else 0.6
    if scope and not found.qualified_name.lower().endswith(f"{scope}.{last}".lower()):
        strength *= 0.4
    return strength * (0.6 if found.kind in MINOR_KINDS else 1.0)


def _diversify(scores: Scores, file_of_row: Ints, chosen: dict[int, int], limit: int) -> list[Ranked]:
    """Take the best rows, each further one of a file at a discount."""
    total = scores.total
    n_pool = min(len(total), max(POOL_ROWS, 8 * limit))
    pool = np.argpartition(-total, n_pool - 1)[:n_pool]
    pool = pool[np.isfinite(total[pool])]
    pool = pool[np.lexsort((pool, -total[pool]))]
    taken: dict[int, int] = {}
    discounted = []
    for row, file, value in zip(pool.tolist(), file_of_row[pool].tolist(), total[pool].tolist(), strict=True):
        before = taken.get(file, 0)
        taken[file] = before + 1
        # A score may be negative, where a factor would raise it.
        discounted.append((value * SATURATION**before if value > 0 else value - before, row, file))
    discounted.sort(key=lambda item: (-item[0], item[1]))
    return [
        Ranked(
            row=row,
            file=file,
            score=value,
            definition=chosen.get(row),
            features={name: float(values[row]) for name, values in scores.features.items()},
        )
        for value, row, file in discounted[:limit]
    ]
