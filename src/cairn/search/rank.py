"""Ranks the rows of a snapshot for one query: scope, scores, one good chunk per file first."""

from __future__ import annotations

import sqlite3
from bisect import insort
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cairn.index.segment import Form
from cairn.index.snapshot import Snapshot
from cairn.search.filters import Filtered, filter_files
from cairn.search.learned import correct
from cairn.search.near import largest
from cairn.search.query import SCOPE_MARK, Name, Query, looks_named
from cairn.search.score import Floats, Scope, Scores, Weights, contributions, form_weight, score
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import NamedDefinition

# Each further chunk of a file counts this much less than the one before, so that one file does not fill the list.
SATURATION = 0.5
_TIE = 1e-4  # more than rounding changes a score by
MAX_NAMESAKES = 200
MAX_MINOR_NAMESAKES = 3
# Names of these kinds are often just mentioned again elsewhere; a type or function is what is meant.
MINOR_KINDS = frozenset({"field", "variable", "key", "property", "section", "constant", "target"})


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row of the result: where it is, which definition it is there for, and how near its meaning is.

    `repeated` is what its score lost because its file stands in the list already.
    """

    row: int
    file: int
    score: float
    definition: int | None
    dense: float
    repeated: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best rows, best first, and the share of the query's terms that the project contains at all.

    `explain` gives the parts that a row's score is the sum of. The first `n_named` rows are there because they define
    what the query as a whole names, however they score; each of their definitions is an entry.
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
) -> Ranking:
    """Return the best rows for a query; none when the index is empty or the filters leave nothing.

    Args:
        vector: the query's by the bundled model.
        dense: see `score`.
    """
    if not snapshot.n_live:
        return Ranking([], 0.0)
    scores, scope, chosen = first_stage(snapshot, connection, query, vector, filters, weights, dense)
    correct(snapshot, vector, scores, weights)
    rows = _diversify(snapshot, scores, scope, chosen, limit)
    named: list[Ranked] = []
    if query.named is not None:
        named = _definitions_of(snapshot, connection, query, query.named, filters, scope, scores)[:limit]
        taken = {one.row for one in named}
        rows = [*named, *(one for one in rows if one.row not in taken)][:limit]
    return Ranking(rows, scores.matches.known, lambda one: _parts(snapshot, scores, one, weights), len(named))


def first_stage(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    vector: Floats | None,
    filters: Filtered,
    weights: Weights,
    dense: Floats | None = None,
) -> tuple[Scores, Scope, dict[int, int]]:
    """Return the scores of all rows, which of them count, and {row: the definition it is there for}."""
    scope = _scope(snapshot, filters)
    chosen: dict[int, int] = {}
    if filters.kinds:
        chosen = _rows_of_kinds(snapshot, connection, filters.kinds)
        keep = np.isin(np.arange(snapshot.n_rows), list(chosen))
        scope = Scope(scope.file_of_blob, np.where(keep, scope.file_of_row, -1))
    named = _rows_defining_names(snapshot, connection, query, scope)
    scores = score(snapshot, query, vector, {row: one[0] for row, one in named.items()}, scope, weights, dense)
    return scores, scope, chosen or {row: one[1] for row, one in named.items()}


def _scope(snapshot: Snapshot, filters: Filtered) -> Scope:
    files = filter_files(snapshot.files, filters)
    if files is None:
        return Scope(snapshot.file_of_blob, snapshot.file_of_row)
    return Scope(*snapshot.restrict(files))


def _rows_of_kinds(snapshot: Snapshot, connection: sqlite3.Connection, kinds: tuple[str, ...]) -> dict[int, int]:
    """Return {row: first definition of one of the kinds that begins there}."""
    found = chunk_db.definitions_of_kinds(connection, kinds)
    rows = snapshot.rows_of_chunks(np.array([chunk_id for chunk_id, _ in found], dtype=np.int64))
    first: dict[int, int] = {}
    for row, (_, ordinal) in zip(rows.tolist(), found, strict=True):
        if row >= 0:
            first.setdefault(row, ordinal)
    return first


def _rows_defining_names(
    snapshot: Snapshot, connection: sqlite3.Connection, query: Query, scope: Scope
) -> dict[int, tuple[float, int]]:
    """Return {row: (strength, definition)} of the rows that define a name in the query."""
    rows: dict[int, tuple[float, int]] = {}
    for name in query.symbols:
        for row, found in _namesakes(snapshot, connection, name, scope):
            strength = _strength(name.last, name.scope, found)
            if strength > rows.get(row, (0.0, 0))[0]:
                rows[row] = (strength, found.ordinal)
    return rows


def _namesakes(
    snapshot: Snapshot, connection: sqlite3.Connection, name: Name, scope: Scope
) -> list[tuple[int, NamedDefinition]]:
    """Return the definitions in scope that are called so, in any case, each with its row.

    Those that stand in what the name is asked in come first, then those in the same case, then the rest, by path. More
    than `MAX_NAMESAKES` are too many for any to be meant; which are left out then does not depend on other views.
    """
    found = list(chunk_db.find_definitions(connection, name.last))
    rows = snapshot.rows_of_chunks(np.array([one.chunk_id for one in found], dtype=np.int64))
    files = np.where(rows >= 0, scope.file_of_row[rows], -1)
    order = [
        (
            not _is_within_scope(one.qualified_name, name.scope, name.last),
            one.name != name.last,
            file,
            one.ordinal,
            row,
            one,
        )
        for one, row, file in zip(found, rows.tolist(), files.tolist(), strict=True)
        if file >= 0
    ]
    return [entry[-2:] for entry in sorted(order)[:MAX_NAMESAKES]]


def _strength(last: str, scope: str, found: NamedDefinition) -> float:
    strength = 1.0 if found.name == last else 0.6
    if scope and not found.qualified_name.lower().endswith(f"{scope}.{last}".lower()):
        strength *= 0.4
    return strength * (0.6 if found.kind in MINOR_KINDS else 1.0)


def _definitions_of(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    name: Name,
    filters: Filtered,
    scope: Scope,
    scores: Scores,
) -> list[Ranked]:
    """Return every definition of exactly a name, those in its scope first, then types and functions, then by score.

    Many fields or keys of one plain word are likely not what is meant: then they are left to their scores.
    """
    found: list[tuple[tuple[bool, bool, float, int, int], Ranked]] = []
    dense = scores.of_rows.get("dense", np.zeros(snapshot.n_rows, dtype=np.float32))
    for row, one in _namesakes(snapshot, connection, name, scope):
        if not np.isfinite(scores.total[row]) or one.name != name.last:
            continue
        if any(kinds and one.kind not in kinds for kinds in (query.kinds, filters.kinds)):
            continue
        outside = not _is_within_scope(one.qualified_name, name.scope, name.last)
        total = float(scores.total[row])
        ranked = Ranked(row, int(scope.file_of_row[row]), total, one.ordinal, float(dense[row]), 0.0)
        found.append(((outside, one.kind in MINOR_KINDS, -total, ranked.file, one.ordinal), ranked))
    inside = [entry for entry in found if not entry[0][0]]
    if name.scope and (inside or query.kinds):  # `Other.name` is not what `Scope.name` asks for
        found = inside
    plain = not name.scope and not looks_named(name.last)
    if plain and sum(order[1] for order, _ in found) > MAX_MINOR_NAMESAKES:
        found = [entry for entry in found if not entry[0][1]]
    return [ranked for _, ranked in sorted(found, key=lambda entry: entry[0])]


def _is_within_scope(qualified_name: str, scope: str, last: str) -> bool:
    """Tell whether a qualified name ends in a scope and a name, in whole parts."""
    wanted = [*filter(None, scope.split(".")), last]
    return not scope or SCOPE_MARK.split(qualified_name)[-len(wanted) :] == wanted


def _diversify(snapshot: Snapshot, scores: Scores, scope: Scope, chosen: dict[int, int], limit: int) -> list[Ranked]:
    """Return the best rows, each further one of a file at a discount.

    A file's best row is never discounted, so only rows of the `limit` best files can be among the `limit` best.
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
    # Rows of one score stand by path, and then by their place in the file.
    order = np.lexsort((places, files, -totals[good]))
    rows, files, places, totals = good_rows[order], files[order], places[order], totals[good][order]
    seen: Counter[int] = Counter()
    done: set[int] = set()  # files of which no further row is good enough
    found: list[tuple[float, int, int, int, float]] = []
    columns = (totals.tolist(), rows.tolist(), files.tolist(), places.tolist())
    for total, row, file, place in zip(*columns, strict=True):
        if file not in done:
            value = _discount(total, seen[file])
            if len(found) < limit or -value <= found[limit - 1][0]:
                insort(found, (-value, file, place, row, total))
                seen[file] += 1
            else:
                done.add(file)
    dense = scores.of_rows.get("dense", np.zeros(snapshot.n_rows, dtype=np.float32))
    return [
        Ranked(row, file, -value, chosen.get(row), float(dense[row]), -value - total)
        for value, file, _, row, total in found[:limit]
    ]


def _discount(total: float, place: int) -> float:
    """Return what the row at a place among its file's counts. A negative score, a factor would raise."""
    value = total * SATURATION**place if total > 0 else total - place
    return round(value, 5)  # what differs only in how it was summed up is a tie


def _parts(snapshot: Snapshot, scores: Scores, one: Ranked, weights: Weights) -> dict[str, float]:
    """Return what each feature adds to a row's score."""
    parts = contributions(scores.features(one.row, int(snapshot.blob_of_row[one.row]), one.file), weights)
    return {**parts, "form": form_weight(Form(int(snapshot.forms[one.row])), weights), "repeated": one.repeated}
