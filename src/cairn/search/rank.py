"""Ranks the rows of a snapshot for one query: what is in scope, what scores best, one good chunk of each file first."""

from __future__ import annotations

import sqlite3
from bisect import insort
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cairn.index.segment import Form
from cairn.index.snapshot import Snapshot
from cairn.search.filters import Filtered, filter_files
from cairn.search.learned import correct
from cairn.search.near import largest
from cairn.search.query import MINOR_KINDS, SCOPE_MARK, Name, Query, looks_named
from cairn.search.score import Floats, Scope, Scores, Weights, contributions, form_weight, score
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import NamedDefinition

if TYPE_CHECKING:
    from cairn.search.evidence import TextEvidence
    from cairn.search.score import Ints

# Each further chunk of a file counts this much less than the one before, so that no file fills the list.
SATURATION = 0.5
_TIE = 1e-4  # more than rounding can change a score
MAX_NAMESAKES = 200
MAX_MINOR_NAMESAKES = 3


class Ranked(NamedTuple):
    """One row of the result: where it is, which definition it was chosen for, and how close its meaning is.

    `repeated` is what its score lost because its file is already in the list.
    """

    row: int
    file: int
    score: float
    definition: int | None
    dense: float
    repeated: float


class Ranking(NamedTuple):
    """The best rows, best first, and the share of the query's terms that occur anywhere in the project.

    `explain` returns the parts that add up to a row's score. The first `n_named` rows define what the query as a whole
    names and come first whatever their score; each of their definitions has an entry of its own.
    """

    rows: list[Ranked]
    known: float
    explain: Callable[[Ranked], dict[str, float]] = lambda _: {}
    n_named: int = 0


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
) -> Ranking:
    """Return the best rows for a query; none when the index is empty or the filters leave nothing.

    Args:
        vector: the query's vector from the bundled model.
        dense: see `score`.
        gather: returns what a long text says of files, given the file of each row, -1 for one out of scope.
        history: shape (n_files,), how much the commits of the project speak for each file.
    """
    if not snapshot.n_live:
        return Ranking([], 0.0)
    scores, scope, chosen = first_stage(snapshot, connection, query, vector, filters, weights, dense, gather, history)
    correct(snapshot, vector, scores, weights)
    rows = _diversify(snapshot, scores, scope, chosen, limit)
    named: list[Ranked] = []
    if query.named is not None:
        named = _definitions_of(snapshot, connection, query, query.named, filters, scope, scores)[:limit]
        defining = {ranked.row for ranked in named}
        rows = [*named, *(ranked for ranked in rows if ranked.row not in defining)][:limit]
    explain = partial(_parts, snapshot, scores, weights)
    return Ranking(rows, scores.matches.known, explain, len(named))


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
    of_files = {} if evidence is None else dict(evidence.of_files)
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
        for row, definition in _namesakes(snapshot, connection, name, scope):
            strength = _strength(name, definition)
            if strength > rows.get(row, (0.0, 0))[0]:
                rows[row] = (strength, definition.ordinal)
    return rows


def _namesakes(
    snapshot: Snapshot, connection: sqlite3.Connection, name: Name, scope: Scope
) -> list[tuple[int, NamedDefinition]]:
    """Return the definitions in scope that have a name, in upper or lower case, each with its row.

    Those inside the scope that the name gives come first, then those in the same case, then the rest, by path. With
    more than `MAX_NAMESAKES` no single one can be meant; which ones are dropped does not depend on other views.
    """
    definitions = list(chunk_db.find_definitions(connection, name.last))
    rows = snapshot.rows_of_chunks(np.array([definition.chunk_id for definition in definitions], dtype=np.int64))
    files = np.where(rows >= 0, scope.file_of_row[rows], -1)
    order = [
        (
            not _is_within_scope(definition.qualified_name, name),
            definition.name != name.last,
            file,
            definition.ordinal,
            row,
            definition,
        )
        for definition, row, file in zip(definitions, rows.tolist(), files.tolist(), strict=True)
        if file >= 0
    ]
    return [entry[-2:] for entry in sorted(order)[:MAX_NAMESAKES]]


def _strength(name: Name, definition: NamedDefinition) -> float:
    """Return how well a definition fits a name, 0 to 1."""
    strength = 1.0 if definition.name == name.last else 0.6
    if name.scope and not definition.qualified_name.lower().endswith(f"{name.scope}.{name.last}".lower()):
        strength *= 0.4
    return strength * (0.6 if definition.kind in MINOR_KINDS else 1.0)


