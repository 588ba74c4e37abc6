"""Embeds all memories again, with the bundled model and the configured ones; until then the old vectors serve.

Batches are written one by one, so whoever stops it in between loses at most one of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import ProviderError
from cairn.index.analysis import quantize
from cairn.memory import derived
from cairn.memory.models import MemoryModels, open_model
from cairn.memory.store import MemoryStore
from cairn.model_providers import PROVIDERS
from cairn.model_settings import ModelSettings
from cairn.storage.memory import vector_db

BUNDLED = "bundled"
_BATCH = 64
_CHARS_PER_TOKEN = 4
_SAMPLE = ("Every redaction rule needs an example beside it, or the tests fail.",) * 32
Vectors = npt.NDArray[np.int8]


class ModelWork(NamedTuple):
    """What it takes to embed all memories by one model, and what was done of that.

    Attributes:
        model: its name.
        memories: how many there are.
        missing: how many of them have no vector of it yet.
        tokens, seconds: estimates for all of them.
        embedded: how many were embedded now.
        error: why it is not all, empty otherwise.
    """

    model: str
    memories: int
    missing: int
    tokens: int
    seconds: float
    embedded: int = 0
    error: str = ""


class Reembedding:
    """Embeds the memories of one project again.

    Args:
        store: of the memories.
        models: the configured ones.
    """

    def __init__(self, store: MemoryStore, models: MemoryModels) -> None:
        self._store, self._models = store, models

    def estimate(self) -> list[ModelWork]:
        """Return what it would take, the bundled model first; nothing is written, and no other model is asked."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            number, chars = vector_db.count_texts(connection)
            missing = {
                fingerprint: vector_db.count_missing(connection, fingerprint)
                for fingerprint in (bundled_fingerprint(), *self._models.chain)
            }
        tokens, here = chars // _CHARS_PER_TOKEN, round(chars * _seconds_a_char(), 1)
        works = [ModelWork(BUNDLED, number, missing[bundled_fingerprint()], tokens, here)]
        for fingerprint, settings in self._models.chain.items():
            seconds = number / PROVIDERS[settings.provider].chunks_per_second
            works.append(ModelWork(settings.name, number, missing[fingerprint], tokens, round(seconds, 1)))
        return works

    def run(self, progress: Callable[[int, int], None] | None = None) -> list[ModelWork]:
        """Embed all memories by all models, and return what was done; a model that fails is left as it was.

        Args:
            progress: called with (vectors written, vectors to write) after each batch; what it raises stops the run.

        Raises:
            StoreError: if the memory cannot be written.
        """
        works = self.estimate()
        total, done, result = sum(work.memories for work in works), 0, []
        for work, (fingerprint, settings) in zip(works, self._all_models(), strict=False):
            n_before, error = done, ""
            try:
                for n_written in self._renew(fingerprint, settings):
                    done += n_written
                    if progress is not None:
                        progress(done, total)
            except ProviderError as failure:
                error = str(failure)
            result.append(work._replace(embedded=done - n_before, error=error))
        return result

    def _all_models(self) -> list[tuple[str, ModelSettings | None]]:
        """Return the models by their fingerprints; the bundled one, which comes first, has no settings."""
        return [(bundled_fingerprint(), None), *self._models.chain.items()]

    def _renew(self, fingerprint: str, settings: ModelSettings | None) -> Iterator[int]:
        """Embed all memories by one model, and yield after each batch how many were in it."""
        if settings is None:
            yield from self._write(fingerprint, derived.embed)
            return
        with closing(open_model(settings)) as embedder:
            yield from self._write(fingerprint, lambda texts: quantize(embedder.embed_documents(texts)))

    def _write(self, fingerprint: str, embed: Callable[[Sequence[str]], Vectors]) -> Iterator[int]:
        last = 0
        while True:
            with self._store.reading() as connection:
                texts = dict(vector_db.texts_after(connection, last, _BATCH))
            if not texts:
                return
            vectors = zip(texts, (vector.tobytes() for vector in embed(list(texts.values()))), strict=True)
            with self._store.writing() as connection:  # what was edited meanwhile has its vector already
                still = dict(vector_db.texts_after(connection, last, _BATCH))
                vector_db.put(connection, fingerprint, [row for row in vectors if still.get(row[0]) == texts[row[0]]])
                derived.mark_changed(connection)
            last = max(texts)
            yield len(texts)


@cache
def _seconds_a_char() -> float:
    """Return how long the bundled model takes for a character, by how long it took for a few texts."""
    derived.embed(_SAMPLE[:1])  # which loads it
    started = time.perf_counter()
    derived.embed(_SAMPLE)
    return (time.perf_counter() - started) / sum(map(len, _SAMPLE))
