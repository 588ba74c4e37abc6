"""Scores memories for a query: a weighted sum of features, each of which means something by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.embedding.static import bundled_model
from cairn.errors import QueryError
from cairn.memory.corpus import Corpus, Floats
from cairn.memory.links import Staleness, name_of
from cairn.search.answer import query_vector
from cairn.search.query import MAX_QUERY_CHARS, Query, understand
from cairn.storage.memory.rows import Observation

RECENT_DAYS = 60.0  # after so long a memory has lost half of what it had for being new
IMPORTANT = 8  # from here on, importance is a reason of its own
_DAY_SECONDS = 86_400.0
_NAME_BIT, _PATH_BIT, _FIRST_BIT = 1, 2, 4  # of a term's fields: see `derived.row_of`
_MOST_WORDS = 4  # that are named as a reason
_CLOSE = 0.5  # a cosine of so much is a reason of its own


@dataclass(frozen=True, slots=True)
class RecallWeights:
    """What each feature of a memory counts, fitted on the development half of the benchmark; see bench/README.md.

    `changed` and `gone` are about the code that a memory speaks of. Features are between 0 and 1.
    """

    lexical: float = 1.0
    named: float = 0.2
    first: float = 0.2
    dense: float = 1.0
    importance: float = 0.1
    recency: float = 0.05
    changed: float = -0.03
    gone: float = -0.15


class Scored(NamedTuple):
    """The scores of all rows for a query, -inf for those out of scope.

    Attributes:
        total: shape (n_rows,).
        dense: the cosines with the query, shape (n_rows,).
        holds: the fields in which each row holds each term of the query, as bits; shape (n_rows, n_terms).
        known: the share of the terms that occur anywhere.
    """

    total: Floats
    dense: Floats
    holds: npt.NDArray[np.uint8]
    known: float


def parse_question(text: str) -> Query | None:
    """Return a question to the memory as terms and words, None if there is nothing in it; a long one is cut."""
    try:
        parsed = understand(text[:MAX_QUERY_CHARS], "hybrid")
    except QueryError:
        return None
    return parsed if parsed.terms else None


def score(corpus: Corpus, query: Query, scope: npt.NDArray[np.bool_], now: float, weights: RecallWeights) -> Scored:
    """Score all rows by what they say, and by how much they are worth at a time in seconds since the epoch."""
    terms = query.terms
    lexical = corpus.lexical([term.hashed for term in terms], [term.weight for term in terms])
    vector = query_vector(bundled_model(), query)
    dense = np.zeros(len(scope), dtype=np.float32) if vector is None else corpus.vectors.similarities(vector)
    ages = np.maximum(0.0, now - corpus.created) / (_DAY_SECONDS * RECENT_DAYS)
    features: dict[str, npt.NDArray[np.floating[Any]]] = {
        "lexical": lexical.share,
        "named": lexical.within(_NAME_BIT | _PATH_BIT),
        "first": lexical.within(_FIRST_BIT),
        "dense": dense,
        "importance": (corpus.importance - 1) / 9,
        "recency": 0.5**ages,
    }
    total = np.where(scope, 0.0, -np.inf)
    for name, values in features.items():
        total += float(getattr(weights, name)) * values
    return Scored(total.astype(np.float32), dense, lexical.holds, lexical.known)


def worth(staleness: Staleness, weights: RecallWeights) -> float:
    """Return what the state of the code that a memory speaks of adds to its score."""
    return {"current": 0.0, "changed": weights.changed, "gone": weights.gone}[staleness.state]


# -- how sure it is ----------------------------------------------------------------------------------------------------

# A logistic model of "this memory answers the question", fitted on the development half of the benchmark and on its
# questions put to memories of other projects.
BIAS, SCORE, DENSE, MARGIN, KNOWN = -5.0, 3.0, 2.0, 2.0, 1.0
HOPELESS = 0.05  # what is less likely to be relevant is not shown


def relevance(score: float, dense: float, margin: float, known: float) -> float:
    """Return the chance, 0 to 1, that a memory is what was asked for.

    Args:
        score: of the memory.
        dense: its cosine with the query.
        margin: its lead over the next one.
        known: the share of the query's terms that occur anywhere.
    """
    logit = BIAS + SCORE * score + DENSE * dense + MARGIN * margin + KNOWN * known
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def reasons(observation: Observation, query: Query, holds: npt.NDArray[np.uint8], dense: float) -> str:
    """Return why a memory was chosen for a query, such as `says timeout, pool; close in meaning; importance 9`."""
    terms = [term.text for term, fields in zip(query.terms, holds.tolist(), strict=True) if fields]
    parts = [f"says {', '.join(terms[:_MOST_WORDS])}"] if terms else []
    if dense >= _CLOSE or not parts:
        parts.append("close in meaning")
    if any(fields & (_NAME_BIT | _PATH_BIT) for fields in holds.tolist()) and observation.links:
        parts.append(f"about {name_of(observation.links[0])}")
    if observation.importance >= IMPORTANT:
        parts.append(f"importance {observation.importance}")
    return "; ".join(parts)
