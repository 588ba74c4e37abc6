"""The bundled token-table model: one vector per word, from memory-mapped int8 rows.

`training/distill.py` writes the files under `data/`: the WordPiece vocabulary sorted by its bytes, one int8 row and one
float32 scale per piece, and a small JSON that describes them. Loading only maps the files, so a command that embeds one
query reads just a few pages of the eight megabytes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cairn.embedding.pieces import Pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_DATA = Path(__file__).parent / "data"
_BLOCK_WORDS = 1024  # words per pass: 1 MB of float32, which fits into the cache


class StaticModel:
    """A table from words to vectors; threads may share it.

    Args:
        pieces: shape (n_pieces,), fixed-width bytes, sorted; a piece that continues a word starts with `##`.
        rows: shape (n_pieces, dimensions), int8.
        scales: shape (n_pieces,), float32; a piece's vector is its row times its scale.
        fingerprint: identifies the content of the three arrays; vectors with equal fingerprints are comparable.

    Attributes:
        pieces: splits words into pieces.
    """

    def __init__(
        self,
        pieces: npt.NDArray[np.bytes_],
        rows: npt.NDArray[np.int8],
        scales: npt.NDArray[np.float32],
        fingerprint: str,
    ) -> None:
        self.fingerprint = fingerprint
        self.pieces = Pieces(pieces)
        self._rows = rows
        self._scales = scales

    @classmethod
    def load(cls, folder: Path = _DATA) -> StaticModel:
        """Map the model in `folder` (the bundled one by default) into memory."""
        about = json.loads((folder / "static.json").read_text(encoding="utf-8"))
        pieces, rows, scales = (
            # A plain view, because indexing the memmap subclass is several times slower.
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
            # All first pieces, then all second pieces, and so on: five times faster than np.add.reduceat.
            for position in range(int(counts[block].max())):
                longer = np.flatnonzero(counts[block] > position)
                pieces = ids[starts[block][longer] + position]
                piece_vectors = self._rows[pieces].astype(np.float32)
                piece_vectors *= self._scales[pieces, None]
                vectors[block][longer] += piece_vectors
        return vectors

    def pool(self, words: Sequence[str], weights: Sequence[float] | None = None) -> npt.NDArray[np.float32]:
        """Return the sum of the words' vectors, shape (dimensions,); for a query faster than `word_vectors`.

        Args:
            words: as for `word_vectors`.
            weights: the weight of each word; 1 if None.
        """
        ids, counts = self.piece_ids(words)
        shares = self._scales[ids]
        if weights is not None:
            shares *= np.array(weights, dtype=np.float32).repeat(counts)
        pooled: npt.NDArray[np.float32] = shares @ self._rows[ids].astype(np.float32)
        return pooled

    def piece_ids(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the row ids of all pieces, word by word, and each word's number of pieces, 0 if unknown."""
        return self.pieces.split(words)


@cache
def bundled_model() -> StaticModel:
    """Return the bundled model, one for the whole process."""
    return StaticModel.load()
