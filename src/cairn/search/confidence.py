"""How sure an answer may be: a calibrated chance that a hit is relevant, and when to say that nothing is."""

from __future__ import annotations

import math

from cairn.search.rank import Ranking
from cairn.types import Confidence

# A logistic model of "this hit is relevant", fitted on the top hits of the development half of the benchmark and on
# its questions put to the wrong repositories; validated by leaving repositories out, see bench/README.md.
BIAS = -4.84
SCORE, DENSE, MARGIN = 1.35, 4.27, 2.09
# How often the only definition of exactly the name in the query is the right one; several of a name share it.
NAMED = 0.95
HIGH, MEDIUM = 0.8, 0.4
# The most for a hit by meaning where the query looks like a message, and no line holds any of it.
GUESSED = 0.7
# An answer whose best hit is less likely to be right than this is left empty. The fewer of the query's terms occur in
# the project, the higher the bar: (share of known terms up to, least chance).
HOPELESS = ((0.35, 0.3), (0.5, 0.2), (0.7, 0.1), (1.0, 0.06))


def signals(ranking: Ranking, place: int) -> tuple[float, float, float]:
    """Return what the chance depends on: the hit's score, its cosine, and its lead over the next file's best hit.

    Definitions of what the query names compete with what follows them, not with each other.
    """
    hit = ranking.rows[place]
    following = ranking.rows[max(place + 1, ranking.n_named) :]
    behind = next((row.score for row in following if row.file != hit.file), 0.0)
    return hit.score, hit.dense, hit.score - behind


def relevance(ranking: Ranking, place: int) -> float:
    """Return the chance, 0 to 1, that the hit at `place` is what was asked for."""
    score, dense, margin = signals(ranking, place)
    logit = BIAS + SCORE * score + DENSE * dense + MARGIN * margin
    chance = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))
    return max(chance, NAMED / ranking.n_named) if place < ranking.n_named else chance


def relevances(ranking: Ranking, count: int) -> list[float]:
    """Return the chances of the first `count` hits; a hit is no surer than those above it."""
    found, most = [], 1.0
    for place in range(count):
        most = min(most, relevance(ranking, place))
        found.append(most)
    return found


def is_hopeless(ranking: Ranking) -> bool:
    """Tell whether even the best row has too little to do with the query."""
    if not ranking.rows:
        return True
    if ranking.n_named:
        return False
    least = next(chance for known, chance in HOPELESS if ranking.known <= known)
    return max(relevance(ranking, place) for place in range(min(3, len(ranking.rows)))) < least


def confidence_word(chance: float) -> Confidence:
    """Return the word for a chance of being relevant."""
    if chance >= HIGH:
        return "high"
    return "medium" if chance >= MEDIUM else "low"
