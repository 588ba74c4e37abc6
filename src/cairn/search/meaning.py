"""Chooses the model that embeds a query, and compares its vector with those of the chunks.

The first model that covers every file of the view and answers is used. A vector is only compared with vectors of the
same model.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from cairn.embedding.chain import fingerprint_of
from cairn.embedding.protocol import Embedder
from cairn.embedding.providers import open_model
from cairn.errors import ProviderError
from cairn.hints import Hint
from cairn.index.models import recall_models
from cairn.index.overlay import Overlay, open_overlay
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.model_settings import ModelSettings
from cairn.search.score import Floats
from cairn.source.text import pluralize
from cairn.storage.connection import reading
from cairn.storage.index import meta_db, overlay_db
from cairn.storage.index.overlay_db import ModelRow

# A long-lived process does not ask a model that failed again for this long.
REST_SECONDS = 30.0
# The mean and spread of the bundled model's cosines with all chunks, for a query without any word that it knows.
TYPICAL_MEAN, TYPICAL_SPREAD = 0.28, 0.11
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Meaning:
    """The answer of a model: `dense` of shape (n_rows,), None when the bundled model answers."""

    dense: Floats | None
    model: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    settings: ModelSettings
    row: ModelRow | None
    previous: bool


class Meanings:
    """The models of one project, opened when they are needed; threads may share it.

    Args:
        chain: the configured model and its fallbacks.

    Attributes:
        incomplete: whether the configured model lacked vectors at the last question.
    """

    def __init__(
        self,
        chain: Sequence[ModelSettings],
        state: StateDir,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.incomplete = False
        self._chain = tuple(chain)
        self._state = state
        self._clock = clock
        self._embedders: dict[str, Embedder] = {}
        self._failures: dict[str, tuple[float, str]] = {}
        self._overlays: dict[str, Overlay] = {}
        self._candidates: list[_Candidate] = []
        self._read: tuple[meta_db.State, int] | None = None  # the state and the version of the overlays
        self._lock = Lock()  # guards all of these, but is not held while a model works

    def find(self, connection: sqlite3.Connection, snapshot: Snapshot, text: str, bundled: Floats | None) -> Meaning:
        """Return how near the chunks are to a query, by the first model that can tell.

        Args:
            text: the query as the user wrote it.
            bundled: its vector from the bundled model, None when the model knows none of its words.
        """
        with self._lock:
            self._refresh(connection, snapshot)
            candidates, overlays = self._candidates, self._overlays
        problems: list[str] = []
        incomplete = False
        for number, candidate in enumerate(candidates):
            name, overlay = candidate.settings.name, overlays.get(fingerprint_of(candidate.settings))
            if overlay is None or overlay.vectors is None:
                if not candidate.previous:
                    incomplete |= number == 0
                    covered = overlay.covered if overlay is not None else 0
                    problems.append(
                        f"embeddings by {name} cover {covered:,} of {pluralize(len(snapshot.files.paths), 'file')}"
                    )
                continue
            try:
                vector = self._embed(candidate.settings, text)
                if len(vector) != overlay.vectors.dimensions:
                    raise ProviderError(
                        f"{name} now returns vectors of {len(vector)} dimensions", Hint.of("index", full=True)
                    )
            except ProviderError as error:
                problems.append(error.hint.after(f"{error}") if error.hint.arguments else str(error))
                continue
            dense = like_bundled(overlay.vectors.similarities(vector), snapshot, bundled)
            who = f"the previous model {name}" if candidate.previous else name
            self.incomplete = incomplete
            return Meaning(dense, name, _notes(problems, who, incomplete=incomplete))
        self.incomplete = incomplete
        return Meaning(None, "bundled", _notes(problems, "the bundled model", incomplete=incomplete))

    def close(self) -> None:
        """Let go of connections and models."""
        with self._lock:
            for embedder in self._embedders.values():
                embedder.close()
            self._embedders.clear()

    def _refresh(self, connection: sqlite3.Connection, snapshot: Snapshot) -> None:
        """Open the models' vectors for this snapshot, unless both are unchanged since the last time."""
        with reading(connection):
            version = overlay_db.version(connection)
            if self._read == (snapshot.state, version):
                return
            self._candidates = self._find_candidates(overlay_db.read_models(connection))
            self._overlays = {}
            # In another state than the snapshot's, blob ids may mean other contents. The next answer will match again.
            if meta_db.state(connection) != snapshot.state:
                return
            for row in (candidate.row for candidate in self._candidates):
                if row is not None:
                    self._overlays[row.fingerprint] = open_overlay(connection, self._state, row, snapshot)
            self._read = (snapshot.state, version)

    def _find_candidates(self, rows: list[ModelRow]) -> list[_Candidate]:
        """Return the chain, then the models of earlier settings, the newest first."""
        stored = {row.fingerprint: row for row in rows}
        chain = [_Candidate(model, stored.pop(fingerprint_of(model), None), False) for model in self._chain]
        earlier = recall_models(self._state) if stored else {}
        return chain + [
            _Candidate(earlier[fingerprint], row, True) for fingerprint, row in stored.items() if fingerprint in earlier
        ]

    def _embed(self, settings: ModelSettings, text: str) -> Floats:
        fingerprint = fingerprint_of(settings)
        at, reason = self._failures.get(fingerprint, (0.0, ""))
        if reason and self._clock() - at < REST_SECONDS:
            raise ProviderError(reason)
        with self._lock:
            if fingerprint not in self._embedders:
                self._embedders[fingerprint] = open_model(settings)
            embedder = self._embedders[fingerprint]
        try:
            vector = embedder.embed_query(text)
        except ProviderError as error:
            self._failures[fingerprint] = (self._clock(), str(error))
            raise
        self._failures.pop(fingerprint, None)
        return vector


def _notes(problems: list[str], model: str, *, incomplete: bool) -> tuple[str, ...]:
    if not problems:
        return ()
    note = f"{'; '.join(problems)}; answered with {model}"
    return (Hint(f"{note}; finish with", "index") if incomplete else note,)


def like_bundled(cosines: Floats, snapshot: Snapshot, bundled: Floats | None) -> Floats:
    """Return a model's cosines on the scale of the bundled model, with its mean and spread over all live rows.

    The weights of the ranking and the estimate of relevance were fitted to that scale, and models differ: the same
    match is 0.3 for one and 0.8 for another. Only the scale changes; the order is the model's own.
    """
    live = snapshot.file_of_row >= 0
    mean, spread = TYPICAL_MEAN, TYPICAL_SPREAD
    if bundled is not None:
        mean, spread = _mean_and_spread(snapshot.vectors.similarities(bundled)[live])
    our_mean, our_spread = _mean_and_spread(cosines[live])
    factor = spread / max(our_spread, 1e-6)
    scaled: Floats = ((cosines - np.float32(our_mean)) * np.float32(factor) + np.float32(mean)).astype(np.float32)
    return scaled


def _mean_and_spread(values: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation, rounded so that they do not depend on the order of the values."""
    wide = values.astype(np.float64)
    return round(float(wide.mean()), _DIGITS), round(float(wide.std()), _DIGITS)
