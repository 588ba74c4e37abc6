"""Splits words into the pieces that a model knows, longest first, like BERT's WordPiece."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from cairn.kernels.build import IS_COMPILED

if IS_COMPILED:
    import cairn.kernels._compiled as _compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

_MAX_WORD_CHARS = 100  # BERT's own limit: longer words are unknown
# Building a dict of 30,000 entries costs as much as 2,000 binary searches. A query needs about 50 of those, a
# long-lived process many.
_DICT_FROM_WORDS = 500

_SPACE = re.compile(r"[ \n]")

# CJK ideographs, each of which BERT treats as a word: (first, last) code point.
# https://github.com/google-research/bert/blob/master/tokenization.py, `_is_chinese_char`.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class Pieces:
    """The pieces that a model knows; threads may share it.

    Args:
        table: shape (n_pieces,), fixed-width bytes, sorted; a piece that continues a word starts with `##`.

    Attributes:
        table: as given.
    """

    def __init__(self, table: npt.NDArray[np.bytes_]) -> None:
        self.table = table
        self._bytes = table.view(np.uint8)
        self._max_piece_bytes = table.dtype.itemsize
        self._ids: dict[bytes, int] | None = None
        self._n_looked_up = 0  # words split so far

    def split(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the numbers of all pieces, word by word, and each word's number of pieces, 0 if unknown.

        Args:
            words: lower-case runs of letters and digits.
        """
        return self._split_compiled(words) if IS_COMPILED else self._split_plainly(words)

    def _split_compiled(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        lines = "\n".join([word if word.isalnum() and word.isascii() else _line_of(word) for word in words] + [""])
        ids, counts = _compiled.split_words(
            self._bytes, self._max_piece_bytes, lines.encode("utf-8", "surrogatepass"), _MAX_WORD_CHARS
        )
        return np.frombuffer(ids, np.int64), np.frombuffer(counts, np.int64)

    def _split_plainly(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        self._n_looked_up += len(words)
        if self._ids is None and self._n_looked_up >= _DICT_FROM_WORDS:
            self._ids = dict(zip(self.table.tolist(), range(len(self.table)), strict=True))
        find = self._search if self._ids is None else self._ids.get
        ids: list[int] = []
        counts: list[int] = []
        for word in words:
            parts = [word] if word.isascii() else _plain_words(word)
            pieces = [piece for part in parts for piece in self._pieces_of(part, find)]
            ids += pieces
            counts.append(len(pieces))
        return np.array(ids, dtype=np.int64), np.array(counts, dtype=np.int64)

    def _search(self, piece: bytes) -> int | None:
        position = bisect_left(self.table, piece)
        return position if position < len(self.table) and self.table[position] == piece else None

    def _pieces_of(self, word: str, find: Callable[[bytes], int | None]) -> list[int]:
        """Return the numbers of a word's pieces; none if part of the word matches no piece.

        Works on bytes, with the same result as on characters, since no piece ends inside one.
        """
        rest = word.encode("utf-8", "surrogatepass")
        whole = find(rest)
        if whole is not None:
            return [whole]
        ids: list[int] = []
        if len(word) > _MAX_WORD_CHARS:
            return ids
        mark = 0  # length of the continuation mark in `rest`
        while len(rest) > mark:
            for end in range(min(len(rest), self._max_piece_bytes), mark, -1):
                piece = find(rest[:end])
                if piece is not None:
                    break
            else:
                return []
            ids.append(piece)
            rest = b"##" + rest[end:]
            mark = 2
        return ids


def _line_of(word: str) -> str:
    """Return a word as a line for the compiled loop: its parts, and marks for characters without a piece."""
    parts = [_SPACE.sub("\1", word)] if word.isascii() else _plain_words(word)
    return " ".join(parts).replace("\0", "\1")


def _plain_words(word: str) -> list[str]:
    """Return `word` without accents, each ideograph a word of its own, as BERT's uncased normaliser does."""
    characters: list[str] = []
    for character in unicodedata.normalize("NFD", word):
        if unicodedata.category(character) == "Mn":
            continue
        code = ord(character)
        is_ideograph = code >= _IDEOGRAPHS[0][0] and any(first <= code <= last for first, last in _IDEOGRAPHS)
        characters.append(f" {character} " if is_ideograph else character)
    return "".join(characters).split()
