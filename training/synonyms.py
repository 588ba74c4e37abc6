#!/usr/bin/env python3
"""Stem the synonyms that a search reads: from synonyms.tsv beside this file to src/cairn/search/synonyms.txt."""

from __future__ import annotations

from pathlib import Path

from cairn.search.query import STOP_WORDS
from cairn.search.synonyms import DATA, MAX_SYNONYMS, MAX_WORDS
from cairn.source.terms import stemmer

SOURCE = Path(__file__).parent / "synonyms.tsv"


def stemmed(source: str) -> str:
    """Return the lines of the file that a search reads.

    Args:
        source: lines of a word or phrase, a tab, and words that code has for it, the best first.
    """
    entries: dict[str, tuple[str, ...]] = {}
    for line in source.splitlines():
        phrase, synonyms = (stemmer().stemWords(part.split()) for part in line.split("\t"))
        others = tuple(word for word in dict.fromkeys(synonyms) if word not in phrase)
        entries.setdefault(" ".join(phrase), others[:MAX_SYNONYMS])
    return "".join(f"{phrase}\t{' '.join(others)}\n" for phrase, others in sorted(entries.items()) if others)


def is_usable(phrase: str) -> bool:
    """Tell whether a question can say a phrase: its words without those that a search leaves out are all of it."""
    words = phrase.split()
    return 0 < len(words) <= MAX_WORDS and STOP_WORDS.isdisjoint(words)


if __name__ == "__main__":
    DATA.write_text(stemmed(SOURCE.read_text("ascii")), "ascii")
