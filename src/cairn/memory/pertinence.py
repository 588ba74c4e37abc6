"""Tells which memories a prompt calls for, if any.

A question is asked because its answer is wanted: the best match is worth showing. A prompt is about something else,
and most call for no memory at all. So what counts here is how much of the prompt a memory shares, in absolute terms,
and how far it stands out among all others; a prompt of a few words says too little, whatever it matches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.search.query import Query
from cairn.source.terms import terms_of
from cairn.source.text import raw_words, split_identifier

_Doubles = npt.NDArray[np.float64]

# A logistic model of "a colleague would point this memory out", fitted to the development half of the prompts in
# bench/data/injection_prompts.txt, put to memories of 3, 5, 20, 100 and 420.
_BIAS, _DENSE, _SHARED, _DENSE_LEAD, _SHARED_LEAD, _LENGTH = -5.15, 5.1, 0.13, 7.15, 0.36, 0.22
LEAST_CHANCE = 0.45  # from here on a memory is shown; calibrated there as well
# What the best of many memories that have nothing to do with a prompt would have: among a few, a lead over it counts.
_LEAST_DENSE, _LEAST_SHARED = 0.3, 5.0
_MOST_WORDS = 4  # that are named
_LONG = 8  # terms; a longer prompt says no more about whether anything is called for
_LEAST_ROWS = 100  # among fewer memories, every word would seem common


class PromptMatches(NamedTuple):
    """How memories match a prompt, each in a row.

    Attributes:
        dense: cosines with the prompt, shape (n_rows,).
        holds: which terms of the prompt each holds, shape (n_rows, n_terms).
        scope: which rows count, shape (n_rows,).
    """

    dense: npt.NDArray[np.floating]
    holds: npt.NDArray[np.bool_]
    scope: npt.NDArray[np.bool_]


def chances(prompt: Query, matches: PromptMatches) -> _Doubles:
    """Return of each row the chance that the prompt calls for it; 0 out of scope."""
    shared = matches.holds @ (_rarity(matches.holds) * [min(1.0, term.weight) for term in prompt.terms])
    dense = matches.dense.astype(np.float64)
    shared, dense = np.where(matches.scope, shared, 0.0), np.where(matches.scope, dense, 0.0)
    logit = (
        _BIAS
        + _DENSE * dense
        + _SHARED * np.log1p(shared)
        + _DENSE_LEAD * _lead(dense, _LEAST_DENSE)
        + _SHARED_LEAD * _lead(shared, _LEAST_SHARED)
        + _LENGTH * min(_LONG, len(prompt.terms))
    )
    return np.where(matches.scope, 1.0 / (1.0 + np.exp(-np.clip(logit, -30, 30))), 0.0)


def _rarity(holds: npt.NDArray[np.bool_]) -> _Doubles:
    """Return how rare each term is among the memories."""
    frequency = holds.sum(axis=0)
    total = max(_LEAST_ROWS, len(holds))
    rarity: _Doubles = np.log1p((total - frequency + 0.5) / (frequency + 0.5))
    return rarity


def _lead(values: _Doubles, least: float) -> _Doubles:
    """Return by how much each value is above the highest of the others, which counts as `least` at least."""
    if len(values) < 2:
        return values - least
    second, first = np.partition(values, -2)[-2:]
    lead: _Doubles = values - np.maximum(least, np.where(values == first, second, first))
    return lead


def shared_words(text: str, prompt: Query, holds: npt.NDArray[np.bool_]) -> str:
    """Return the words of a prompt that a memory holds, a few of them, as the prompt has them."""
    held = {term.text for term, is_held in zip(prompt.terms, holds.tolist(), strict=True) if is_held}
    words = dict.fromkeys(raw for raw in raw_words(text) if held.intersection(terms_of(raw, split_identifier(raw))))
    return ", ".join(sorted(words, key=len, reverse=True)[:_MOST_WORDS])