def _definitions_of(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    name: Name,
    filters: Filtered,
    scope: Scope,
    scores: Scores,
) -> list[Ranked]:
    """Return every definition of exactly this name: those in its scope first, then types and functions, then by score.

    When a plain word names many fields or keys, they are probably not what is meant, and only their scores count.
    """
    entries: list[tuple[tuple[bool, bool, float, int, int], Ranked]] = []
    dense = scores.of_rows.get("dense", np.zeros(snapshot.n_rows, dtype=np.float32))
    for row, definition in _namesakes(snapshot, connection, name, scope):
        if not np.isfinite(scores.total[row]) or definition.name != name.last:
            continue
        if any(kinds and definition.kind not in kinds for kinds in (query.kinds, filters.kinds)):
            continue
        is_outside = not _is_within_scope(definition.qualified_name, name)
        total = float(scores.total[row])
        ranked = Ranked(row, int(scope.file_of_row[row]), total, definition.ordinal, float(dense[row]), 0.0)
        order = (is_outside, definition.kind in MINOR_KINDS, -total, ranked.file, definition.ordinal)
        entries.append((order, ranked))
    inside = [entry for entry in entries if not entry[0][0]]
    if name.scope and (inside or query.kinds):  # `Other.name` is not what `Scope.name` asks for
        entries = inside
    is_plain_word = not name.scope and not looks_named(name.last)
    if is_plain_word and sum(order[1] for order, _ in entries) > MAX_MINOR_NAMESAKES:
        entries = [entry for entry in entries if not entry[0][1]]
    return [ranked for _, ranked in sorted(entries, key=lambda entry: entry[0])]


def _is_within_scope(qualified_name: str, name: Name) -> bool:
    """Tell whether a qualified name ends in the scope and the name, in whole parts."""
    wanted = [*filter(None, name.scope.split(".")), name.last]
    return not name.scope or SCOPE_MARK.split(qualified_name)[-len(wanted) :] == wanted


def _diversify(snapshot: Snapshot, scores: Scores, scope: Scope, chosen: dict[int, int], limit: int) -> list[Ranked]:
    """Return the best rows, where each further row of a file counts less.

    A file's best row keeps its score, so only rows of the `limit` best files can be among the `limit` best.
    """
    top = largest(scores.best, limit)
    top = top[np.isfinite(scores.best[top])]
    rows, counts = snapshot.rows_of(top)
    totals, best = scores.total[rows], np.repeat(scores.best[top], counts)
    good = np.isfinite(totals)
    if len(top) >= limit and (least := float(scores.best[top].min())) > 0:
        good &= (totals >= best - _TIE) | (totals * SATURATION >= least - _TIE)
    good_rows, files = rows[good], np.repeat(scope.file_of_blob[top], counts)[good]
    places = good_rows - np.repeat(snapshot.blob_rows[top], counts)[good]
    # Rows with equal scores are in order of their path, and then of their place in the file.
    order = np.lexsort((places, files, -totals[good]))
    rows, files, places, totals = good_rows[order], files[order], places[order], totals[good][order]
    seen: Counter[int] = Counter()
    done: set[int] = set()  # files without any further row that is good enough
    best_rows: list[tuple[float, int, int, int, float]] = []
    columns = (totals.tolist(), rows.tolist(), files.tolist(), places.tolist())
    for total, row, file, place in zip(*columns, strict=True):
        if file not in done:
            value = _discount(total, seen[file])
            if len(best_rows) < limit or -value <= best_rows[limit - 1][0]:
                insort(best_rows, (-value, file, place, row, total))
                seen[file] += 1
            else:
                done.add(file)
    dense = scores.of_rows.get("dense", np.zeros(snapshot.n_rows, dtype=np.float32))
    return [
        Ranked(row, file, -value, chosen.get(row), float(dense[row]), -value - total)
        for value, file, _, row, total in best_rows[:limit]
    ]


def _discount(total: float, place: int) -> float:
    """Return the score of the `place`-th row of its file; a factor would raise a negative score, so that is lowered."""
    value = total * SATURATION**place if total > 0 else total - place
    return round(value, 5)  # a difference that only comes from the order of summing is a tie


def _parts(snapshot: Snapshot, scores: Scores, weights: Weights, ranked: Ranked) -> dict[str, float]:
    """Return what each feature adds to a row's score."""
    blob = int(snapshot.blob_of_row[ranked.row])
    parts = contributions(scores.features(ranked.row, blob, ranked.file), weights)
    return {**parts, "form": form_weight(Form(int(snapshot.forms[ranked.row])), weights), "repeated": ranked.repeated}
