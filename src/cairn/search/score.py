"""Scores every row of a snapshot for a query: a weighted sum of features, each of which means something by itself.

To add a feature, give it a weight in `Weights` and put its values under the same name into `of_rows`, `of_blobs` or
`of_files` in `score`; docs/architecture.md lists what each one says. Features of the second stage are in features.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE
from cairn.index.segment import Form
from cairn.index.snapshot import Snapshot, term_frequencies
from cairn.index.view import STEM_FIELD
from cairn.kernels import loops
from cairn.kernels.plain import TermRows
from cairn.search.foreign import meant_files
from cairn.search.kin import kin_features
from cairn.search.near import SETTLED_FILES, Nearness, Totals, compare
from cairn.search.query import Query
from cairn.search.subject import asked_roles, subjects_of
from cairn.search.synonyms import Synonym, synonyms_of
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import known_hash, terms_of_word

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NAME_AND_DOC = bytes([1, 4])  # of a posting's fields: the term is in a definition's name, in its documentation
ANSWERING_ROLES = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.CONFIG  # their files answer a query that names the role
_FOREIGN_NAMES = {str(role.name).lower() for role in FOREIGN}
# Priors that are guessed from a path, and how surely a text must name a file for them to say nothing of it.
_OF_PATHS, _LEAST_POINTED = ("old_version", "example", "legacy", "other_platform", "depth"), 0.2
# A term of a file's stem counts fully from 1 / this of the highest possible rarity among all paths.
STEM_RARITY = 2.0
# Of a long text, only the rarest terms count that have no more occurrences together.
MAX_OCCURRENCES = 300_000
_MAX_STANDINGS = 4  # of one snapshot: there are three kinds of weights
SYNONYMS_IN_TEXT = 0.3  # what a synonym of a query's term counts in the text of a chunk, beside the term itself
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
    synonym: float = 0.15
    symbol: float = 0.6
    type_form: float = 0.08
    function_form: float = 0.05
    value_form: float = -0.1
    continuation: float = 0.04
    test_form: float = -0.4

    file_lexical: float = 0.5
    path: float = 0.33
    stem: float = 0.27
    path_dense: float = 0.47
    mentions: float = 0.16
    size: float = 0.1
    depth: float = -0.3
    test: float = -0.6
    example: float = -0.45
    docs: float = -0.45
    config: float = -0.2
    legacy: float = -0.3
    reexport: float = -0.05
    declaration: float = -0.15
    wanted: float = 0.33
    other_platform: float = -0.5
    old_version: float = -0.6
    generated: float = -1.0
    vendored: float = -0.8
    translation: float = -0.6
    history: float = 1.0
    kin: float = 0.6
    # What only a tuning makes count; see habits.py.
    recent: float = 0.0
    churn: float = 0.0
    words: float = 0.0
    last: float = 0.0
    last_folder: float = 0.0
    telling: float = 0.0
    scope: float = 0.0

    named: float = 0.0
    pointed: float = 0.0
    framed: float = 0.0
    raised: float = 0.0
    referred: float = 0.0

    learned: float = 0.2


_FORM_WEIGHTS = {
    Form.TYPE: "type_form",
    Form.FUNCTION: "function_form",
    Form.VALUE: "value_form",
    Form.CONTINUATION: "continuation",
    Form.TEST: "test_form",
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
    `of_forms` is what each row counts for its form, shape (n_rows,). `base` is `total` without `weight` times the
    cosines. Of rows that are not among the best, `nearness` may know bounds only. `path_cosines` are those of the
    files' paths, shape (n_files,).
    """

    total: Floats
    best: Floats
    of_rows: dict[str, Floats]
    of_blobs: dict[str, Floats]
    of_files: dict[str, Floats]
    matches: Matches
    of_forms: Floats
    base: Floats
    weight: np.float32 = np.float32(0)
    nearness: Nearness | None = None
    path_cosines: Floats | None = None

    def settle(self, count: int = 0, rows: Ints | None = None) -> None:
        """Make sure of the scores of the `count` best blobs, and of some rows, where only bounds are known so far."""
        if self.nearness is not None and self.nearness.known is not None:
            totals = Totals(self.base, self.weight, self.total, self.best)
            if count:
                self.nearness.settle(totals, count)
            if rows is not None:
                self.nearness.make_exact(totals, rows)

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
    synonyms = synonyms_of(query, matches.rarity)
    of_rows, of_files = _lexical(snapshot, matches, synonyms)
    of_files |= kin_features(snapshot, query, matches.rarity, matches.paths, synonyms)
    of_blobs = {"file_lexical": loops.file_lexical(of_rows["lexical"], snapshot.blob_rows, FILE_CHUNK_FLOOR)}
    nearness = path_cosines = None
    if vector is not None:
        if dense is None:
            nearness = compare(snapshot, vector, scope.file_of_blob)
            dense = nearness.cosines
        of_rows["dense"] = dense
        path_cosines = snapshot.path_vectors.similarities(vector)
        of_files["path_dense"] = np.maximum(path_cosines, 0)
    elif dense is not None:
        of_rows["dense"] = dense
    if symbols:
        of_rows["symbol"] = np.zeros(snapshot.n_rows, dtype=np.float32)
        of_rows["symbol"][list(symbols)] = list(symbols.values())
    evidence = evidence or {}
    of_files |= {**_without_pointed(_priors(snapshot, query, symbols, scope), evidence), **evidence}
    standing = _standing(snapshot, weights._replace(test_form=0.0) if query.wants & Role.TEST else weights)
    same = [name for name, values in snapshot.priors.items() if of_files.get(name) is values]
    if len(same) == len(snapshot.priors):
        others = {name: values for name, values in of_files.items() if name not in snapshot.priors}
        by_file = standing.of_files + _sum_features(others, weights, len(snapshot.files.paths))
    else:
        by_file = _sum_features(of_files, weights, len(snapshot.files.paths))
    counting = ["file_lexical", *(name for name in of_rows if name != "dense" and getattr(weights, name))]
    columns = {**of_blobs, **of_rows}
    base, total, best = loops.add_up(
        by_file,
        scope.file_of_blob,
        snapshot.blob_rows,
        standing.of_rows,
        None if scope.file_of_row is snapshot.file_of_row else scope.file_of_row,
        [columns[name] for name in counting],
        [getattr(weights, name) for name in counting],
        dense,
        weights.dense,
    )
    weight = np.float32(weights.dense)
    found = Scores(
        total, best, of_rows, of_blobs, of_files, matches, standing.of_rows, base, weight, nearness, path_cosines
    )
    found.settle(SETTLED_FILES)
    return found


