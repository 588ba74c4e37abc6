"""The words of a file's chunks as numbers: counted where the file is parsed, analysed where the index is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cairn.kernels.counting import count_words
from cairn.source.text import raw_words
from cairn.types import ParsedFile

# The fields of a chunk; all per-field constants elsewhere are in this order.
FIELDS = ("name", "signature", "doc", "body")
MAX_BODY_BYTES = 20_000  # bytes of a chunk's text; only a single line can be longer

_INT_BYTES = 4

Row = tuple[str, str, str, str]


class Words(NamedTuple):
    """The raw words of some rows: each distinct one followed by a line feed, and int32 arrays of counts.

    `ids` are the distinct words of each field of each row, in order, and `counts` how often each occurs there.
    `lengths` has the number of distinct words in each field of each row, so its length is `len(FIELDS)` * `n_rows`.
    """

    words: str
    ids: bytes
    counts: bytes
    lengths: bytes

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Words:
        """Count the words of rows of (name, signature, doc, body)."""
        texts = [text if text.isascii() else " ".join(raw_words(text)) for row in rows for text in row]
        return cls(*count_words(texts))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.lengths) // (_INT_BYTES * len(FIELDS))


NO_WORDS = Words("", b"", b"", b"")


class ParsedText(NamedTuple):
    """A parsed file, ready for analysis: the words and the stable key of each chunk."""

    parsed: ParsedFile
    words: Words
    keys: list[int]
