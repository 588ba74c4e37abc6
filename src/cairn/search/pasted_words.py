"""The words of a pasted text: how rare runs of them are, and how many must stand together for that to say something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

_LITTLE = 1.0  # what each further word adds to the rarity of a run, common as it may be
_OWN_WORDS = 2  # that are not values: enough for values not to be looked for
_LONG, _LONG_WITH_COMMON = 2, 3  # words of a long run, those that are common left out or not
_MANY_NEAR, _SOME_NEAR, _HALF = 4, 3, 0.5  # of words near each other, and of all
_MOST_WORDS = 0.6  # of the words of a text that are not values, for it to be found where most of them are common
_ENOUGH_WORDS = 3
_HELD = re.compile(b"[^\\0]+")


class Run(NamedTuple):
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
        # How many there are before each word, so that those of a run are a difference.
        self._own_before = list(accumulate(own, initial=0))
        self._said_before = list(accumulate(said if self.says_enough else counts, initial=0))

    def rarity_of(self, run: Run) -> float:
        """Return how rare a run is; words that say little count when others are around them."""
        return sum(self.rarity[run.first : run.last + 1]) + _LITTLE * max(0, self.n_own([run]) - 1)

    def n_own(self, runs: Iterable[Run]) -> int:
        """Return how many words that are not values some runs have."""
        before = self._own_before
        return sum([before[last + 1] - before[first] for _, first, last in runs])

    def is_enough(self, near: Sequence[Run], longest: Iterable[Run], *, is_raised: bool) -> bool:
        """Tell whether runs that stand near each other say enough.

        Args:
            near: the runs.
            longest: those of which one should be long.
            is_raised: whether the exception that the text names stands there, too.
        """
        is_long = any(map(self._is_long, longest))
        n_near = self._n_said(near)
        if (is_long and (n_near >= _SOME_NEAR or n_near >= _HALF * self.n_said)) or n_near >= _MANY_NEAR:
            return True
        n_words, n_all = self.n_own(near), self._own_before[-1]
        if is_raised and n_words >= _ENOUGH_WORDS and n_words >= _HALF * n_all:
            return True
        return is_long and n_words >= _MANY_NEAR and n_words >= _MOST_WORDS * n_all

    def may_be_enough(self, may_hold: bytes, *, is_raised: bool) -> bool:
        """Tell whether words that a chunk may hold say enough wherever they stand in it.

        Args:
            may_hold: a byte for each word, 0 for one that does not stand there.
            is_raised: as for `is_enough`.
        """
        runs = [Run(0, found.start(), found.end() - 1) for found in _HELD.finditer(may_hold)]
        return self.is_enough(runs, runs, is_raised=is_raised)

    def _is_long(self, run: Run) -> bool:
        return self._n_said([run]) >= _LONG or self.n_own([run]) >= _LONG_WITH_COMMON

    def _n_said(self, runs: Iterable[Run]) -> int:
        before = self._said_before
        return sum([before[last + 1] - before[first] for _, first, last in runs])
