"""Compares two pieces of code by their tokens: copies, renamed copies, edited copies, and how much they share.

The kinds are those of Roy and Cordy (A Survey on Software Clone Detection Research, 2007): type 1 differs in white
space and comments, type 2 in names and literals too, type 3 in some statements.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import NamedTuple, TypeVar

from cairn.source.languages import Language, load_grammar
from cairn.source.text import split_identifier

_T = TypeVar("_T")
MAX_CHARS = 200_000  # of a piece; the rest is not compared
GRAM = 5  # tokens in a row that are compared as one
_STRINGS = r'"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`'
_NAME, _TEXT, _NUMBER = "\0name", "\0text", "\0number"


class Tokens(NamedTuple):
    """A piece of code as tokens, without white space and comments.

    `shape` are the tokens with one mark for any name, text or number; `grams` counts the runs of `GRAM` of these;
    `words` counts the words of the names.
    """

    written: tuple[str, ...]
    shape: tuple[str, ...]
    grams: Counter[tuple[str, ...]]
    words: Counter[str]


class Likeness(NamedTuple):
    """How alike two pieces are. `grams` and `words` are the shares that they have in common, 0 to 1 (Dice, 1945)."""

    same: bool
    renamed: bool
    grams: float
    words: float


def tokenize(text: str, language: Language) -> Tokens:
    """Return the tokens of a piece of code; what has no grammar is compared by its words as they are written."""
    own, fold = keywords(language), bool(language.grammar) and language.group == "code"
    written: list[str] = []
    shape: list[str] = []
    words: Counter[str] = Counter()
    for match in _pattern(language).finditer(text[:MAX_CHARS]):
        kind, token = match.lastgroup, match[0]
        if kind == "comment":
            continue
        written.append(token)
        if kind == "word" and token not in own:
            words.update(split_identifier(token))
            shape.append(_NAME if fold else token)
        elif kind == "number":
            shape.append(_NUMBER if fold else token)
        elif kind == "string":
            words.update(split_identifier(token))
            shape.append(_TEXT if fold else token)
        else:
            shape.append(token)
    size = min(GRAM, len(shape))
    grams = Counter(zip(*(shape[first:] for first in range(size)), strict=False))
    return Tokens(tuple(written), tuple(shape), grams, words)


def compare_tokens(one: Tokens, other: Tokens) -> Likeness:
    """Return how alike two pieces are."""
    same = one.written == other.written
    renamed = not same and one.shape == other.shape and _consistent(one, other)
    return Likeness(same, renamed, _dice(one.grams, other.grams), _dice(one.words, other.words))


def _consistent(one: Tokens, other: Tokens) -> bool:
    """Tell whether each name of one piece always has the same name in the other, and the other way round."""
    pairs = {(own, its) for own, its, mark in zip(one.written, other.written, one.shape, strict=True) if mark == _NAME}
    return len(pairs) == len({own for own, _ in pairs}) == len({its for _, its in pairs})


def _dice(one: Counter[_T], other: Counter[_T]) -> float:
    few, many = sorted((one, other), key=len)
    shared = sum(min(count, many[key]) for key, count in few.items())
    both = one.total() + other.total()
    return 2 * shared / both if both else 0.0


@cache
def keywords(language: Language) -> frozenset[str]:
    """Return the words that the grammar gives a meaning of their own."""
    if not language.grammar:
        return frozenset()
    grammar = load_grammar(language)
    kinds = (number for number in range(grammar.node_kind_count) if not grammar.node_kind_is_named(number))
    return frozenset(kind for number in kinds if (kind := grammar.node_kind_for_id(number)) and kind.isidentifier())


@cache
def _pattern(language: Language) -> re.Pattern[str]:
    comments = [rf"{re.escape(mark)}[^\n]*" for mark in language.line_comments]
    comments += [rf"{re.escape(start)}(?:.|\n)*?{re.escape(end)}" for start, end in language.block_comments]
    comment = rf"(?P<comment>{'|'.join(comments)})|" if comments else ""
    return re.compile(rf"{comment}(?P<string>{_STRINGS})|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<mark>[^\w\s])")
