"""How much the words of a pasted text are worth where they stand together, and where they may."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from cairn.search.pasted_words import LONG_RUNS, PastedWords, WordRun

# cannot connect to host 7: `to` is common, and the last word is a value.
COUNTS = [True, True, False, True, True]
OWN = [True, True, True, True, False]
WORDS = PastedWords([(0, 6), (7, 14), (15, 17), (18, 22), (23, 24)], COUNTS, [2.0, 3.0, 0.0, 1.5, 0.3], OWN)


def test_a_run_is_as_rare_as_its_words_and_a_little_more_for_each_further_one() -> None:
    assert WORDS.rarity_of(WordRun(0, 0, 0)) == 2.0
    assert WORDS.rarity_of(WordRun(0, 0, 3)) == 6.5 + 3
    assert WORDS.rarity_of(WordRun(0, 3, 4)) == 1.8


@pytest.mark.parametrize(
    ("runs", "is_raised", "expected"),
    [
        ([], True, False),
        ([WordRun(0, 0, 0)], True, False),
        ([WordRun(0, 0, 1)], False, True),  # two of three words that count
        ([WordRun(0, 0, 0), WordRun(9, 3, 3)], False, False),  # far from each other
        ([WordRun(0, 0, 0), WordRun(9, 2, 3)], False, False),
        ([WordRun(0, 0, 0), WordRun(9, 2, 3)], True, True),
        ([WordRun(0, 4, 4)], False, False),
    ],
)
def test_words_are_enough_if_most_of_them_stand_together(runs: list[WordRun], is_raised: bool, expected: bool) -> None:
    assert WORDS.is_enough(runs, runs, is_raised=is_raised) is expected


@pytest.mark.parametrize("is_raised", [False, True])
def test_no_place_in_a_chunk_is_worth_more_than_the_chunk_may_hold(is_raised: bool) -> None:
    """Whichever runs a chunk has of the words that it may hold."""
    for held in ([number >> bit & 1 for bit in range(len(OWN))] for number in range(1 << len(OWN))):
        most = WORDS.most_worth(bytes(held), is_raised=is_raised)
        runs = [
            WordRun(0, first, last) for first in range(5) for last in range(first, 5) if all(held[first : last + 1])
        ]
        for chosen in (group for size in (1, 2, 3) for group in combinations(runs, size)):
            if all(one.last < other.first for one, other in pairwise(chosen)):
                worth = sum(WORDS.rarity_of(run) ** LONG_RUNS for run in chosen)
                assert not WORDS.is_enough(chosen, chosen, is_raised=is_raised) or most >= worth


def test_a_chunk_that_can_never_hold_enough_is_worth_nothing() -> None:
    assert WORDS.most_worth(bytes([1, 0, 0, 0, 1]), is_raised=False) == 0.0
