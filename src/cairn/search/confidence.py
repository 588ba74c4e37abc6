"""How sure an answer may be: a calibrated chance that a hit is relevant, and when to say that nothing is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cairn.search.engine import Ranked
from cairn.search.query import Query
from cairn.types import Confidence

HIGH, MEDIUM = 0.8, 0.5
# A logistic model of "the hit is relevant", fitted on the development half of the benchmark; see bench/README.md.
BIAS, SCORE, LEXICAL, MARGIN = -2.0, 2.0, 1.0, 1.0
# Below this the best hit has neither the query's words nor its meaning.
MIN_SCORE = 0.25


def relevance(query: Query, ranked: Sequence[Ranked], place: int) -> float:
    """Return the chance, 0 to 1, that the hit at `place` is what was asked for."""
    one = ranked[place]
    behind = ranked[place + 1].score if place + 1 < len(ranked) else 0.0
    logit = BIAS + SCORE * one.score + LEXICAL * one.features.get("lexical", 0.0) + MARGIN * (one.score - behind)
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def is_hopeless(query: Query, ranked: Sequence[Ranked]) -> bool:
    """Tell whether even the best row has nothing to do with the query."""
    return not ranked or ranked[0].score < MIN_SCORE


def confidence_word(chance: float) -> Confidence:
    """Return the word for a chance of being relevant."""
    if chance >= HIGH:
        return "high"
    return "medium" if chance >= MEDIUM else "low"
