"""What a project's commits say of its files beside their words: features that a long text or a tuning makes count."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from cairn.history.past import Past
from cairn.index.snapshot import Snapshot
from cairn.search.past import PastOfView
from cairn.search.query import Query
from cairn.search.score import Doubles, Floats, Ints, Weights
from cairn.source.terms import terms_of
from cairn.source.text import split_identifier

_YEAR_SECONDS = 365.25 * 86_400
# After how many years a change counts half for `recent` and for `churn`.
_HALF_LIVES = {"recent": 0.06, "churn": 0.5}
_MOST_COMMITS = 300  # of a word, the newest
_MOST_WORDS = 24  # of a query, those that say most
# Of the last commits so many count, each so much of the one after it.
_LAST_COMMITS, _LAST_SHARE = 40, 0.85
_USUAL_COMMITS = 1_500  # say how often a file changes whatever a commit is about
_FULL_RARITY = 6.0  # from which on a word tells all it can

_SCOPE = re.compile(r"\s*(?:\[([^\]]{1,40})\]:?|([\w./*-]{2,40})(?:\(([^)]{1,60})\))?!?:)(?=\s)")
_KINDS_OF_CHANGE = frozenset(
    "bug build chore ci doc docs feat feature fix perf refactor revert style test tests".split()  # noqa: SIM905 - a list of words reads best as text
)


def scope_of(text: str) -> str:
    """Return the part of a project that a text names in front, in lower case; empty if it names none.

    It is `router` in `router: keep the query`, in `fix(router): …`, and in `[router] …`.
    """
    found = _SCOPE.match(text)
    if found is None:
        return ""
    outer, inner = (found[1] or found[2]).lower(), (found[3] or "").lower()
    return inner or ("" if outer in _KINDS_OF_CHANGE else outer)


def tuned_features(
    snapshot: Snapshot, of_view: PastOfView | None, query: Query, weights: Weights
) -> dict[str, Floats] | None:
    """Return features of files with a weight that those for questions do not have, each of shape (n_files,), 0 to 1.

    Whatever is looked for, `recent` and `churn` say how much a file changed of late and within a year, `last` and
    `last_folder` how much it, and what is in its folder, changed in the last commits. `words` is the share of the
    commits with a word of the query that changed the file, by the rarity of the words; `telling` is that of the one
    word that says most, beyond how often the file changes anyway. `scope` is the share of the commits with the scope
    of the query that changed its folder.
    """
    if of_view is None or not len(of_view.past):
        return None
    past = of_view.past
    found = {name: _changes_of(past, half) for name, half in _HALF_LIVES.items() if getattr(weights, name)}
    if weights.last or weights.last_folder:
        found |= last_changes(past)
    if weights.words or weights.telling:
        found |= words_of(past, query)
    if weights.scope:
        found["scope"] = scope_changes(past, query)
    if not found:
        return None
    numbers = _path_numbers(snapshot, of_view)
    return {
        name: np.append(values, 0.0)[numbers].astype(np.float32)
        for name, values in found.items()
        if getattr(weights, name)
    }


def _path_numbers(snapshot: Snapshot, of_view: PastOfView) -> Ints:
    """Return the number that the history gives each file, -1 if it knows none. Shape (n_files,)."""
    known = _numbers.get(snapshot)
    if known is None or known[0] is not of_view.past.numbers:
        numbers, folder = of_view.past.numbers, of_view.folder
        places = np.array([numbers.get(folder + path, -1) for path in snapshot.files.paths], dtype=np.int64)
        known = _numbers[snapshot] = numbers, places
    return known[1]


_numbers: WeakKeyDictionary[Snapshot, tuple[dict[str, int], Ints]] = WeakKeyDictionary()


class _Changes(NamedTuple):
    """Changes of some commits: the path of each, and how much it counts. Shapes: (n,)."""

    paths: Ints
    values: Doubles

    def by_path(self, past: Past) -> Doubles:
        sums: Doubles = np.bincount(self.paths, weights=self.values, minlength=past.n_paths).astype(np.float64)
        return sums

    def by_folder(self, past: Past) -> Doubles:
        """Return the share of the changes in the folder of each path, less if they are few. Shape (n_paths,)."""
        sums = np.bincount(
            past.folders[self.paths], weights=self.values, minlength=int(past.folders.max(initial=0)) + 1
        )
        shares: Doubles = (sums / (sums.sum() + 1.0))[past.folders]
        return shares


def _changes_in(past: Past, commits: Ints, values: Doubles) -> _Changes:
    """Return the changes of commits, of which each change counts as much as given for its commit."""
    counts = past.counts[commits]
    places = np.arange(counts.sum()) + np.repeat(past.change_start[commits] - np.cumsum(counts) + counts, counts)
    return _Changes(past.changes[places].astype(np.int64), np.repeat(values, counts))


def _value_of(past: Past, commits: Ints) -> Doubles:
    """Return how much a change of each commit counts: less if there are many."""
    value: Doubles = past.weights[commits] / np.sqrt(np.maximum(1.0, past.counts[commits]))
    return value


def _changes_of(past: Past, half_life: float) -> Doubles:
    """Return how much each path changed, the newest changes counting most, as a share of the most. Shape (n_paths,)."""
    years = np.maximum(0, past.seconds.max() - past.seconds) / _YEAR_SECONDS
    value = past.weights / np.sqrt(np.maximum(1, past.counts)) * 0.5 ** (years / half_life)
    sums = np.bincount(past.changes, weights=np.repeat(value, past.counts), minlength=past.n_paths)
    logs = np.log1p(sums)
    share: Doubles = logs / logs.max(initial=1e-9)
    return share


def last_changes(past: Past) -> dict[str, Doubles]:
    """Return how much each path, and what is in its folder, changed in the last commits. Shapes: (n_paths,)."""
    commits = np.arange(min(len(past), _LAST_COMMITS))
    values = _LAST_SHARE**commits / np.sqrt(np.maximum(1, past.counts[commits]))
    changes = _changes_in(past, commits, values)
    return {"last": np.minimum(1.0, changes.by_path(past)), "last_folder": changes.by_folder(past)}


def words_of(past: Past, query: Query) -> dict[str, Doubles]:
    """Return what the words of a query say of each path, all together and the most telling. Shapes: (n_paths,)."""
    newest = np.arange(min(len(past), _USUAL_COMMITS))
    value = _value_of(past, newest)
    usual = _changes_in(past, newest, value).by_path(past) / max(1e-9, float(value.sum()))
    total, sums, telling = 0.0, np.zeros(past.n_paths), np.zeros(past.n_paths)
    known = [
        (weight * math.log1p((len(past) - len(commits) + 0.5) / (len(commits) + 0.5)), commits)
        for _, weight, commits in _commits_of_terms(past, query)
    ]
    known.sort(key=lambda one: -one[0])
    for rarity, commits in known[:_MOST_WORDS]:
        total += rarity
        commits = np.sort(commits)[:_MOST_COMMITS]
        value = _value_of(past, commits)
        found, of_all = _changes_in(past, commits, value).by_path(past), float(value.sum())
        sums += rarity * found / (of_all + 1.0)
        best = min(1.0, rarity / _FULL_RARITY) * np.maximum(0.0, found / (of_all + 0.5) - usual)
        telling = np.maximum(telling, best)
    return {"words": sums / total if total else sums, "telling": telling}


def scope_changes(past: Past, query: Query) -> Doubles:
    """Return what the scope of a query says of the folder of each path, 0 without one. Shape (n_paths,)."""
    none = np.zeros(past.n_paths)
    if not (scope := scope_of(query.text)):
        return none
    words = set(terms_of(scope, split_identifier(scope)))
    found = [commits for text, _, commits in _commits_of_terms(past, query) if text in words]
    if not found:
        return none
    rarest = np.sort(min(found, key=len))[:_MOST_COMMITS]
    commits = np.array([one for one in rarest.tolist() if scope_of(past.subject_of(one)) == scope], dtype=np.int64)
    return _changes_in(past, commits, _value_of(past, commits)).by_folder(past) if len(commits) else none


def _commits_of_terms(past: Past, query: Query) -> Iterator[tuple[str, float, Ints]]:
    """Yield the terms of a query that commits have, each with its weight and these commits."""
    postings = past.postings
    for term in query.terms:
        place = int(np.searchsorted(postings.hashes, np.uint64(term.hashed)))
        if place < len(postings.hashes) and int(postings.hashes[place]) == term.hashed:
            commits = postings.rows[slice(*postings.start[place : place + 2].tolist())].astype(np.int64)
            if len(commits):
                yield term.text, term.weight, commits
