"""Turns words into index terms: stems, each with a 64-bit hash."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Protocol

from cairn.digest import blake2b
from cairn.source.text import split_identifier


class _Stemmer(Protocol):
    maxCacheSize: int

    def stemWord(self, word: str) -> str: ...
    def stemWords(self, words: list[str]) -> list[str]: ...


@cache
def stemmer() -> _Stemmer:
    """Return the English stemmer, one for the whole process."""
    import Stemmer  # noqa: PLC0415 - start-up time: `cairn --version` and hooks need no stemmer

    stemmer: _Stemmer = Stemmer.Stemmer("english")
    stemmer.maxCacheSize = 0  # caching a word takes twice as long as stemming it, and each is only asked for once
    return stemmer


def terms_of(raw: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the index terms of a raw word: the stems of its words and, if there are several, the whole.

    The whole is folded (`getUserName`, `get_user_name` and `GET_USER_NAME` are one term), so that the exact
    identifier scores above its scattered words in whatever style the query is written.
    """
    if len(words) == 1:
        return (stemmer().stemWord(words[0]),)
    stems = stemmer().stemWords(list(words))
    return (*stems, "".join(words)) if stems else ()


@lru_cache(maxsize=4_096)  # words of questions and of displayed names; a few kilobytes
def terms_of_word(raw: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lower-case words of a raw word, and its terms; see `terms_of`."""
    words = split_identifier(raw)
    return words, terms_of(raw, words)


@lru_cache(maxsize=4_096)
def known_hash(term: str) -> int:
    """Return the same as `term_hash`, cached for the terms of questions, which recur."""
    return term_hash(term)


def term_hash(term: str) -> int:
    """Return the 64-bit hash that stands for a term in the index."""
    return int.from_bytes(term_digest(term), "little")


def term_digest(term: str) -> bytes:
    """Return the same as `term_hash`, as little-endian bytes."""
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
