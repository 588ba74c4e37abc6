"""Other words that code has for what a question says: `retry` or `backoff` where somebody asks what is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.search.query import Query
from cairn.source.terms import known_hash, terms_of_word

DATA = Path(__file__).parent / "synonyms.txt"
MAX_WORDS, MAX_SYNONYMS = 3, 3  # of an entry of the file


class Synonym(NamedTuple):
    """A word by the hash of its stem, and which of the query's terms it stands for."""

    hashed: int
    term: int


def synonyms_of(query: Query, rarity: npt.NDArray[np.float64]) -> tuple[Synonym, ...]:
    """Return the synonyms of a query's words and phrases, without what it says itself.

    A long text has none, nor has a question for tests, documentation or configuration: their words are those of people.

    Args:
        rarity: of each of the query's terms. A phrase counts as much as its rarest word.
    """
    if query.item is not None or query.wants:
        return ()
    known, place = _known_synonyms(), {term.text: number for number, term in enumerate(query.terms)}
    found: dict[str, int] = {}
    for phrase in _phrases([terms_of_word(word)[1][-1] for word in query.words]):
        synonyms = known.get(" ".join(phrase))
        own = [place[stem] for stem in phrase if stem in place] if synonyms else []
        if synonyms and own:
            rarest = max(own, key=rarity.__getitem__)
            for synonym in synonyms.split():
                if synonym not in place:
                    found.setdefault(synonym, rarest)
    return tuple(Synonym(known_hash(stem), term) for stem, term in found.items())


def _phrases(words: list[str]) -> Iterator[list[str]]:
    """Yield the runs of words that may have synonyms, the longest first."""
    for count in range(min(MAX_WORDS, len(words)), 0, -1):
        for first in range(len(words) - count + 1):
            yield words[first : first + count]


@cache
def _known_synonyms() -> dict[str, str]:
    """Return {stems of a word or phrase: stems of its synonyms, the best first}, each joined by spaces."""
    parts = DATA.read_text("ascii").replace("\n", "\t").split("\t")
    return dict(zip(parts[::2], parts[1::2], strict=False))  # the last line has an end, too
