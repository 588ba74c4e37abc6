"""Ranks the rows of a snapshot for one query: what is in scope, what scores best, one good chunk of each file first."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cairn.index.snapshot import Snapshot
from cairn.kernels import loops
from cairn.search.filters import Filtered, filter_files
from cairn.search.learned import correct
from cairn.search.named import Lack, NamedRow, means_name, named_rows, namesakes
from cairn.search.query import MINOR_KINDS, Name, Query, is_work_item
from cairn.search.score import Floats, Ints, Scope, Scores, Weights, contributions, score
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import NamedDefinition

if TYPE_CHECKING:
    from cairn.search.evidence import TextEvidence

# Each further chunk of a file counts this much less than the one before, so that no file fills the list.
SATURATION = 0.5
_TIE = 1e-4  # more than rounding can change a score


class Ranked(NamedTuple):
    """One row of the result: where it is, which definition it was chosen for, and how close its meaning is.

    `repeated` is what its score lost because its file is already in the list, `by_history` what the commits of its file
    add to it. `cover` is how much of the query its file says, 0 to 1, as far as that is known.
    """

    row: int
    file: int
    score: float
    definition: int | None
    dense: float
    repeated: float
    cover: float = 1.0
    by_history: float = 0.0


class Ranking(NamedTuple):
    """The best rows, best first, and the share of the query's terms that occur anywhere in the project.

    `explain` returns the parts that add up to a row's score. The first `n_named` rows define what the query as a whole
    names and come first whatever their score; each of their definitions has an entry of its own. `for_work_item` says
    whether the query is not a question. `lacks` says what is not defined of a name that the query means as one.
    `n_meant` of the named rows share what the name means, if it is more than 0; those behind them are less likely.
    """

    rows: list[Ranked]
    known: float
    explain: Callable[[Ranked], dict[str, float]] = lambda _: {}
    n_named: int = 0
    is_sure: bool = True
    for_work_item: bool = False
    lacks: Lack = ""
    n_meant: int = 0


def rank(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    vector: Floats | None,
    filters: Filtered,
    limit: int,
    weights: Weights,
    dense: Floats | None = None,
    gather: Callable[[Ints], TextEvidence] | None = None,
    history: Floats | None = None,
    more: Mapping[str, Floats] | None = None,
) -> Ranking:
    """Return the best rows for a query; none when the index is empty or the filters leave nothing.

    Args:
        vector: the query's vector from the bundled model.
        dense: see `score`.
        gather: returns what a long text says of files, given the file of each row, -1 for one out of scope.
        history: shape (n_files,), how much the commits of the project speak for each file.
        more: further features of files, each of shape (n_files,).
    """
    if not snapshot.n_rows:
        return Ranking([], 0.0)
    scores, scope, chosen = first_stage(
        snapshot, connection, query, vector, filters, weights, dense, gather, history, more
    )
    for_work_item = is_work_item(query)
    cover = correct(snapshot, vector, scores, weights, for_work_item=for_work_item)
    scores.settle(limit)  # a file that the trees put lower may have let one up
    by_history = None if history is None else history * np.float32(weights.history)
    rows = _diversify(snapshot, scores, scope, chosen, limit, cover, by_history)
    named: list[Ranked] = []
    lacks: Lack = ""
    n_meant = 0
    if query.named is not None or query.path or query.listed:
        found = named_rows(snapshot, connection, query, filters, scope, scores)
        named = [_ranked_by_name(one, scores, snapshot) for one in found.rows[:limit]]
        n_meant = found.n_meant
        lacks = found.lacks if found.lacks != "name" or means_name(query) else ""
        defining = {ranked.row for ranked in named}
        rows = [*named, *(ranked for ranked in rows if ranked.row not in defining)][:limit]
    explain = partial(_parts, snapshot, scores, weights)
    is_sure = query.asked is None or query.asked.is_sure
    return Ranking(rows, scores.matches.known, explain, len(named), is_sure, for_work_item, lacks, n_meant)


class FirstStage(NamedTuple):
    """What the first stage finds: the scores of all rows, which are in scope, and {row: the definition it is for}."""

    scores: Scores
    scope: Scope
    chosen: dict[int, int]


def first_stage(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    vector: Floats | None,
    filters: Filtered,
    weights: Weights,
    dense: Floats | None = None,
    gather: Callable[[Ints], TextEvidence] | None = None,
    history: Floats | None = None,
    more: Mapping[str, Floats] | None = None,
) -> FirstStage:
    """Score all rows."""
    scope = _scope(snapshot, filters)
    chosen: dict[int, int] = {}
    if filters.kinds:
        chosen = _rows_of_kinds(snapshot, connection, filters.kinds)
        keep = np.isin(np.arange(snapshot.n_rows), list(chosen))
        scope = Scope(scope.file_of_blob, np.where(keep, scope.file_of_row, -1))
    evidence = None if gather is None else gather(scope.file_of_row)
    named = _rows_defining_names(snapshot, connection, query, scope) if evidence is None else evidence.defining
    strengths = {row: strength for row, (strength, _) in named.items()}
    of_files = {**(more or {}), **({} if evidence is None else evidence.of_files)}
    if history is not None:
        of_files["history"] = history
    scores = score(snapshot, query, vector, strengths, scope, weights, dense, of_files)
    return FirstStage(scores, scope, chosen or {row: definition for row, (_, definition) in named.items()})


def _scope(snapshot: Snapshot, filters: Filtered) -> Scope:
    files = filter_files(snapshot.files, filters)
    if files is None:
        return Scope(snapshot.file_of_blob, snapshot.file_of_row)
    return Scope(*snapshot.restrict(files))


def _rows_of_kinds(snapshot: Snapshot, connection: sqlite3.Connection, kinds: tuple[str, ...]) -> dict[int, int]:
    """Return {row: the first definition of one of the kinds that begins there}."""
    definitions = chunk_db.definitions_of_kinds(connection, kinds)
    rows = snapshot.rows_of_chunks(np.array([chunk_id for chunk_id, _ in definitions], dtype=np.int64))
    first: dict[int, int] = {}
    for row, (_, ordinal) in zip(rows.tolist(), definitions, strict=True):
        if row >= 0:
            first.setdefault(row, ordinal)
    return first


def _rows_defining_names(
    snapshot: Snapshot, connection: sqlite3.Connection, query: Query, scope: Scope
) -> dict[int, tuple[float, int]]:
    """Return {row: (strength, definition)} of the rows that define a name in the query."""
    rows: dict[int, tuple[float, int]] = {}
    for name in query.symbols:
        for row, definition in namesakes(snapshot, connection, name, scope):
            strength = _strength(name, definition)
            if strength > rows.get(row, (0.0, 0))[0]:
                rows[row] = (strength, definition.ordinal)
    return rows


def _strength(name: Name, definition: NamedDefinition) -> float:
    """Return how well a definition fits a name, 0 to 1."""
    strength = 1.0 if definition.name == name.last else 0.6
    if name.scope and not definition.qualified_name.lower().endswith(f"{name.scope}.{name.last}".lower()):
        strength *= 0.4
    return strength * (0.6 if definition.kind in MINOR_KINDS else 1.0)


def _ranked_by_name(named: NamedRow, scores: Scores, snapshot: Snapshot) -> Ranked:
    dense = scores.of_rows.get("dense", np.zeros(snapshot.n_rows, dtype=np.float32))
    total = float(scores.total[named.row])
    return Ranked(named.row, named.file, total, named.definition, float(dense[named.row]), 0.0)


def _diversify(
    snapshot: Snapshot,
    scores: Scores,
    scope: Scope,
    chosen: dict[int, int],
    limit: int,
    cover: Floats | None,
    by_history: Floats | None,
) -> list[Ranked]:
    """Return the best rows, where each further row of a file counts less."""
    listed = loops.one_of_each(
        scores.best, scores.total, snapshot.blob_rows, scope.file_of_blob, limit, SATURATION, _TIE
    )
    dense = scores.of_rows.get("dense")
    near = np.zeros(len(listed.rows), dtype=np.float32) if dense is None else dense[listed.rows]
    said = np.ones(len(listed.rows)) if cover is None else cover[snapshot.blob_of_row[listed.rows]]
    added = np.zeros(len(listed.rows)) if by_history is None else by_history[listed.files]
    columns = (listed.rows, listed.files, listed.values, near, listed.lost, said, added)
    rows, files, values, *others = [column.tolist() for column in columns]
    return list(map(Ranked._make, zip(rows, files, values, map(chosen.get, rows), *others, strict=True)))


def _parts(snapshot: Snapshot, scores: Scores, weights: Weights, ranked: Ranked) -> dict[str, float]:
    """Return what each feature adds to a row's score."""
    blob = int(snapshot.blob_of_row[ranked.row])
    parts = contributions(scores.features(ranked.row, blob, ranked.file), weights)
    return {**parts, "form": float(scores.of_forms[ranked.row]), "repeated": ranked.repeated}
