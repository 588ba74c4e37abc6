"""Turns batches of chunk texts into postings and vectors, each distinct word being analysed once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.words import FIELDS, Words
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import MAX_WORD_CHARS, split_identifier
from cairn.storage.arrays import are_below, are_bounds

# BM25F (Robertson, Zaragoza, Taylor 2004): weight and length normalisation by field. Lengths are compared with a
# fixed pivot instead of the corpus average, so that a posting never has to be rewritten when other files change.
FIELD_WEIGHTS = np.array([4.0, 1.5, 1.5, 1.0], dtype=np.float32)
FIELD_PIVOTS = np.array([4.0, 16.0, 24.0, 110.0], dtype=np.float32)
FIELD_B = np.array([0.4, 0.5, 0.5, 0.7], dtype=np.float32)
SATURATION = 1.6
IMPACT_SCALE = 255.0
# The weight of a word in a chunk's vector, by field; the square root of its count multiplies it.
DENSE_WEIGHTS = np.array([3.0, 1.0, 1.0, 1.0], dtype=np.float32)
_DENSE_BLOCK_ROWS = 24
_MAX_RAW_WORDS = 300_000
_MAX_WORDS = 65_536
_NEAR_HALF = 2e-5  # above the rounding error of single precision in a sum of hundreds that is at most 127
_MANY_WORDS = 1_000  # enough to embed before a batch is complete

# What `cairn.storage.arrays.load_arrays` checks.
POSTINGS_LAYOUT = {
    "hashes": ("u8", 1), "start": ("i8", 1), "rows": ("i4", 1), "impacts": ("u1", 1), "fields": ("u1", 1)
}  # fmt: skip

WordVectors = Callable[[Sequence[str]], npt.NDArray[np.float32]]


class Postings(NamedTuple):
    """An inverted index in arrays: the postings of term `t` are `start[t]:start[t + 1]`, in ascending row order.

    Shapes: hashes (n_terms,) sorted; start (n_terms + 1,); rows, impacts, fields (n_postings,). An impact is the
    term's saturated field-weighted frequency in the row, times `IMPACT_SCALE`; `fields` has a bit per field it is in.
    """

    hashes: npt.NDArray[np.uint64]
    start: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    impacts: npt.NDArray[np.uint8]
    fields: npt.NDArray[np.uint8]

    def fit(self, n_rows: int) -> bool:
        """Tell whether the arrays fit each other and `n_rows` rows."""
        n_postings = len(self.rows)
        whole = len(self.impacts) == len(self.fields) == n_postings
        return whole and are_bounds(self.start, len(self.hashes), n_postings) and are_below(self.rows, n_rows)

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the arrays by name, to be stored."""
        return {name: getattr(self, name) for name in ("hashes", "start", "rows", "impacts", "fields")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Postings:
        """Take the arrays that `to_arrays` named out of stored ones."""
        return cls(arrays["hashes"], arrays["start"], arrays["rows"], arrays["impacts"], arrays["fields"])


class _Expansion:
    """A growing list of lists of small integers, held as offsets and values."""

    def __init__(self) -> None:
        self._offsets = array("q", [0])
        self._values = array("i")

    def append(self, values: Sequence[int]) -> None:
        self._values.extend(values)
        self._offsets.append(len(self._values))

    def expand(self, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return, for each value of each list in `ids`, the position in `ids` it came from and the value."""
        offsets = np.array(self._offsets, dtype=np.int64)
        lengths = offsets[ids + 1] - offsets[ids]
        sources = np.repeat(np.arange(len(ids), dtype=np.int64), lengths)
        within = np.arange(len(sources), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values = np.array(self._values, dtype=np.int32)
        return sources, values[offsets[ids][sources] + within]


class Vocabulary(dict[str, int]):
    """Numbers raw words as they are first looked up, and remembers the terms and words each stands for.

    Args:
        share: how much of the usual size it may have.
    """

    def __init__(self, share: float = 1.0) -> None:
        super().__init__()
        self._share = share
        self.words: list[str] = []
        self._word_ids: dict[str, int] = {}
        self._term_ids: dict[str, int] = {}
        self._hashes = array("Q")
        self.raw_to_terms = _Expansion()
        self.raw_to_words = _Expansion()

    def __missing__(self, raw: str) -> int:
        number = self[raw] = len(self)
        words = split_identifier(raw) if len(raw) <= MAX_WORD_CHARS else ()
        self.raw_to_words.append([self._number(word) for word in words if not word.isdigit()])
        self.raw_to_terms.append([self._term(term) for term in terms_of(raw, words)])
        return number

    def _number(self, word: str) -> int:
        number = self._word_ids.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
        return number

    def _term(self, term: str) -> int:
        number = self._term_ids.setdefault(term, len(self._hashes))
        if number == len(self._hashes):
            self._hashes.append(term_hash(term))
        return number

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Return the hash of every term, by term number."""
        return np.array(self._hashes, dtype=np.uint64)

    @property
    def full(self) -> bool:
        """Whether it has grown so much that a fresh one should take over, to bound memory."""
        return len(self) > self._share * _MAX_RAW_WORDS or len(self.words) > self._share * _MAX_WORDS


class _Counts(NamedTuple):
    """How often each raw word stands in each field of each row; sorted by row, then field. Shapes: (n,)."""

    rows: npt.NDArray[np.int64]
    fields: npt.NDArray[np.int64]
    raws: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


class Analyzer:
    """Analyses chunk texts in batches.

    Args:
        word_vectors: the embedding model's view of single words.
        dimensions: the length of a vector.
        share: how much of the usual number of words is remembered; with fewer it takes longer.
    """

    def __init__(self, word_vectors: WordVectors, dimensions: int, share: float = 1.0) -> None:
        self._share = share
        self._word_vectors = word_vectors
        self._dimensions = dimensions
        self._reset()

    def forget(self) -> None:
        """Release the memory of all words; those that come up again are analysed again."""
        self._reset()

    def _reset(self) -> None:
        self._vocabulary = Vocabulary(self._share)
        # Of the vocabulary's words. There is room for as many as there may be; it takes memory only as it is filled.
        self._vectors = np.empty((_MAX_WORDS, self._dimensions), dtype=np.float32)
        self._n_embedded = 0

    def prepare(self, words: Words) -> None:
        """Take in the words of a file while the next one is read, so that `analyze` has less to do."""
        for raw in words.words:
            self._vocabulary[raw]  # numbers it
        if len(self._vocabulary.words) - self._n_embedded >= _MANY_WORDS:
            self._embed_words()

    def _embed_words(self) -> None:
        words = self._vocabulary.words
        if len(words) > len(self._vectors):
            larger = np.empty((2 * len(words), self._dimensions), dtype=np.float32)
            larger[: self._n_embedded] = self._vectors[: self._n_embedded]
            self._vectors = larger
        for first in range(self._n_embedded, len(words), _MANY_WORDS):
            part = words[first : first + _MANY_WORDS]
            self._vectors[first : first + len(part)] = self._word_vectors(part)
        self._n_embedded = len(words)

    def analyze(self, files: Sequence[Words]) -> tuple[Postings, npt.NDArray[np.int8]]:
        """Return the postings of a batch, rows numbered through all files, and its vectors.

        Returns:
            The postings, and vectors of shape (n_rows, dimensions): unit length times 127, zeros where no word is
            known.
        """
        if self._vocabulary.full:
            self._reset()
        n_rows = sum(file.n_rows for file in files)
        counts = self._count(files)
        return self._postings(counts, n_rows), self._embed(counts, n_rows)

    def _count(self, files: Sequence[Words]) -> _Counts:
        lookup = self._vocabulary.__getitem__
        parts = [
            np.array([*map(lookup, file.words)], dtype=np.int64)[np.frombuffer(file.ids, np.int32)] for file in files
        ]
        lengths = np.concatenate([np.zeros(0, np.int32), *(np.frombuffer(file.lengths, np.int32) for file in files)])
        flat = np.concatenate([np.zeros(0, np.int64), *parts])
        n_fields, n_raw = len(FIELDS), max(1, len(self._vocabulary))
        slots = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        keys, counts = np.unique(slots * n_raw + flat, return_counts=True)
        slots, raws = keys // n_raw, keys % n_raw
        return _Counts(slots // n_fields, slots % n_fields, raws, counts.astype(np.int64))

    def _postings(self, counts: _Counts, n_rows: int) -> Postings:
        sources, terms = self._vocabulary.raw_to_terms.expand(counts.raws)
        rows, fields = counts.rows[sources], counts.fields[sources]
        frequencies = counts.counts[sources].astype(np.float32)
        slots = rows * len(FIELDS) + fields
        lengths = np.bincount(slots, weights=frequencies, minlength=n_rows * len(FIELDS)).astype(np.float32)
        norms = 1.0 - FIELD_B[fields] + FIELD_B[fields] * lengths[slots] / FIELD_PIVOTS[fields]
        # In double precision: the order of the parts depends on which words came before, and the sum must not.
        parts = (FIELD_WEIGHTS[fields] * frequencies / norms).astype(np.float64)

        used, ranks = np.unique(self._vocabulary.hashes()[terms], return_inverse=True)
        keys = ranks.astype(np.int64) * max(1, n_rows) + rows
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        firsts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, dtype=np.int64)
        if not len(firsts):
            nothing = np.zeros(0, np.uint8)
            return Postings(used, np.zeros(1, np.int64), np.zeros(0, np.int32), nothing, nothing)
        sums = np.add.reduceat(parts[order], firsts)
        bits = np.bitwise_or.reduceat((1 << fields[order]).astype(np.uint8), firsts)
        start = np.searchsorted(keys[firsts] // max(1, n_rows), np.arange(len(used) + 1))
        impacts = np.maximum(1, np.round(IMPACT_SCALE * sums / (SATURATION + sums))).astype(np.uint8)
        return Postings(used, start.astype(np.int64), (keys[firsts] % max(1, n_rows)).astype(np.int32), impacts, bits)

    def _embed(self, counts: _Counts, n_rows: int) -> npt.NDArray[np.int8]:
        """Pool word vectors by row, a few rows at a time as one small matrix product."""
        self._embed_words()
        sources, words = self._vocabulary.raw_to_words.expand(counts.raws)
        rows = counts.rows[sources]
        fields = counts.fields[sources]
        frequencies = counts.counts[sources]
        result = np.zeros((n_rows, self._dimensions), dtype=np.int8)
        for first in range(0, n_rows, _DENSE_BLOCK_ROWS):
            last = min(first + _DENSE_BLOCK_ROWS, n_rows)
            part = slice(*np.searchsorted(rows, (first, last)))
            used, local = np.unique(words[part], return_inverse=True)
            if not len(used):
                continue
            shape = (len(FIELDS), last - first, len(used))
            cells = (fields[part] * shape[1] + rows[part] - first) * shape[2] + local
            counted = np.bincount(cells, weights=frequencies[part], minlength=shape[0] * shape[1] * shape[2])
            table = np.tensordot(DENSE_WEIGHTS.astype(np.float64), np.sqrt(counted).reshape(shape), 1)
            result[first:last] = _pool(table, self._vectors[used])
        return result


def _pool(table: npt.NDArray[np.float64], vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Return the weighted sums of word vectors as unit vectors times 127; no row depends on the others.

    The last bits of a product depend on its shape. Where they decide how a number is rounded, the row is computed
    again in double precision.

    Args:
        table: shape (n_rows, n_words), what each word weighs in each row.
        vectors: shape (n_words, dimensions).
    """
    result, unsure = _quantize_closely(table.astype(np.float32) @ vectors, _NEAR_HALF)
    rows = np.flatnonzero(unsure.any(axis=1))
    if len(rows):
        result[rows], _ = _quantize_closely(table[rows] @ vectors.astype(np.float64), 0.0)
    return result


def _quantize_closely(
    vectors: npt.NDArray[np.floating[Any]], near: float
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """Quantize as `quantize` does, and tell which numbers are too close to a midpoint for the rounding to be sure."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = vectors * (127.0 / np.maximum(norms, 1e-9))
    whole = np.round(scaled)
    return whole.astype(np.int8), np.abs(scaled - whole) > 0.5 - near


def quantize(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Return the rows scaled to unit length times 127, as bytes; a zero row stays zero. Shape unchanged."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: npt.NDArray[np.int8] = np.round(vectors * (127.0 / np.maximum(norms, 1e-9))).astype(np.int8)
    return scaled
