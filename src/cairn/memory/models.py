"""Other embedding models for memories: the configured ones whose texts stay on this machine.

What somebody remembers never goes to a remote model, nor do questions about it. A model that fails is left alone for a
while; then, and for memories that lack its vector, the bundled model answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from threading import Lock

import numpy as np
import numpy.typing as npt

from cairn.embedding.chain import fingerprint_of
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.embedding.protocol import Embedder
from cairn.errors import ProviderError
from cairn.index.analysis import quantize
from cairn.loading import load
from cairn.memory import derived
from cairn.memory.corpus import Corpus, Floats
from cairn.memory.store import MemoryStore
from cairn.model_settings import ModelSettings
from cairn.storage.memory import vector_db

REST_SECONDS = 30.0
_BATCH = 32


class MemoryModels:
    """The models of one project, opened when they are needed. Threads may share it.

    Args:
        store: of the memories.
        chain: the configured model and its fallbacks.
        clock: in seconds, from any start.
    """

    def __init__(
        self, store: MemoryStore, chain: Sequence[ModelSettings], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self._chain = {fingerprint_of(settings): settings for settings in chain if settings.stays_here}
        self._embedders: dict[str, Embedder] = {}
        self._failed: dict[str, float] = {}
        self._lock = Lock()

    @property
    def chain(self) -> Mapping[str, ModelSettings]:
        """The models by what identifies their vectors, the preferred one first."""
        return self._chain

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """What identifies their vectors, the preferred model first."""
        return tuple(self._chain)

    def close(self) -> None:
        """Let go of models and connections."""
        with self._lock:
            while self._embedders:
                self._embedders.popitem()[1].close()

    def sharpen(self, corpus: Corpus, text: str, bundled: Floats) -> Floats:
        """Return the cosines of a question with all rows, by the first model that can tell, else as they are.

        Args:
            text: the question as it was asked.
            bundled: its cosines by the bundled model; those of another model are brought to their scale.
        """
        for fingerprint, vectors in corpus.others.items():
            known = corpus.has_other[fingerprint]
            vector = self._embed(fingerprint, text) if known.any() else None
            if vector is not None and len(vector) == vectors.dimensions:
                return _on_scale_of(bundled, vectors.similarities(vector), known)
        return bundled

    def pending(self) -> int:
        """Return how many memories lack a vector of the preferred model; 0 if only the bundled one is configured."""
        if not self._chain or not self._store.exists:
            return 0
        with self._store.reading() as connection:
            return vector_db.count_missing(connection, self.fingerprints[0])

    def complete(self) -> int:
        """Embed the memories that lack a vector, and return of how many the preferred model has none afterwards."""
        if self._chain and self._store.exists:
            for fingerprint, settings in self._chain.items():
                with closing(open_model(settings)) as embedder:
                    self._complete(fingerprint, embedder)
            with self._store.writing() as connection:
                vector_db.delete_others(connection, [bundled_fingerprint(), *self._chain])
        return self.pending()

    def _complete(self, fingerprint: str, embedder: Embedder) -> None:
        while True:
            with self._store.reading() as connection:
                texts = dict(vector_db.missing(connection, fingerprint, _BATCH))
            if not texts:
                return
            try:
                vectors = quantize(embedder.embed_documents(list(texts.values())))
            except ProviderError:  # they stay pending
                return
            packed = (vector.tobytes() for vector in vectors)
            with self._store.writing() as connection:
                still = dict(vector_db.missing(connection, fingerprint, -1))
                rows = zip(texts, packed, strict=True)
                vector_db.put(connection, fingerprint, [row for row in rows if still.get(row[0]) == texts[row[0]]])
                derived.mark_changed(connection)

    def _embed(self, fingerprint: str, text: str) -> Floats | None:
        failed = self._failed.get(fingerprint)
        if failed is not None and self._clock() - failed < REST_SECONDS:
            return None
        with self._lock:
            if fingerprint not in self._embedders:
                self._embedders[fingerprint] = open_model(self._chain[fingerprint])
            embedder = self._embedders[fingerprint]
        try:
            return embedder.embed_query(text)
        except ProviderError:
            self._failed[fingerprint] = self._clock()
            return None


def _on_scale_of(bundled: Floats, cosines: Floats, known: npt.NDArray[np.bool_]) -> Floats:
    """Return cosines with the mean and spread of others, and those others where they are not known."""
    own, other = cosines[known].astype(np.float64), bundled[known].astype(np.float64)
    scaled = (cosines - own.mean()) * (other.std() / max(1e-6, float(own.std()))) + other.mean()
    return np.where(known, scaled, bundled).astype(np.float32)


def open_model(settings: ModelSettings) -> Embedder:
    """Open a model; the clients of providers are loaded only where one is configured."""
    embedder: Embedder = load("cairn.embedding.providers:open_model")(settings)
    return embedder
