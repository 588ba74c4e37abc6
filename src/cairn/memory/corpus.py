"""What recall searches, as arrays in memory: the terms, vectors and dates of all observations at one state."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE, Postings
from cairn.index.vectors import Vectors
from cairn.memory.clock import seconds_of
from cairn.storage.memory import posting_db, vector_db
from cairn.storage.memory.posting_db import PostingRow

Floats = npt.NDArray[np.float32]


class Lexical(NamedTuple):
    """How well rows match the terms of a query.

    Attributes:
        share: how much of the query's rarity each row holds, 0 to 1.
        holds: the fields in which each row holds each term, as bits; shape (n_rows, n_terms).
        rarity: of each term, as a share of all.
    """

    share: Floats
    holds: npt.NDArray[np.uint8]
    rarity: Floats

    def within(self, bits: int) -> Floats:
        """Return how much of the query's rarity each row holds in some of its fields, 0 to 1."""
        within: Floats = ((self.holds & bits) > 0) @ self.rarity
        return within


class Corpus(NamedTuple):
    """All observations that can be recalled, each a row.

    Attributes:
        state: of what is derived, when this was read.
        matching: which rows meet some conditions, as far as that was asked.
        numbers: of the observations in the database, ascending.
        places: the branches and commits that they were made on, each once.
        place_of: which of these, of each.
        created: when, in seconds since the epoch.
        importance: 1 to 10.
        postings: their terms.
        vectors: their vectors by the bundled model.
        others: those by other models, by fingerprint, the preferred one first.
        has_other: which rows have one of these, by fingerprint.
    """

    state: str
    matching: dict[str, npt.NDArray[np.bool_]]
    numbers: npt.NDArray[np.int64]
    places: list[tuple[str, str]]
    place_of: npt.NDArray[np.int64]
    created: npt.NDArray[np.float64]
    importance: Floats
    postings: Postings
    vectors: Vectors
    others: dict[str, Vectors]
    has_other: dict[str, npt.NDArray[np.bool_]]

    def lexical(self, hashes: Sequence[int], weights: Sequence[float]) -> Lexical:
        """Return how well each row matches the terms of a query, each with its weight in the query."""
        share = np.zeros(len(self.numbers), dtype=np.float32)
        holds = np.zeros((len(self.numbers), len(hashes)), dtype=np.uint8)
        rarity = np.zeros(len(hashes), dtype=np.float32)
        for column, hashed in enumerate(hashes):
            own = self._occurrences(hashed)
            rarity[column] = _rarity(own.stop - own.start, len(self.numbers)) * weights[column]
            rows = self.postings.rows[own]
            share[rows] += rarity[column] * self.postings.impacts[own] / np.float32(IMPACT_SCALE)
            holds[rows, column] = self.postings.fields[own]
        whole = max(1e-6, float(rarity.sum()))
        share /= np.float32(whole)
        rarity /= np.float32(whole)
        return Lexical(share, holds, rarity)

    def _occurrences(self, hashed: int) -> slice:
        hashes = self.postings.hashes
        place = int(np.searchsorted(hashes, np.uint64(hashed)))
        if place == len(hashes) or int(hashes[place]) != hashed:
            return slice(0, 0)
        return slice(int(self.postings.start[place]), int(self.postings.start[place + 1]))


def cosines(packed: bytes, others: Collection[bytes]) -> Floats:
    """Return the cosines of a stored vector with others, in order."""
    matrix = np.frombuffer(b"".join([packed, *others]), np.int8).reshape(-1, len(packed))
    vectors = Vectors([matrix], len(packed))
    return vectors.similarities(vectors.take(np.array([0]))[0])[1:]


def load_corpus(connection: sqlite3.Connection, state: str, bundled: str, others: Sequence[str]) -> Corpus:
    """Read all of it at a state, with the vectors of the bundled model and of others, named by their fingerprints.

    Raises:
        sqlite3.DatabaseError: if it does not fit together: then the database is damaged.
    """
    try:
        return _load(connection, state, bundled, others)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise sqlite3.DatabaseError("database disk image is malformed: what recall searches makes no sense") from error


def _load(connection: sqlite3.Connection, state: str, bundled: str, others: Sequence[str]) -> Corpus:
    rows = posting_db.read_ranked(connection)
    stored = posting_db.read_all(connection)
    numbers = np.array([row.number for row in rows], dtype=np.int64)
    places = {place: number for number, place in enumerate(dict.fromkeys((row.branch, row.revision) for row in rows))}
    vectors = {model: _vectors(vector_db.read(connection, model), numbers) for model in (bundled, *others)}
    if [row.number for row in stored] != numbers.tolist() or not vectors[bundled][1].all():
        raise ValueError("terms or vectors are missing")
    return Corpus(
        state=state,
        matching={},
        numbers=numbers,
        places=list(places),
        place_of=np.array([places[row.branch, row.revision] for row in rows], dtype=np.int64),
        created=np.array([seconds_of(row.created) for row in rows]),
        importance=np.array([row.importance for row in rows], dtype=np.float32),
        postings=_postings(stored),
        vectors=vectors[bundled][0],
        others={model: vectors[model][0] for model in others},
        has_other={model: vectors[model][1] for model in others},
    )


def _postings(stored: Sequence[PostingRow]) -> Postings:
    """Turn the terms of each observation into the observations of each term."""
    hashes = np.frombuffer(b"".join(row.hashes for row in stored), np.uint64)
    impacts = np.frombuffer(b"".join(row.impacts for row in stored), np.uint8)
    fields = np.frombuffer(b"".join(row.fields for row in stored), np.uint8)
    if any(not len(row.hashes) == 8 * len(row.impacts) == 8 * len(row.fields) for row in stored):
        raise ValueError("terms are cut off")
    rows = np.repeat(np.arange(len(stored), dtype=np.int32), [len(row.impacts) for row in stored])
    order = np.argsort(hashes, kind="stable")
    used, start = np.unique(hashes[order], return_index=True)
    bounds = np.append(start, len(hashes)).astype(np.int64)
    return Postings(used, bounds, rows[order], impacts[order], fields[order])


def _vectors(
    stored: Sequence[tuple[int, bytes]], numbers: npt.NDArray[np.int64]
) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    """Lay the vectors out as the rows are, zeros for those without one, and tell which have one."""
    dimensions = len(stored[0][1]) if stored else 1
    matrix = np.zeros((len(numbers), dimensions), dtype=np.int8)
    with_vector = np.array([number for number, _ in stored], dtype=np.int64)
    has_vector = np.isin(numbers, with_vector)
    given = np.frombuffer(b"".join(vector for _, vector in stored), np.int8).reshape(len(stored), dimensions)
    matrix[has_vector] = given[np.isin(with_vector, numbers)]
    return Vectors([matrix], dimensions), has_vector


def _rarity(frequency: int, total: int) -> float:
    return float(np.log1p((total - frequency + 0.5) / (frequency + 0.5)))
