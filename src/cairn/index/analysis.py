"""Turns batches of chunk texts into postings and vectors; each distinct word is analysed once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, filterfalse, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.blas import one_thread
from cairn.index.words import FIELDS, Words
from cairn.kernels import loops
from cairn.kernels.counting import split_identifiers
from cairn.source.terms import stemmer, term_digest
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
_NEAR_HALF = 2e-5  # above float32's rounding error for a sum of hundreds of terms that is at most 127
_MANY_WORDS = 1_000  # words embedded at a time
_SIGMA = "\u03a3"  # the only letter whose lower case depends on the letter after it
_END, _BETWEEN = "\n", "_"  # separates raw words, and the parts of one

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
        """Tell whether the arrays are consistent with each other and with `n_rows` rows."""
        n_postings = len(self.rows)
        whole = len(self.impacts) == len(self.fields) == n_postings
        return whole and are_bounds(self.start, len(self.hashes), n_postings) and are_below(self.rows, n_rows)

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the arrays by name, to be stored."""
        return {name: getattr(self, name) for name in ("hashes", "start", "rows", "impacts", "fields")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Postings:
        """Build from stored arrays, as named by `to_arrays`."""
        return cls(arrays["hashes"], arrays["start"], arrays["rows"], arrays["impacts"], arrays["fields"])


class _Parts(dict[str, int]):
    """Numbers the parts of raw words as written, and maps each to its word and its term.

    Attributes:
        words: their words, lower case.
        word_of: the word number of each part; -1 for digits and for whole words of several parts.
        term_of: the term number of each part.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.word_of = array("i")
        self.term_of = array("i")
        self._word_ids: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        self._wholes: dict[str, int] = {}
        self._hashes = np.zeros(0, dtype=np.uint64)  # of the first terms; `hashes` computes the rest when asked

    def numbers(self, parts: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of lower-case parts."""
        new = list(filterfalse(self.__contains__, parts))
        words = [self._word(text) for text in new]
        self.update(zip(new, self._add(words, stemmer().stemWords(new)), strict=True))
        return np.fromiter(map(self.__getitem__, parts), np.int32, len(parts))

    def numbers_of_wholes(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the numbers for several parts together, folded."""
        new = list(dict.fromkeys(filterfalse(self._wholes.__contains__, texts)))
        self._wholes.update(zip(new, self._add([-1] * len(new), new), strict=True))
        return np.fromiter(map(self._wholes.__getitem__, texts), np.int32, len(texts))

    def _word(self, text: str) -> int:
        if text.isdigit():
            return -1
        word = self._word_ids.setdefault(text, len(self.words))
        if word == len(self.words):
            self.words.append(text)
        return word

    def _add(self, words: Sequence[int], terms: Sequence[str]) -> range:
        first = len(self.word_of)
        known = self._terms
        self.word_of.extend(words)
        self.term_of.extend([known.setdefault(term, len(known)) for term in terms])
        return range(first, len(self.word_of))

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Return the hash of every term, by term number."""
        n_hashed = len(self._hashes)
        new = b"".join(map(term_digest, islice(self._terms, n_hashed, None)))
        self._hashes = np.concatenate([self._hashes, np.frombuffer(new, np.dtype("<u8"))])
        return self._hashes


class Vocabulary(dict[str, int]):
    """Numbers raw words and caches the parts of each: its words, then the whole.

    The parts stand for the terms that `cairn.source.terms.terms_of` gives.

    Args:
        share: the fraction of the usual size that it may grow to.
    """

    def __init__(self, share: float = 1.0) -> None:
        super().__init__()
        self._share = share
        self.parts = _Parts()
        self._lengths = np.zeros(0, dtype=np.int32)
        self._places = np.zeros(0, dtype=np.int32)

    def numbers(self, raws: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the numbers of raw words; new ones are split in one batch."""
        new = list(dict.fromkeys(filterfalse(self.__contains__, raws)))
        self.update(zip(new, range(len(self), len(self) + len(new)), strict=True))
        if new:
            self._take_apart([raw if len(raw) <= MAX_WORD_CHARS else "" for raw in new])
        return np.fromiter(map(self.__getitem__, raws), np.int32, len(raws))

    def _take_apart(self, raws: Sequence[str]) -> None:
        # Words beyond ASCII are split in Python, which knows the class of every letter.
        lines = [raw if raw.isascii() else _BETWEEN.join(split_identifier(raw)) for raw in raws]
        parts, ids = split_identifiers(_END.join([*lines, ""]))
        # An end has the number -1, which indexes the last element.
        numbers = np.append(self.parts.numbers(parts.split(_END)[:-1]), np.int32(-1))[np.frombuffer(ids, np.int32)]
        ends = np.flatnonzero(numbers < 0)
        n_parts = np.diff(ends, prepend=-1) - 1
        several = n_parts > 1
        # Where a word of several parts ends, its whole follows.
        numbers[ends[several]] = self.parts.numbers_of_wholes([*compress(_fold(raws), several.tolist())])
        self._places = np.concatenate([self._places, numbers[numbers >= 0]])
        self._lengths = np.concatenate([self._lengths, (n_parts + several).astype(np.int32)])

    def expand(self, raws: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return every part of every raw word, each with the position in `raws` that it came from."""
        lengths = self._lengths[raws]
        sources = np.repeat(np.arange(len(raws), dtype=np.int32), lengths)
        # From the position among all that is returned to that among the parts of all words.
        starts = np.cumsum(self._lengths, dtype=np.int32) - self._lengths
        shifts = starts[raws] - (np.cumsum(lengths, dtype=np.int32) - lengths)
        return sources, self._places[np.arange(len(sources), dtype=np.int32) + np.repeat(shifts, lengths)]

    @property
    def full(self) -> bool:
        """Whether it has grown so large that a fresh one should replace it, to bound memory."""
        return len(self) > self._share * _MAX_RAW_WORDS or len(self.parts.words) > self._share * _MAX_WORDS


def _fold(raws: Sequence[str]) -> list[str]:
    """Return each raw word's parts joined and lower-cased; see `cairn.source.terms.terms_of`."""
    together = _END.join(raws)
    if _SIGMA not in together:
        return together.replace("_", "").lower().split(_END)
    return ["".join(split_identifier(raw)) for raw in raws]


class _Counts(NamedTuple):
    """How often each raw word occurs in each field of each row, by row and then field. Shapes: (n,).

    A slot is a field of a row: `row * len(FIELDS) + field`.
    """

    slots: npt.NDArray[np.int32]
    raws: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]


class Analyzer:
    """Analyses chunk texts in batches.

    Args:
        word_vectors: the embedding model's view of single words.
        dimensions: the length of a vector.
        share: the fraction of the usual number of words to cache; a smaller cache is slower.
    """

    def __init__(self, word_vectors: WordVectors, dimensions: int, share: float = 1.0) -> None:
        self._share = share
        self._word_vectors = word_vectors
        self._dimensions = dimensions
        self._reset()

    def forget(self) -> None:
        """Drop all cached words; any that come up again are analysed again."""
        self._reset()

    def _reset(self) -> None:
        self._vocabulary = Vocabulary(self._share)
        # One row for each word of a full vocabulary; pages take memory only once they are written to.
        self._vectors = np.empty((_MAX_WORDS, self._dimensions), dtype=np.float32)
        self._n_embedded = 0

    def _embed_words(self) -> None:
        words = self._vocabulary.parts.words
        if len(words) > len(self._vectors):
            larger = np.empty((2 * len(words), self._dimensions), dtype=np.float32)
            larger[: self._n_embedded] = self._vectors[: self._n_embedded]
            self._vectors = larger
        for first in range(self._n_embedded, len(words), _MANY_WORDS):
            part = words[first : first + _MANY_WORDS]
            self._vectors[first : first + len(part)] = self._word_vectors(part)
        self._n_embedded = len(words)

    def analyze(self, files: Sequence[Words]) -> tuple[Postings, npt.NDArray[np.int8]]:
        """Return the postings and vectors of a batch; rows are numbered across all of its files.

        Returns:
            The postings, and vectors of shape (n_rows, dimensions): unit length times 127, zeros where no word is
            known.
        """
        if self._vocabulary.full:
            self._reset()
        n_rows = sum(file.n_rows for file in files)
        counts = self._count(files)
        with one_thread():
            expansion = self._vocabulary.expand(counts.raws)
            return self._postings(counts, n_rows, *expansion), self._embed(counts, n_rows, *expansion)

    def _count(self, files: Sequence[Words]) -> _Counts:
        numbers = self._vocabulary.numbers("".join([file.words for file in files]).split(_END)[:-1])
        firsts = np.cumsum([0, *(file.words.count(_END) for file in files)])
        ids = [np.frombuffer(file.ids, np.int32) for file in files]
        lengths = np.frombuffer(b"".join([file.lengths for file in files]), np.int32)
        raws = numbers[np.concatenate([np.zeros(0, np.int32), *map(np.add, ids, firsts[:-1])])]
        slots = np.arange(len(lengths), dtype=np.int32).repeat(lengths)
        return _Counts(slots, raws, np.frombuffer(b"".join([file.counts for file in files]), np.int32))

    def _postings(
        self, counts: _Counts, n_rows: int, sources: npt.NDArray[np.int32], parts: npt.NDArray[np.int32]
    ) -> Postings:
        n_fields = len(FIELDS)
        fields = counts.slots % n_fields
        frequencies = counts.counts.astype(np.float32)
        n_terms = np.bincount(sources, minlength=len(frequencies))
        lengths = np.bincount(counts.slots, weights=frequencies * n_terms, minlength=n_rows * n_fields)
        of_fields = lengths.astype(np.float32).reshape(n_rows, n_fields)
        norms = (1.0 - FIELD_B + FIELD_B * of_fields / FIELD_PIVOTS).astype(np.float32).reshape(-1)
        # In double precision, so that the sum does not depend on which words were seen before.
        shares = (FIELD_WEIGHTS[fields] * frequencies / norms[counts.slots]).astype(np.float64)

        return Postings(
            *loops.make_postings(
                sources,
                np.array(self._vocabulary.parts.term_of, dtype=np.int32)[parts],
                counts.slots // np.int32(n_fields),
                (1 << fields).astype(np.uint8),
                shares,
                self._vocabulary.parts.hashes(),
                n_rows,
                SATURATION,
                IMPACT_SCALE,
            )
        )

    def _embed(
        self, counts: _Counts, n_rows: int, sources: npt.NDArray[np.int32], parts: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int8]:
        """Pool word vectors by row, as one small matrix product for every few rows."""
        self._embed_words()
        words = np.array(self._vocabulary.parts.word_of, dtype=np.int32)[parts]
        is_word = words >= 0
        words, sources = words[is_word], sources[is_word]
        slots = counts.slots[sources]
        frequencies = counts.counts[sources].astype(np.float64)
        result = np.zeros((n_rows, self._dimensions), dtype=np.int8)
        columns = np.zeros(len(self._vocabulary.parts.words), dtype=np.int32)  # of each word in the table
        is_used = np.zeros(len(columns), dtype=np.bool_)
        firsts = np.arange(0, n_rows, _DENSE_BLOCK_ROWS)
        bounds = np.searchsorted(slots, np.r_[firsts, n_rows] * len(FIELDS))
        for first, start, end in zip(firsts.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            own = words[start:end]
            is_used[own] = True
            used = np.flatnonzero(is_used)
            is_used[used] = False
            if not len(used):
                continue
            columns[used] = np.arange(len(used), dtype=np.int32)
            n_block = min(_DENSE_BLOCK_ROWS, n_rows - first)
            cells = (slots[start:end] - first * len(FIELDS)) * np.int32(len(used)) + columns[own]
            counted = np.bincount(cells, frequencies[start:end], n_block * len(FIELDS) * len(used))
            roots = np.sqrt(counted, out=counted).reshape(n_block, len(FIELDS), len(used))
            table = np.matmul(DENSE_WEIGHTS.astype(np.float64), roots)
            result[first : first + n_block] = _pool(table, self._vectors[used])
        return result


def _pool(table: npt.NDArray[np.float64], vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Return the weighted sums of word vectors as unit vectors times 127; each row is independent of the others.

    The last bits of a matrix product depend on its shape. Rows in which they would decide a rounding are recomputed in
    double precision.

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
    """Quantize as `quantize` does, and flag the numbers that lie too close to a midpoint to round reliably."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = vectors * (127.0 / np.maximum(norms, 1e-9))
    whole = np.round(scaled)
    return whole.astype(np.int8), np.abs(scaled - whole) > 0.5 - near


def quantize(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Return the rows scaled to unit length times 127, as bytes; a zero row stays zero. Shape unchanged."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: npt.NDArray[np.int8] = np.round(vectors * (127.0 / np.maximum(norms, 1e-9))).astype(np.int8)
    return scaled
