"""Derives from observations what recall searches: their terms, and their vectors by the bundled model."""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.embedding.static import bundled_model
from cairn.index.analysis import Analyzer, Postings
from cairn.index.words import Row, Words
from cairn.storage.memory import observation_db, posting_db, vector_db
from cairn.storage.memory.posting_db import PostingRow
from cairn.storage.memory.rows import Observation
from cairn.storage.sealed import read_meta, write_meta

_VERSION = 1  # of what is derived; raise it with any change
_MADE_BY = "recall_made_by"
_STATE = "recall_state"  # another at every change
_BATCH = 500
_FIRST_SENTENCE = re.compile(r".*?(?:[.!?:](?=\s)|$)")


def derive(connection: sqlite3.Connection, observations: Sequence[Observation]) -> None:
    """Bring terms and vectors up to date with observations that changed, in the transaction that changes them."""
    if not is_current(connection):
        rebuild(connection)
        return
    _derive(connection, observations)
    mark_changed(connection)


def rebuild(connection: sqlite3.Connection) -> int:
    """Derive everything again, and return of how many observations; vectors of other models stay."""
    posting_db.delete_all(connection)
    rest = observation_db.iter_all(connection)
    n_observations = 0
    while batch := list(islice(rest, _BATCH)):
        _derive(connection, batch)
        n_observations += len(batch)
    write_meta(connection, _MADE_BY, _maker())
    mark_changed(connection)
    return n_observations


def is_current(connection: sqlite3.Connection) -> bool:
    """Tell whether what is derived was made by this version and its model."""
    return read_meta(connection, _MADE_BY) == _maker()


def state_of(connection: sqlite3.Connection) -> str:
    """Return what differs after every change of what is derived."""
    return read_meta(connection, _STATE)


def mark_changed(connection: sqlite3.Connection) -> None:
    """Note that something that is derived is no longer as it was."""
    write_meta(connection, _STATE, secrets.token_hex(8))  # a number would be used again after a change is undone


@cache
def _maker() -> str:
    return f"{_VERSION} {bundled_fingerprint()}"


def _derive(connection: sqlite3.Connection, observations: Sequence[Observation]) -> None:
    numbers = observation_db.numbers(connection, [observation.id for observation in observations])
    erased = [numbers[observation.id] for observation in observations if observation.is_redacted]
    posting_db.delete(connection, erased)
    vector_db.delete(connection, erased)
    kept = [observation for observation in observations if not observation.is_redacted]
    if not kept:
        return
    rows = [numbers[observation.id] for observation in kept]
    posting_db.put(connection, _postings(rows, [row_of(observation) for observation in kept]))
    packed = (vector.tobytes() for vector in embed([observation.text for observation in kept]))
    _put_vectors(connection, dict(zip(rows, packed, strict=True)))


def _put_vectors(connection: sqlite3.Connection, vectors: Mapping[int, bytes]) -> None:
    """Write the bundled model's vectors; where one differs, the text does, and vectors of other models go."""
    model = bundled_fingerprint()
    before = vector_db.read_some(connection, model, vectors)
    changed = {number: vector for number, vector in vectors.items() if before.get(number) != vector}
    vector_db.delete(connection, changed)
    vector_db.put(connection, model, changed.items())


def row_of(observation: Observation) -> Row:
    """Return the texts under which an observation is found, in the order of `cairn.index.words.FIELDS`."""
    names = [*observation.tags, *(link.symbol for link in observation.links)]
    paths = [link.path for link in observation.links]
    return "\n".join(names), "\n".join(paths), first_sentence(observation.text), observation.text


def first_sentence(text: str) -> str:
    """Return the beginning of a text, up to the end of its first sentence or line."""
    match = _FIRST_SENTENCE.match(text.strip())
    return match[0] if match else ""


def _postings(numbers: Sequence[int], rows: Sequence[Row]) -> Iterator[PostingRow]:
    postings, _ = _analyze(rows)
    hashes = np.repeat(postings.hashes, np.diff(postings.start))
    order = np.argsort(postings.rows, kind="stable")
    bounds = np.searchsorted(postings.rows[order], np.arange(len(rows) + 1))
    for place, number in enumerate(numbers):
        own = order[bounds[place] : bounds[place + 1]]
        yield PostingRow(number, hashes[own].tobytes(), postings.impacts[own].tobytes(), postings.fields[own].tobytes())


def embed(texts: Sequence[str]) -> npt.NDArray[np.int8]:
    """Return the vectors of texts, without what they are linked to: so that they can be compared with each other."""
    _, vectors = _analyze([("", "", "", text) for text in texts])
    return vectors


def _analyze(rows: Sequence[Row]) -> tuple[Postings, npt.NDArray[np.int8]]:
    model = bundled_model()
    return Analyzer(model.word_vectors, model.dimensions).analyze([Words.of(rows)])
