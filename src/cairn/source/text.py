"""Turns code and prose into terms: identifiers split into words, words stemmed, and each term a 64-bit hash."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from typing import Protocol

BYTES_PER_TOKEN = 4  # a rough cl100k average over code; token counts made with it are called estimates
MOST_CHARS_PER_TOKEN = 8  # `count_tokens` splits longer words
MAX_WORD_CHARS = 64  # longer runs are data (base64, hashes), not words

# A run of letters with one mark before it, up to three digits, a run of marks, white space.
_PRETOKEN = re.compile(r"[^\r\n\w]?[^\W\d_]+|_[^\W\d_]+|\d{1,3}| ?[^\s\w]+[\r\n]*|_+|\s*[\r\n]+|\s+(?!\S)|\s+")
_RAW_WORD = re.compile(r"\w+")
# Every letter but an ASCII capital counts as lower case here, so words in other scripts stay whole.
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@cache
def _stemmer() -> _Stemmer:
    import Stemmer  # noqa: PLC0415 - start-up time: `cairn --version` and hooks need no stemmer

    stemmer: _Stemmer = Stemmer.Stemmer("english")
    return stemmer


def estimate_tokens(size_bytes: int) -> int:
    """Return about how many tokens a text of this size costs a language model (bytes / 4, at least 1)."""
    return max(1, size_bytes // BYTES_PER_TOKEN)


def count_tokens(text: str) -> int:
    """Return about how many tokens a dense text costs, such as an outline, where bytes / 4 is far too low.

    Splits the text as the cl100k tokenizer does before it merges, and assumes that longer words are split again. Over
    the outlines of the benchmark the sum is within 5 % of the real one.
    """
    pieces = _PRETOKEN.findall(text)
    return len(pieces) + sum(
        (len(piece) - 1) // MOST_CHARS_PER_TOKEN for piece in pieces if len(piece) > MOST_CHARS_PER_TOKEN
    )


def raw_words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores in `text`, in order, case kept."""
    return _RAW_WORD.findall(text)


def split_identifier(raw: str) -> tuple[str, ...]:
    """Return the lower-case words of an identifier: `parseHTTPResponse_v2` gives parse, http, response, v, 2."""
    return tuple(part.lower() for part in _PARTS.findall(raw))


def terms_of(raw: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the index terms of one raw word: the stems of its words and, where it has several, the whole of it.

    The whole is folded (`getUserName`, `get_user_name` and `GET_USER_NAME` are one term), so that the exact
    identifier scores above its scattered words in whatever style the query is written.
    """
    stem = _stemmer().stemWord
    stems = tuple(stem(word) for word in words)
    if len(words) < 2:
        return stems
    return (*stems, "".join(words))


def term_hash(term: str) -> int:
    """Return the 64-bit hash that stands for a term in the index."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def cut_at_word(text: str, max_chars: int) -> str:
    """Return a text of at most `max_chars` characters: a longer one ends after a word, with an ellipsis."""
    if len(text) <= max_chars:
        return text
    beginning = text[: max_chars - 1]
    if re.match(r"\w", text[max_chars - 1]):
        beginning = re.sub(r"\w+$", "", beginning) or beginning
    return f"{beginning.rstrip()}…"


def pluralize(number: int, what: str, many: str = "") -> str:
    """Return a number with what it counts: `1 file`, `1,200 files`.

    Args:
        number: how many.
        what: the word for one.
        many: the words for several, where these are not `what` and an `s`.
    """
    return f"{number:,} {what if number == 1 else many or what + 's'}"
