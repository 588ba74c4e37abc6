"""How sure an answer may be: a calibrated chance that a hit is relevant, and when to say that nothing is."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import NamedTuple

from cairn.search.rank import Ranking
from cairn.types import Confidence


class Model(NamedTuple):
    """A logistic model of "this hit is relevant"."""

    bias: float
    score: float
    dense: float
    margin: float


# Fitted by training/confidence.py on the top hits of repositories that the trees never saw, and on questions put to the
# wrong ones; see bench/README.md.
QUESTIONS = Model(-4.84, 1.35, 4.27, 2.09)
WORK_ITEMS = Model(-1.89, 0.32, 1.71, 2.23)
# How often the only definition of exactly the name in the query is the right one; several of a name share it.
NAMED = 0.95
HIGH, MEDIUM = 0.8, 0.4
# The most for a hit by meaning where the query looks like a message, and no line holds any of it, or like a name that
# nothing has, for one that has the name elsewhere than in the type that the query says, and for one whose file says
# less than `MOSTLY` of the question.
GUESSED, MOSTLY = 0.7, 0.5
# An answer whose best hit is less likely to be right than this is left empty. The fewer of the query's terms occur in
# the project, the higher the bar: (share of known terms up to, least chance).
FAINT = 0.06
HOPELESS = ((0.35, 0.3), (0.5, 0.2), (0.7, 0.1), (1.0, FAINT))


def relevance(ranking: Ranking, place: int) -> float:
    """Return the chance, 0 to 1, that the hit at `place` is what was asked for."""
    chance = _chance(ranking, place, QUESTIONS)
    if not ranking.for_work_item:
        return chance
    # Few work items were put to the wrong project: what is hopeless as the answer of a question stays so.
    return min(chance, _chance(ranking, place, WORK_ITEMS)) if chance < FAINT else _chance(ranking, place, WORK_ITEMS)


def _chance(ranking: Ranking, place: int, model: Model) -> float:
    hit, n_named, for_work_item = ranking.rows[place], ranking.n_named, ranking.for_work_item
    score = hit.score
    logit = model.bias + model.score * score + model.dense * hit.dense + model.margin * (score - _next(ranking, place))
    if not for_work_item:  # commits speak for a question's file more often than for what answers it
        logit -= model.score * hit.by_history
    chance = 0.5 + 0.5 * math.tanh(logit / 2)  # the logistic function, which no number is too large for
    if place >= n_named:
        says_little = not for_work_item and hit.cover < MOSTLY
        return min(chance, GUESSED) if says_little or ranking.lacks == "name" else chance
    least = NAMED / (ranking.n_meant if place < ranking.n_meant else n_named)
    if ranking.is_sure and ranking.lacks not in ("scope", "file"):
        return max(chance, least)
    return min(max(chance, min(MEDIUM, least) if ranking.lacks == "scope" else MEDIUM), GUESSED)


def _next(ranking: Ranking, place: int) -> float:
    """Return the score of the best hit of the next file, 0 if there is none.

    Definitions of what the query names compete with what follows them, not with each other.
    """
    rows, file = ranking.rows, ranking.rows[place].file
    for following in range(max(place + 1, ranking.n_named), len(rows)):
        if rows[following].file != file:
            return rows[following].score
    return 0.0


def relevances(ranking: Ranking, count: int) -> list[float]:
    """Return the chances of the first `count` hits; a hit is no surer than those above it."""
    return list(accumulate([relevance(ranking, place) for place in range(count)], min))


def is_hopeless(ranking: Ranking, bar: float = 1.0) -> bool:
    """Tell whether even the best row has too little to do with the query.

    Args:
        bar: what the least chance is multiplied by; of a tuning.
    """
    return sureness(ranking) < bar


def sureness(ranking: Ranking) -> float:
    """Return how sure an answer is, as a multiple of what it must be at least; 0 without any row."""
    if not ranking.rows:
        return 0.0
    if ranking.n_named:
        return math.inf
    least = next(chance for known, chance in HOPELESS if ranking.known <= known)
    return max(_chance(ranking, place, QUESTIONS) for place in range(min(3, len(ranking.rows)))) / least


def confidence_word(chance: float) -> Confidence:
    """Return the word for a chance of being relevant."""
    if chance >= HIGH:
        return "high"
    return "medium" if chance >= MEDIUM else "low"
