"""How sure an answer may be: a calibrated chance that a hit is relevant, and when to say that nothing is."""

from __future__ import annotations

import math

from cairn.search.rank import Ranking
from cairn.types import Confidence

# A logistic model of "this hit is relevant", fitted on the top hits of the development half of the benchmark and on
# its questions put to the wrong repositories; validated by leaving repositories out, see bench/README.md.
BIAS = -4.84
SCORE, DENSE, MARGIN = 1.35, 4.27, 2.09
# How often the one definition of exactly the name that was asked for is what was meant; shared by several of a name.
NAMED = 0.95
HIGH, MEDIUM = 0.75, 0.4
# An answer whose best hit is less likely than this to be right is better left empty: the bar is higher, the fewer of
# the query's terms the project contains at all. (share of known terms up to, least chance)
HOPELESS = ((0.35, 0.3), (0.5, 0.2), (0.7, 0.1), (1.0, 0.06))


def signals(ranking: Ranking, place: int) -> tuple[float, float, float]:
    """Return what the chance is judged by: the hit's score, its cosine, and its lead over the next file's best hit.

    Definitions of what the query names do not compete with each other, but with what follows them.
    """
    one = ranking.rows[place]
    following = ranking.rows[max(place + 1, ranking.n_named) :]
    behind = next((other.score for other in following if other.file != one.file), 0.0)
    return one.score, one.dense, one.score - behind


def relevance(ranking: Ranking, place: int) -> float:
    """Return the chance, 0 to 1, that the hit at `place` is what was asked for."""
    score, dense, margin = signals(ranking, place)
    logit = BIAS + SCORE * score + DENSE * dense + MARGIN * margin
    chance = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))
    return max(chance, NAMED / ranking.n_named) if place < ranking.n_named else chance


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
