"""Reads the mined pairs as words and weights: what the model sees of a query, of a chunk and of its path."""

from __future__ import annotations

import gzip
import json
import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from cairn.index.analysis import DENSE_WEIGHTS
from cairn.index.view import path_words
from cairn.index.words import FIELDS
from cairn.search.query import understand
from cairn.source.text import MAX_WORD_CHARS, raw_words, split_identifier


class Corpus(NamedTuple):
    """All pairs, as what each word weighs in each text.

    Shapes: queries, chunks, paths (n_pairs, n_words); packages, files (n_pairs,), numbers that compare for equality.
    """

    words: list[str]
    queries: csr_matrix
    chunks: csr_matrix
    paths: csr_matrix
    packages: npt.NDArray[np.int32]
    files: npt.NDArray[np.int32]


class _Rows:
    """Collects a sparse matrix row by row, words being numbered as they come."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers
        self._start, self._columns, self._values = array("q", [0]), array("i"), array("f")

    def append(self, weights: Mapping[str, float]) -> None:
        """Add one row."""
        self._columns.extend(self._numbers.setdefault(word, len(self._numbers)) for word in weights)
        self._values.extend(weights.values())
        self._start.append(len(self._columns))

    def matrix(self) -> csr_matrix:
        """Return all rows; call it when every word has its number."""
        parts = (np.array(part) for part in (self._values, self._columns, self._start))
        return csr_matrix(tuple(parts), shape=(len(self._start) - 1, len(self._numbers)))


def read_corpus(folder: Path) -> Corpus:
    """Read every `PACKAGE.jsonl.gz` in a folder that `mine.py` wrote, in the order of their names."""
    numbers: dict[str, int] = {}
    queries, chunks, paths = (_Rows(numbers) for _ in range(3))
    packages, files = array("i"), array("i")
    places: dict[tuple[int, str], int] = {}
    for package, file in enumerate(sorted(folder.glob("*.jsonl.gz"))):
        for pair in _read_pairs(file):
            queries.append(Counter(understand(pair["query"], "hybrid").words))
            chunks.append(_chunk_weights([pair[field] for field in FIELDS]))
            paths.append(Counter(path_words(pair["path"])))
            packages.append(package)
            files.append(places.setdefault((package, pair["path"]), len(places)))
    matrices = [rows.matrix() for rows in (queries, chunks, paths)]
    return Corpus(list(numbers), *matrices, np.array(packages), np.array(files))


def _read_pairs(file: Path) -> Iterator[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            if pair["query"].strip():
                yield pair


def _chunk_weights(texts: Sequence[str]) -> dict[str, float]:
    """Return what each word of a chunk weighs, as the index weighs it."""
    weights: dict[str, float] = {}
    for text, field_weight in zip(texts, DENSE_WEIGHTS.tolist(), strict=True):
        for word, count in Counter(_words(text)).items():
            weights[word] = weights.get(word, 0.0) + field_weight * math.sqrt(count)
    return weights


def _words(text: str) -> Iterator[str]:
    for raw in raw_words(text):
        if len(raw) <= MAX_WORD_CHARS:
            yield from (word for word in split_identifier(raw) if not word.isdigit())
