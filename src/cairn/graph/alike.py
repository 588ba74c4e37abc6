"""Finds the names that a misspelt one may mean."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from cairn import waiting

_MANY = 1_000  # of more names only those are compared that have half of the pairs of letters


def lengths_alike(name: str, least: float = 0.6) -> tuple[int, int]:
    """Return how many characters names have that may be like one: the fewest and the most."""
    return int(len(name) * least / (2 - least)), int(len(name) * (2 - least) / least)


def names_like(names: Iterable[str], name: str, most: int, least: float = 0.6) -> list[str]:
    """Return at most so many names that are like one, the most alike first, whatever their case.

    Args:
        least: how alike they must be, 0 to 1.
    """
    folded = {candidate.lower(): candidate for candidate in names}
    wanted = name.lower()
    among = list(folded)
    if len(among) > _MANY:
        pairs = [wanted[place : place + 2] for place in range(len(wanted) - 1)]
        among = [candidate for candidate in among if 2 * sum(map(candidate.__contains__, pairs)) >= len(pairs)]
    waiting.check()
    return [folded[match] for match in get_close_matches(wanted, among, most, least)]
