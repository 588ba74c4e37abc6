"""The words of a file's chunks as numbers, counted where the file is parsed and analysed where the index is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cairn.kernels.counting import count_words
from cairn.source.text import raw_words
from cairn.types import ParsedFile

# The texts of a chunk, in the order of every per-field constant elsewhere.
FIELDS = ("name", "signature", "doc", "body")
MAX_BODY_BYTES = 20_000  # of a chunk's text; only a single line can be longer

_INT_BYTES = 4

Row = tuple[str, str, str, str]


class Words(NamedTuple):
    """The raw words of some rows: each once, with a line feed after it, and int32 arrays of what is counted.

    `ids` are the numbers of the different words in each field of each row, in order, `counts` how often each stands
    there. `lengths` say how many there are, so it is `len(FIELDS)` times as long as there are rows.
    """

    words: str
    ids: bytes
    counts: bytes
    lengths: bytes

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Words:
        """Take the words out of rows of (name, signature, doc, body)."""
        texts = [text if text.isascii() else " ".join(raw_words(text)) for row in rows for text in row]
        return cls(*count_words(texts))

    @property
    def n_rows(self) -> int:
        """How many rows the words belong to."""
        return len(self.lengths) // (_INT_BYTES * len(FIELDS))


NO_WORDS = Words("", b"", b"", b"")


class ParsedText(NamedTuple):
    """A parsed file, ready to be analysed: the words and stable key of each chunk."""

    parsed: ParsedFile
    words: Words
    keys: list[int]
