"""The bundled token-table model: one vector per word, from int8 rows mapped into memory.

`training/distill.py` writes the files under `data/`: the WordPiece vocabulary sorted by its bytes, one int8 row and one
float32 scale per piece, and a small JSON that describes them. Loading maps the files and reads nothing, so a command
that embeds one query touches a few pages of the eight megabytes.
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_left
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

_DATA = Path(__file__).parent / "data"
_MAX_WORD_CHARS = 100  # BERT's own limit: a longer word is unknown
# The 30,000-entry dict costs some 2,000 binary searches; a query asks for about 50, a process that lives on for many.
_DICT_FROM_WORDS = 500
_BLOCK_WORDS = 1024  # words done at a time: 1 MB of float32, which stays in the cache

# CJK ideographs, which BERT takes as one word each: (first, last) code point.
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


class StaticModel:
    """A word-to-vector table; safe to share between threads.

    Args:
        pieces: shape (n_pieces,), fixed-width bytes, sorted; a piece that continues a word starts with `##`.
        rows: shape (n_pieces, dimensions), int8.
        scales: shape (n_pieces,), float32; a piece's vector is its row times its scale.
        fingerprint: names the content of the three arrays; vectors with equal fingerprints are comparable.
    """

    def __init__(
        self,
        pieces: npt.NDArray[np.bytes_],
        rows: npt.NDArray[np.int8],
        scales: npt.NDArray[np.float32],
        fingerprint: str,
    ) -> None:
        self.fingerprint = fingerprint
        self._pieces = pieces
        self._rows = rows
        self._scales = scales
        self._max_piece_bytes = pieces.dtype.itemsize
        self._ids: dict[bytes, int] | None = None
        self._asked = 0  # words so far

    @classmethod
    def load(cls, folder: Path = _DATA) -> StaticModel:
        """Map the model in `folder` (the bundled one by default) into memory."""
        about = json.loads((folder / "static.json").read_text(encoding="utf-8"))
        pieces, rows, scales = (
            # A plain view: indexing the memmap subclass costs several times as much.
            np.asarray(np.load(folder / f"static_{name}.npy", mmap_mode="r"))
            for name in ("pieces", "rows", "scales")
        )
        return cls(pieces, rows, scales, about["fingerprint"])

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._rows.shape[1])

    def word_vectors(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the sum of each word's piece vectors.

        The weight of a piece is part of its length. So the text vector of the model this was distilled from, the mean
        over all pieces normalised to length 1, is the sum of `count * word_vector` over a text's words, normalised.

        Args:
            words: lower-case runs of letters and digits; an unknown word gets zeros.

        Returns:
            shape (n_words, dimensions).
        """
        ids, counts = self.piece_ids(words)
        starts = np.cumsum(counts) - counts
        vectors = np.zeros((len(words), self.dimensions), dtype=np.float32)
        for first in range(0, len(words), _BLOCK_WORDS):
            block = slice(first, first + _BLOCK_WORDS)
            # All first pieces, then all second ones, and so on: five times as fast as np.add.reduceat.
            for position in range(int(counts[block].max())):
                having = np.flatnonzero(counts[block] > position)
                found = ids[starts[block][having] + position]
                gathered = self._rows[found].astype(np.float32)
                gathered *= self._scales[found, None]
                vectors[block][having] += gathered
        return vectors

    def pool(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the sum of the words' vectors, shape (dimensions,): what a query needs, in fewer steps."""
        ids, _ = self.piece_ids(words)
        pooled: npt.NDArray[np.float32] = self._scales[ids] @ self._rows[ids].astype(np.float32)
        return pooled

    def piece_ids(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the row ids of all pieces, word after word, and how many each word has: none for an unknown one."""
        self._asked += len(words)
        if self._ids is None and self._asked >= _DICT_FROM_WORDS:
            self._ids = dict(zip(self._pieces.tolist(), range(len(self._pieces)), strict=True))
        find = self._search if self._ids is None else self._ids.get
        ids: list[int] = []
        counts: list[int] = []
        for word in words:
            found = self._split(word, find)
            ids += found
            counts.append(len(found))
        return np.array(ids, dtype=np.int64), np.array(counts, dtype=np.int64)

    def _search(self, piece: bytes) -> int | None:
        position = bisect_left(self._pieces, piece)
        return position if position < len(self._pieces) and self._pieces[position] == piece else None

    def _split(self, word: str, find: Callable[[bytes], int | None]) -> list[int]:
        """Return the ids of a word's pieces, greedy longest match first; empty when any rest matches no piece.

        Works on bytes: a prefix that ends within a character equals no piece, so the outcome is that on characters.
        """
        if not word.isascii():
            ids: list[int] = []
            for part in _plain_words(word):
                ids += self._split_plain(part, find)
            return ids
        return self._split_plain(word, find)

    def _split_plain(self, word: str, find: Callable[[bytes], int | None]) -> list[int]:
        rest = word.encode("utf-8", "surrogatepass")
        whole = find(rest)
        if whole is not None:
            return [whole]
        ids: list[int] = []
        if len(word) > _MAX_WORD_CHARS:
            return ids
        mark = 0  # how much of `rest` is the continuation mark
        while len(rest) > mark:
            for end in range(min(len(rest), self._max_piece_bytes), mark, -1):
                found = find(rest[:end])
                if found is not None:
                    break
            else:
                return []
            ids.append(found)
            rest = b"##" + rest[end:]
            mark = 2
        return ids


def _plain_words(word: str) -> list[str]:
    """Return `word` without accents, each ideograph a word of its own, as BERT's uncased normaliser does."""
    characters: list[str] = []
    for character in unicodedata.normalize("NFD", word):
        if unicodedata.category(character) == "Mn":
            continue
        code = ord(character)
        ideograph = code >= _IDEOGRAPHS[0][0] and any(first <= code <= last for first, last in _IDEOGRAPHS)
        characters.append(f" {character} " if ideograph else character)
    return "".join(characters).split()


@cache
def bundled_model() -> StaticModel:
    """Return the bundled model, which all of a process share."""
    return StaticModel.load()