def _without_pointed(priors: dict[str, Floats], evidence: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return priors in which what the path of a file says of it is no penalty where a text names the file."""
    if "pointed" not in evidence or not (is_pointed := evidence["pointed"] > _LEAST_POINTED).any():
        return priors
    own = {name: np.where(is_pointed, np.float32(0), priors[name]) for name in _OF_PATHS if name in priors}
    return {**priors, **own}


class _Standing(NamedTuple):
    """What adds to scores whatever the query: that of the priors, shape (n_files,), and of forms, shape (n_rows,)."""

    of_files: Floats
    of_rows: Floats


_standings: WeakKeyDictionary[Snapshot, dict[Weights, _Standing]] = WeakKeyDictionary()


def _standing(snapshot: Snapshot, weights: Weights) -> _Standing:
    """Return what any query's scores have in common, computed once."""
    known = _standings.setdefault(snapshot, {})
    if (found := known.get(weights)) is None:
        if len(known) >= _MAX_STANDINGS:
            known.clear()
        of_files = _sum_features(snapshot.priors, weights, len(snapshot.files.paths))
        of_rows = _form_weights(weights)[snapshot.forms]
        of_rows[(snapshot.forms == Form.TEST) & _is_test(snapshot, snapshot.file_of_row)] = 0
        found = known[weights] = _Standing(of_files, of_rows)
    return found


def _is_test(snapshot: Snapshot, files: Ints) -> npt.NDArray[np.bool_]:
    """Tell which files are tests, and so count as such already; -1 is none."""
    is_test = np.append((snapshot.files.roles & int(Role.TEST)) > 0, False)
    found: npt.NDArray[np.bool_] = is_test[files]
    return found


def contributions(features: dict[str, float], weights: Weights) -> dict[str, float]:
    """Return what each feature of a row contributes to its score."""
    return {name: value * float(getattr(weights, name)) for name, value in features.items()}


def _sum_features(features: dict[str, Floats], weights: Weights, size: int) -> Floats:
    total = np.zeros(size, dtype=np.float32)
    for name, values in features.items():
        if weight := getattr(weights, name):
            total += values * weight
    return total


@lru_cache(maxsize=8)
def _form_weights(weights: Weights) -> Floats:
    return np.array([form_weight(form, weights) for form in Form], dtype=np.float32)


def form_feature(form: Form) -> str:
    """Return the name of the feature that a chunk's form is, empty for a form without one."""
    return _FORM_WEIGHTS.get(form, "")


def form_weight(form: Form, weights: Weights) -> float:
    """Return what a chunk's form adds to its score."""
    return float(getattr(weights, _FORM_WEIGHTS[form])) if form in _FORM_WEIGHTS else 0.0


def _match_terms(snapshot: Snapshot, query: Query) -> Matches:
    hashes = [term.hashed for term in query.terms]
    weight = np.array([term.weight for term in query.terms])
    if query.item is None:
        rows = snapshot.term_rows(hashes)
        frequency = np.bincount(rows.terms, minlength=len(hashes))
        if not frequency.all() and (whole := _whole_words(snapshot, query, frequency)):
            hashes = [whole.get(number, hashed) for number, hashed in enumerate(hashes)]
            rows = snapshot.term_rows(hashes)
            frequency = np.bincount(rows.terms, minlength=len(hashes))
    else:
        frequency = term_frequencies(snapshot, hashes)
        rarest = _rarest(frequency)
        rows = snapshot.term_rows([hashes[number] for number in rarest])
        rows = rows._replace(terms=rarest[rows.terms])
        weight = np.where(np.isin(np.arange(len(hashes)), rarest), weight, 0.0)
    paths = snapshot.term_paths(hashes)
    return Matches(
        _idf(frequency, snapshot.n_rows) * weight,
        _idf(np.bincount(paths.terms, minlength=len(hashes)), len(snapshot.files.paths)),
        weight,
        np.count_nonzero(frequency) / max(1, len(hashes)),
        rows,
        paths,
    )


def _whole_words(snapshot: Snapshot, query: Query, frequency: Ints) -> dict[int, int]:
    """Return {number of a term: hash} where a word's stem stands nowhere, but the word does.

    It is a name of several words that is written as one, such as `getuseritems`: the index has that as it is.
    """
    unknown = {term.text: number for number, term in enumerate(query.terms) if not frequency[number]}
    stems = {word: terms_of_word(word)[1][-1] for word in query.words}
    wholes = {unknown[stem]: known_hash(word) for word, stem in stems.items() if word != stem and stem in unknown}
    return {number: whole for number, whole in wholes.items() if len(snapshot.term_rows([whole]).rows)}


def _rarest(frequencies: Ints) -> Ints:
    """Return the rarest terms, in order, as many as have `MAX_OCCURRENCES` together, but one at least."""
    by_rarity = np.argsort(frequencies, kind="stable")
    return np.sort(by_rarity[np.cumsum(frequencies[by_rarity]) <= max(MAX_OCCURRENCES, frequencies.min(initial=0))])


def _lexical(
    snapshot: Snapshot, matches: Matches, synonyms: Sequence[Synonym]
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return features of rows and of files, each as a share of the query's total rarity."""
    rarity, path_rarity, weight, _, in_rows, in_paths = matches
    share = 1 / (IMPACT_SCALE * (rarity.sum() + 1e-6))
    n_rows, n_files = snapshot.n_rows, len(snapshot.files.paths)
    gain = rarity * share
    path_gain = np.minimum(rarity, path_rarity * weight) * share
    known = np.minimum(1.0, STEM_RARITY / _highest_idf(n_files) * path_rarity)
    sums = loops.sum_occurrences(in_rows, gain, gain * IMPACT_SCALE, NAME_AND_DOC, n_rows)
    path_sums = loops.sum_occurrences(in_paths, path_gain, known, bytes([STEM_FIELD]), n_files)
    of_files = {"path": path_sums[0], "stem": np.minimum(1, path_sums[1] / np.maximum(1, snapshot.files.stem_terms))}
    of_rows = {"lexical": sums[0], "name": sums[1], "doc": sums[2]}
    if (of_synonyms := _of_synonyms(snapshot, matches, synonyms)) is not None:
        of_rows["lexical"] += SYNONYMS_IN_TEXT * of_synonyms[0]
        of_rows["synonym"] = of_synonyms[1]
    return of_rows, of_files


def _of_synonyms(snapshot: Snapshot, matches: Matches, synonyms: Sequence[Synonym]) -> Floats | None:
    """Return what synonyms say of rows, in their text and in the names they define. Shape (2, n_rows), None for none.

    A synonym counts as the term that it stands for, but not more than by its own rarity.
    """
    found = snapshot.term_rows([synonym.hashed for synonym in synonyms])
    if not len(found.rows):
        return None
    own = _idf(np.bincount(found.terms, minlength=len(synonyms)), snapshot.n_rows)
    rarity = np.minimum(own, matches.rarity[[synonym.term for synonym in synonyms]])
    share = rarity / (matches.rarity.sum() + 1e-6)
    sums: Floats = loops.sum_occurrences(found, share / IMPACT_SCALE, share, NAME_AND_DOC[:1], snapshot.n_rows)
    return sums


@lru_cache(maxsize=256)
def _highest_idf(total: int) -> float:
    """Return how rare a term is that occurs once."""
    return float(_idf(np.array([1]), total)[0])


def _idf(frequencies: Ints, total: int) -> Doubles:
    """Return how rare terms are (Robertson and Spärck Jones), never negative. Shape as given."""
    return np.array([math.log1p((total - one + 0.5) / (one + 0.5)) for one in frequencies.tolist()])


def _priors(snapshot: Snapshot, query: Query, symbols: dict[int, float], scope: Scope) -> dict[str, Floats]:
    """Return what counts for or against a file in any query; a role that the query asks for is not a penalty."""
    priors = dict(snapshot.priors)
    if foreign := priors.keys() & _FOREIGN_NAMES:
        meant = meant_files(snapshot, query, symbols, scope.file_of_blob)
        for name in foreign if meant.any() else ():
            priors[name] = np.where(meant, np.float32(0), priors[name])
    if not query.wants:
        return priors
    wants = asked_roles(snapshot, query)
    if query.wants & ~wants & Role.TEST and "test" in priors:
        priors["test"] = np.where(subjects_of(snapshot)[1], np.float32(0), priors["test"])
    if wants:
        wanted = (snapshot.files.roles & int(wants)) > 0
        for role in Role:
            if (name := str(role.name).lower()) in priors:
                priors[name] = np.where(wanted, np.float32(0), priors[name])
        if wants & ANSWERING_ROLES:
            priors["wanted"] = ((snapshot.files.roles & int(wants & ANSWERING_ROLES)) > 0).astype(np.float32)
    return priors
