"""The words of a file's chunks as numbers, counted where the file is parsed and analysed where the index is built."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from cairn.source.text import raw_words
from cairn.types import ParsedFile

# The texts of a chunk, in the order of every per-field constant elsewhere.
FIELDS = ("name", "signature", "doc", "body")
MAX_BODY_BYTES = 20_000  # of a chunk's text; only a single line can be longer

Row = tuple[str, str, str, str]


class Words(NamedTuple):
    """The raw words of some rows, in order.

    `ids` are places in `words`; `lengths` say how many belong to each field of each row, so it is `len(FIELDS)` times
    as long as there are rows.
    """

    words: list[str]
    ids: array[int]
    lengths: array[int]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Words:
        """Take the words out of rows of (name, signature, doc, body)."""
        numbers = _Numbers()
        found = [raw_words(text) for row in rows for text in row]
        ids = array("i", [*map(numbers.__getitem__, chain.from_iterable(found))])
        return cls(list(numbers), ids, array("i", [*map(len, found)]))

    @property
    def n_rows(self) -> int:
        """How many rows the words belong to."""
        return len(self.lengths) // len(FIELDS)


class ParsedText(NamedTuple):
    """A parsed file, ready to be analysed: the words and stable key of each chunk."""

    parsed: ParsedFile
    words: Words
    keys: list[int]


class _Numbers(dict[str, int]):
    """Numbers words as they are first looked up."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number
