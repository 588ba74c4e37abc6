"""The bundled token-table model: one vector per word, from int8 rows mapped into memory.

`training/distill.py` writes the files under `data/`: the WordPiece vocabulary sorted by its bytes, one int8 row and one
float32 scale per piece, and a small JSON that describes them. Loading maps the files and reads nothing, so a command
that embeds one query reads only a few pages of the eight megabytes.
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
# Building the dict of 30,000 entries costs as much as 2,000 binary searches. A query needs about 50 of those, a
# long-lived process many.
_DICT_FROM_WORDS = 500
_BLOCK_WORDS = 1024  # words processed at a time: 1 MB of float32, which stays in the cache

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


class StaticModel:
    """A table from words to vectors; threads may share it.

    Args:
        pieces: shape (n_pieces,), fixed-width bytes, sorted; a piece that continues a word starts with `##`.
        rows: shape (n_pieces, dimensions), int8.
        scales: shape (n_pieces,), float32; a piece's vector is its row times its scale.
        fingerprint: identifies the content of the three arrays; vectors with equal fingerprints are comparable.
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
        self._n_looked_up = 0  # words so far

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
        """Return the sum of the piece vectors of each word.

        A piece's weight is part of its vector's length. So the vector that the distilled model gives a text, the
        normalised mean over all pieces, is the normalised sum of `count * word_vector` over the text's words.

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
            # All first pieces, then all second pieces, and so on: five times as fast as np.add.reduceat.
            for position in range(int(counts[block].max())):
                longer = np.flatnonzero(counts[block] > position)
                pieces = ids[starts[block][longer] + position]
                piece_vectors = self._rows[pieces].astype(np.float32)
                piece_vectors *= self._scales[pieces, None]
                vectors[block][longer] += piece_vectors
        return vectors

    def pool(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the sum of the words' vectors, shape (dimensions,); faster for a query than `word_vectors`."""
        ids, _ = self.piece_ids(words)
        pooled: npt.NDArray[np.float32] = self._scales[ids] @ self._rows[ids].astype(np.float32)
        return pooled

    def piece_ids(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the row ids of all pieces, word by word, and how many each word has: 0 for an unknown word."""
        self._n_looked_up += len(words)
        if self._ids is None and self._n_looked_up >= _DICT_FROM_WORDS:
            self._ids = dict(zip(self._pieces.tolist(), range(len(self._pieces)), strict=True))
        find = self._search if self._ids is None else self._ids.get
        ids: list[int] = []
        counts: list[int] = []
        for word in words:
            if word.isascii() and (whole := find(word.encode())) is not None:  # as most words are
                ids.append(whole)
                counts.append(1)
                continue
            pieces = self._split(word, find)
            ids += pieces
            counts.append(len(pieces))
        return np.array(ids, dtype=np.int64), np.array(counts, dtype=np.int64)

    def _search(self, piece: bytes) -> int | None:
        position = bisect_left(self._pieces, piece)
        return position if position < len(self._pieces) and self._pieces[position] == piece else None

    def _split(self, word: str, find: Callable[[bytes], int | None]) -> list[int]:
        """Return the ids of a word's pieces, longest match first; empty when a part of the word matches no piece.

        Works on bytes: no piece ends inside a character, so the result is the same as on characters.
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
                piece = find(rest[:end])
                if piece is not None:
                    break
            else:
                return []
            ids.append(piece)
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
        is_ideograph = code >= _IDEOGRAPHS[0][0] and any(first <= code <= last for first, last in _IDEOGRAPHS)
        characters.append(f" {character} " if is_ideograph else character)
    return "".join(characters).split()


@cache
def bundled_model() -> StaticModel:
    """Return the bundled model, one for the whole process."""
    return StaticModel.load()
