"""Scores memories for a query: a weighted sum of features, each of which means something by itself."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.embedding.static import bundled_model
from cairn.errors import QueryError
from cairn.memory.corpus import Corpus, Floats
from cairn.memory.links import Staleness, name_of
from cairn.search.query import DETAIL_WEIGHT, MAX_QUERY_CHARS, Query, understand
from cairn.storage.memory.rows import Observation

Doubles = npt.NDArray[np.float64]

RECENT_DAYS = 60.0  # after so long a memory has lost half of what it had for being new
IMPORTANT = 8  # from here on, importance is a reason of its own
_DAY_SECONDS = 86_400.0
_LINK_BITS, ANY_FIELD = 1 | 2, 255  # of a term's fields: see `derived.row_of`
USUAL_PLACE = 5  # behind so many memories, what matches is only near
MANY_MEMORIES, TYPICAL = 400, 0.44  # of so many, or else how well such a one matches on average
_MOST_WORDS = 4  # that are named as a reason
_CLOSE = 0.5  # a cosine of so much is a reason of its own
# The halves of `don't` and the `s` of `user's` would be looked for as words, and many memories begin with "don't".
_NEGATION = re.compile(
    r"\b(?:are|ca|could|did|do|does|had|has|have|is|must|need|should|was|were|wo|would)n['\u2019]?t\b", re.IGNORECASE
)
_SHORTENED = re.compile(r"\b(i|\w{2,})['\u2019](?:s|m|re|ve|ll|d)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecallWeights:
    """What each feature of a memory counts, fitted on the development half of the benchmark; see bench/README.md.

    The first group is about how well it matches the query, the second about what it is worth. `changed` and `gone` are
    about the code that it speaks of. Features are between 0 and 1.
    """

    lexical: float = 0.4
    cover: float = 0.4
    dense: float = 1.0

    importance: float = 0.06
    recency: float = 0.04
    changed: float = -0.03
    gone: float = -0.15


class Scored(NamedTuple):
    """The scores of all rows for a query.

    Attributes:
        match: how well each matches, whatever it is worth; shape (n_rows,), as all.
        total: with what it is worth, -inf for those out of scope.
        features: what the scores are made of.
        holds: the fields in which each row holds each term of the query, as bits; shape (n_rows, n_terms).
        usual: how well a memory matches that is near, but hardly the one.
    """

    match: Doubles
    total: Doubles
    features: Mapping[str, npt.NDArray[np.floating[Any]]]
    holds: npt.NDArray[np.uint8]
    usual: float


def parse_question(text: str) -> Query | None:
    """Return a question to the memory as terms and words, None if there is nothing in it; a long one is cut."""
    text = _SHORTENED.sub(r"\1", _NEGATION.sub("not", text[:MAX_QUERY_CHARS]))
    try:
        parsed = understand(text, "hybrid")
    except QueryError:
        return None
    return parsed if parsed.terms else None


def score(
    corpus: Corpus, query: Query, cosines: Floats, scope: npt.NDArray[np.bool_], now: float, weights: RecallWeights
) -> Scored:
    """Score all rows by what they say, and by how much they are worth at a time in seconds since the epoch.

    Args:
        cosines: of the query with each row.
        scope: which rows count.
    """
    # All words of a question count alike here, where a search of code sets the subject apart.
    terms = [(term.hashed, min(1.0, term.weight / DETAIL_WEIGHT)) for term in query.terms]
    lexical = corpus.lexical([hashed for hashed, _ in terms], [weight for _, weight in terms])
    ages = np.maximum(0.0, now - corpus.created) / (_DAY_SECONDS * RECENT_DAYS)
    matching = {
        "lexical": lexical.share,
        "cover": lexical.within(ANY_FIELD),
        "dense": cosines,
    }
    worthy = {"importance": (corpus.importance - 1) / 9, "recency": 0.5**ages}
    match = _weighted_sum(matching, weights)
    total = np.where(scope, match + _weighted_sum(worthy, weights), -np.inf)
    return Scored(match, total, {**matching, **worthy}, lexical.holds, _usual(match[scope]))


def _usual(matches: Doubles) -> float:
    """Return how well a memory matches that is only near; for few memories what was usual among a thousand."""
    if len(matches) <= USUAL_PLACE:
        return TYPICAL
    found = float(-np.partition(-matches, USUAL_PLACE)[USUAL_PLACE])
    share = min(1.0, len(matches) / MANY_MEMORIES)
    return share * found + (1 - share) * TYPICAL


def bundled_cosines(corpus: Corpus, query: Query) -> Floats:
    """Return the cosines of a query with all rows by the bundled model; 0 if it knows none of the words."""
    pooled = bundled_model().pool(query.words)
    norm = float(np.linalg.norm(pooled))
    if not norm:
        return np.zeros(len(corpus.numbers), dtype=np.float32)
    return corpus.vectors.similarities(pooled / np.float32(norm))


def _weighted_sum(features: Mapping[str, npt.NDArray[np.floating[Any]]], weights: RecallWeights) -> Doubles:
    total: Doubles = np.sum([float(getattr(weights, name)) * values for name, values in features.items()], axis=0)
    return total


def worth(staleness: Staleness, weights: RecallWeights) -> float:
    """Return what the state of the code that a memory speaks of adds to its score."""
    return {"current": 0.0, "changed": weights.changed, "gone": weights.gone}[staleness.state]


# -- how sure it is ----------------------------------------------------------------------------------------------------

# A logistic model of "this memory answers the question", fitted on the development half of the benchmark and on its
# questions put to memories that do not answer them.
BIAS, DENSE, LEAD = -6.15, 4.0, 9.4
HOPELESS = 0.003  # what is less likely to be relevant is not shown
FAINT = 0.0015  # or less than this, where somebody asked for a few in any case


def relevance(scored: Scored, row: int) -> float:
    """Return the chance, 0 to 1, that a row in scope is what was asked for."""
    dense, lead = signals(scored, row)
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, BIAS + DENSE * dense + LEAD * lead))))


def signals(scored: Scored, row: int) -> tuple[float, float]:
    """Return what the chance depends on: a row's cosine, and its lead over what is usual."""
    return float(scored.features["dense"][row]), float(scored.match[row]) - scored.usual


def reasons(observation: Observation, query: Query, scored: Scored, row: int) -> str:
    """Return why a memory was chosen for a query, such as `says timeout, pool; about src/pool.py; importance 9`."""
    terms = [
        (term.text, fields) for term, fields in zip(query.terms, scored.holds[row].tolist(), strict=True) if fields
    ]
    parts = [f"says {', '.join(text for text, _ in terms[:_MOST_WORDS])}"] if terms else []
    if scored.features["dense"][row] >= _CLOSE or not parts:
        parts.append("close in meaning")
    if observation.links and any(fields & _LINK_BITS for _, fields in terms):
        parts.append(f"about {name_of(observation.links[0])}")
    if observation.importance >= IMPORTANT:
        parts.append(f"importance {observation.importance}")
    return "; ".join(parts)
