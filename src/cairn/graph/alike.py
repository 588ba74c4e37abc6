"""Finds the names that a misspelt one may mean."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from cairn import waiting

_MANY = 20_000  # of more names only those are compared that have half of the pairs of letters


def names_like(names: Iterable[str], name: str, most: int, least: float = 0.6) -> list[str]:
    """Return at most so many names that are like one, the most alike first, whatever their case.

    Args:
        least: how alike they must be, 0 to 1.
    """
    folded = {candidate.lower(): candidate for candidate in names}
    wanted = name.lower()
    among = list(folded)
    if len(among) > _MANY:
        among = [candidate for candidate in among if _shares_half(candidate, wanted)]
    waiting.check()
    return [folded[match] for match in get_close_matches(wanted, among, most, least)]


def _shares_half(candidate: str, wanted: str) -> bool:
    pairs = len(wanted) - 1
    return 2 * sum(wanted[place : place + 2] in candidate for place in range(pairs)) >= pairs
