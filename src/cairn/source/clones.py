"""Compares two pieces of code by their tokens: copies, renamed copies, edited copies, and how much they share.

The kinds are those of Roy and Cordy (A Survey on Software Clone Detection Research, 2007): type 1 differs in white
space and comments, type 2 in names and literals too, type 3 in some statements.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeVar

from cairn.source.languages import Language, load_grammar
from cairn.source.text import split_identifier

_T = TypeVar("_T")
MAX_CHARS = 200_000  # characters of a piece to compare
MAX_ALL_CHARS = 3_000_000  # characters of all pieces to compare at a time, shared out if there are more
GRAM = 5  # length of the token runs to compare
# An unclosed string runs to the end or a maximal length, so that no character is scanned repeatedly.
_STRINGS = (
    r'"""(?:.|\n)*?(?:"""|\Z)|\'\'\'(?:.|\n)*?(?:\'\'\'|\Z)'
    r'|"(?:\\.|[^"\\\n]){0,1000}"|\'(?:\\.|[^\'\\\n]){0,1000}\'|`(?:\\.|[^`\\]){0,1000}`'
)
_QUOTES = frozenset("\"'`")
_NAME, _TEXT, _NUMBER = "\0name", "\0text", "\0number"


class Tokens(NamedTuple):
    """A piece of code as tokens, without white space and comments.

    `shape` has the tokens, with a mark in place of each name, string and number. `grams` counts its runs of `GRAM`
    tokens, and `words` the words in names.
    """

    written: tuple[str, ...]
    shape: tuple[str, ...]
    grams: Counter[tuple[str, ...]]
    words: Counter[str]


class Likeness(NamedTuple):
    """How alike two pieces are. `grams` and `words` are Dice coefficients, 0 to 1."""

    same: bool
    renamed: bool
    grams: float
    words: float


class Tokenizer:
    """Splits code of one language into tokens, caching what each token is.

    Text without a grammar is compared word by word.
    """

    def __init__(self, language: Language) -> None:
        self._find = _pattern(language).findall
        self._marks = _Marks(language)
        self._words = _WordsOfToken()

    def __call__(self, text: str, max_chars: int = MAX_CHARS) -> Tokens:
        """Return the tokens of a piece of code, up to a maximal length."""
        marks = self._marks
        tokens = [token for token in self._find(text[:max_chars]) if marks[token] is not None]
        shape = [marks[token] or "" for token in tokens]
        size = min(GRAM, len(shape))
        grams = Counter(zip(*(shape[first:] for first in range(size)), strict=False))
        names = [token for token in tokens if token not in marks.own]
        words = Counter(chain.from_iterable(map(self._words.__getitem__, names)))
        # A multi-line string is indented with the code around it.
        written = tuple(" ".join(token.split()) if "\n" in token else token for token in tokens)
        return Tokens(written, tuple(shape), grams, words)


class _Marks(dict[str, str | None]):
    """Maps each token to itself, a mark, or None for a comment."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.own = keywords(language)
        support = language.support
        self._fold = bool(support.grammar) and language.group == "code"
        self._comments = (*support.line_comments, *(start for start, _ in support.block_comments))

    def __missing__(self, token: str) -> str | None:
        mark: str | None = token
        if token.startswith(self._comments):
            mark = None
        elif self._fold and token not in self.own:
            first = token[0]
            if first.isdigit():
                mark = _NUMBER
            elif first in _QUOTES and len(token) > 1:
                mark = _TEXT
            elif first == "_" or first.isalpha():
                mark = _NAME
        self[token] = mark
        return mark


class _WordsOfToken(dict[str, tuple[str, ...]]):
    """Maps each token to its words."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        words = self[token] = split_identifier(token)
        return words


def compare_tokens(left: Tokens, right: Tokens) -> Likeness:
    """Return how alike two pieces are."""
    same = left.written == right.written
    renamed = not same and left.shape == right.shape and _is_consistent(left, right)
    return Likeness(same, renamed, _dice(left.grams, right.grams), _dice(left.words, right.words))


def _is_consistent(left: Tokens, right: Tokens) -> bool:
    """Tell whether the names on both sides correspond one to one."""
    pairs = {
        (own, its) for own, its, mark in zip(left.written, right.written, left.shape, strict=True) if mark == _NAME
    }
    return len(pairs) == len({own for own, _ in pairs}) == len({its for _, its in pairs})


def _dice(left: Counter[_T], right: Counter[_T]) -> float:
    few, many = sorted((left, right), key=len)
    shared = sum(min(count, many[key]) for key, count in few.items())
    both = left.total() + right.total()
    return 2 * shared / both if both else 0.0


@cache
def keywords(language: Language) -> frozenset[str]:
    """Return the keywords of the grammar."""
    if not language.support.grammar:
        return frozenset()
    grammar = load_grammar(language)
    kinds = (number for number in range(grammar.node_kind_count) if not grammar.node_kind_is_named(number))
    return frozenset(kind for number in kinds if (kind := grammar.node_kind_for_id(number)) and kind.isidentifier())


@cache
def _pattern(language: Language) -> re.Pattern[str]:
    support = language.support
    comments = [rf"{re.escape(mark)}[^\n]*" for mark in support.line_comments]
    comments += [rf"{re.escape(start)}(?:.|\n)*?(?:{re.escape(end)}|\Z)" for start, end in support.block_comments]
    return re.compile("|".join([*comments, _STRINGS, r"\d[\w.]*", r"[^\W\d]\w*", r"[^\w\s]"]))
