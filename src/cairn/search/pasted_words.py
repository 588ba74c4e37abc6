"""The words of a pasted text: how rare runs of them are, and how many must stand together for that to say something."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import accumulate
from typing import NamedTuple

LONG_RUNS = 2.0  # the power of a run's rarity that counts: one of four words is worth more than four of one
_LITTLE = 1.0  # what each further word adds to the rarity of a run, common as it may be
_OWN_WORDS = 2  # that are not values: enough for values not to be looked for
_LONG, _LONG_WITH_COMMON = 2, 3  # words of a long run, those that are common left out or not
_MANY_NEAR, _SOME_NEAR, _HALF = 4, 3, 0.5  # of words near each other, and of all
_MOST_WORDS = 0.6  # of the words of a text that are not values, for it to be found where most of them are common
_ENOUGH_WORDS = 3
_HELD = re.compile(b"[^\\0]+")


class WordRun(NamedTuple):
    """Words of the text, `first` to `last`, that stand at an offset of some data."""

    offset: int
    first: int
    last: int


class PastedWords:
    """The words of a text. There are few, and their runs are short: lists are faster than arrays.

    Args:
        spans: where they stand in the text.
        counts: which of them count, none that is common or was said before.
        rarity: how rare each is.
        own: which are not values, common words included.

    Attributes:
        n_said: how many count and are not values.
        says_enough: whether these are enough for values not to be looked for.
    """

    def __init__(self, spans: list[tuple[int, int]], counts: list[bool], rarity: list[float], own: list[bool]) -> None:
        self.spans = spans
        self.counts = counts
        self.rarity = rarity
        self.own = own
        said = [counted and is_own for counted, is_own in zip(counts, own, strict=True)]
        self.n_said = sum(said)
        self.says_enough = self.n_said >= _OWN_WORDS
        # How much and how many there is before each word, so that what a run has is a difference.
        self._rarity_before = list(accumulate(rarity, initial=0.0))
        self._own_before = list(accumulate(own, initial=0))
        self._said_before = list(accumulate(said if self.says_enough else counts, initial=0))

    def rarity_of(self, run: WordRun) -> float:
        """Return how rare a run is; words that say little count when others are around them."""
        return sum(self.rarity[run.first : run.last + 1]) + _LITTLE * max(0, self.n_own([run]) - 1)

    def n_own(self, runs: Iterable[WordRun]) -> int:
        """Return how many words that are not values some runs have."""
        before = self._own_before
        return sum([before[last + 1] - before[first] for _, first, last in runs])

    def is_enough(self, near: Collection[WordRun], longest: Iterable[WordRun], *, is_raised: bool) -> bool:
        """Tell whether runs that stand near each other say enough.

        Args:
            near: the runs.
            longest: those of which one should be long.
            is_raised: whether the exception that the text names stands there, too.
        """
        said = self._said_before
        is_long = any(self._is_long(first, last + 1) for _, first, last in longest)
        n_said = sum([said[last + 1] - said[first] for _, first, last in near])
        return self._is_enough(n_said, self.n_own(near), is_long=is_long, is_raised=is_raised)

    def most_worth(self, may_hold: bytes, *, is_raised: bool) -> float:
        """Return the most that the rarities of runs in a chunk can be worth, 0 if they cannot be enough anywhere in it.

        No two runs of a chunk have a word in common, and one of several words is worth more than its parts.

        Args:
            may_hold: a byte for each word, 0 for one that does not stand there.
            is_raised: as for `is_enough`.
        """
        said, own, rarity = self._said_before, self._own_before, self._rarity_before
        n_said, n_own, is_long, worth = 0, 0, False, 0.0
        for found in _HELD.finditer(may_hold):
            first, end = found.span()
            n_said += said[end] - said[first]
            n_own += own[end] - own[first]
            is_long = is_long or self._is_long(first, end)
            worth += (rarity[end] - rarity[first] + _LITTLE * (own[end] - own[first])) ** LONG_RUNS
        return worth if self._is_enough(n_said, n_own, is_long=is_long, is_raised=is_raised) else 0.0

    def _is_long(self, first: int, end: int) -> bool:
        """Tell whether a run, whose last word is before `end`, says something by itself."""
        n_said = self._said_before[end] - self._said_before[first]
        return n_said >= _LONG or self._own_before[end] - self._own_before[first] >= _LONG_WITH_COMMON

    def _is_enough(self, n_said: int, n_own: int, *, is_long: bool, is_raised: bool) -> bool:
        """Tell whether so many words near each other say enough, values and others left out, or values alone."""
        if (is_long and (n_said >= _SOME_NEAR or n_said >= _HALF * self.n_said)) or n_said >= _MANY_NEAR:
            return True
        n_all = self._own_before[-1]
        if is_raised and n_own >= _ENOUGH_WORDS and n_own >= _HALF * n_all:
            return True
        return is_long and n_own >= _MANY_NEAR and n_own >= _MOST_WORDS * n_all
