"""Completes the vectors of a model: finds what lacks them, asks the model, commits batch by batch."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from cairn.config import Settings
from cairn.digest import blake2b
from cairn.embedding.chain import fingerprint_of
from cairn.embedding.protocol import Embedder
from cairn.embedding.providers import open_model
from cairn.errors import IndexLockedError, ProviderError
from cairn.hints import Hint
from cairn.index.analysis import quantize
from cairn.index.models import agree, place_of, remember_model
from cairn.index.overlay import KnownVectors, OverlayFile, OverlayStore
from cairn.index.plan import files_of_index
from cairn.index.reading import HASH_BYTES
from cairn.index.state_dir import StateDir
from cairn.index.texts import chunk_text, text_key
from cairn.index.views import View
from cairn.model_settings import ModelSettings
from cairn.source.content import normalize
from cairn.storage.connection import store_errors, transaction
from cairn.storage.index import chunk_db, overlay_db, view_db
from cairn.storage.index.overlay_db import MissingBlob, ModelRow
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.types import EmbeddingReport

Progress = Callable[[int, int], None]
_Vector = npt.NDArray[np.int8]


@dataclass(slots=True)
class _Batch:
    """Blobs that are embedded together. `texts` are those without a known vector, by key."""

    blobs: list[MissingBlob] = field(default_factory=list)
    keys: list[list[int]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def n_chunks(self) -> int:
        return sum(map(len, self.keys))


@dataclass(slots=True)
class _Tally:
    embedded: int = 0
    reused: int = 0
    seconds: float = 0.0


class OverlayBuilder:
    """Embeds the blobs of one view with one model. The write lock is only held to commit a batch.

    Args:
        view: the checkout or commit whose files it shows.
    """

    def __init__(self, view: View, state: StateDir, connection: sqlite3.Connection, settings: Settings) -> None:
        self._view = view
        self._state = state
        self._connection = connection
        self._settings = settings

    def run(self, embedder: Embedder, settings: ModelSettings, progress: Progress | None) -> EmbeddingReport:
        """Embed what has no vector yet; a failure ends the run and keeps what was committed.

        Args:
            progress: called with (chunks done, chunks to do).
        """
        started, tally = time.perf_counter(), _Tally()
        remember_model(self._state, settings)
        with self._writing():
            model = overlay_db.ensure_model(self._connection, embedder.fingerprint, embedder.name)
            OverlayStore(self._connection, self._state, model).forget_lost()
        failure: ProviderError | None = None
        try:
            self._embed_missing(embedder, settings, model, tally, progress)
        except ProviderError as error:
            failure = error
        with self._writing():
            if failure is not None:
                overlay_db.record_error(self._connection, model.id, str(failure), time.time())
            elif not overlay_db.is_missing_anywhere(self._connection, model.id):
                overlay_db.record_error(self._connection, model.id, "", 0.0)
                OverlayStore(self._connection, self._state, model).collect()
        view = self._view_id()
        return EmbeddingReport(
            model=embedder.name,
            embedded=tally.embedded,
            reused=tally.reused,
            covered=overlay_db.count_covered(self._connection, view, model.id),
            total=view_db.count_totals(self._connection, view)[1],
            seconds=round(time.perf_counter() - started, 3),
            error=str(failure or ""),
            code=failure.code if failure is not None else "",
            hint=failure.hint if failure is not None else "",
        )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX), transaction(self._connection):
            yield

    def _view_id(self) -> int:
        view = view_db.find_view(self._connection, self._view.name)
        return view.id if view is not None else -1

    def _embed_missing(
        self,
        embedder: Embedder,
        settings: ModelSettings,
        model: ModelRow,
        tally: _Tally,
        progress: Progress | None,
    ) -> None:
        missing = overlay_db.missing_blobs(self._connection, self._view_id(), model.id)
        total = sum(blob.n_chunks for blob in missing)
        done = 0
        known = OverlayStore(self._connection, self._state, model).all_vectors()
        size = settings.batch_size * settings.at_once  # requests that were sent together are committed together
        for batch in self._batches(missing, embedder.max_input_chars, known, size):
            if progress is not None:
                progress(done, total)
            self._embed(embedder, model, batch, known, tally)
            done += batch.n_chunks
        if progress is not None and total:
            progress(total, total)

    def _batches(
        self, missing: Sequence[MissingBlob], max_chars: int, known: KnownVectors, size: int
    ) -> Iterator[_Batch]:
        batch = _Batch()
        for blob in missing:
            texts = self._texts(blob, max_chars)
            if texts is None:
                continue
            keys = [text_key(text) for text in texts]
            batch.blobs.append(blob)
            batch.keys.append(keys)
            batch.texts |= {key: text for key, text in zip(keys, texts, strict=True) if known.find(key) is None}
            if len(batch.texts) >= size or batch.n_chunks >= self._settings.batch_chunks:
                yield batch
                batch = _Batch()
        if batch.blobs:
            yield batch

    def _texts(self, blob: MissingBlob, max_chars: int) -> list[str] | None:
        """Return the texts of a blob's chunks, None if the file has changed since; the next run embeds it."""
        try:
            data = normalize(self._view.read(blob.path))
        except OSError:
            return None
        if blake2b(data, digest_size=HASH_BYTES).digest() != blob.hash:
            return None
        first_id = blob.id << chunk_db.ORDINAL_BITS
        ids = range(first_id, first_id + blob.n_chunks)
        rows = chunk_db.read_chunks(self._connection, ids)
        if len(rows) != blob.n_chunks:
            return None
        lines = data.split(b"\n")
        return [chunk_text(blob.path, rows[id_], lines, max_chars) for id_ in ids]

    def _embed(self, embedder: Embedder, model: ModelRow, batch: _Batch, known: KnownVectors, tally: _Tally) -> None:
        """Embed one batch, then commit it."""
        started = time.perf_counter()
        vectors = quantize(embedder.embed_documents(list(batch.texts.values())))
        seconds = time.perf_counter() - started
        dimensions = known.dimensions or embedder.dimensions
        if len(vectors) and vectors.shape[1] != dimensions:
            raise ProviderError(
                f"{embedder.name} returned vectors of {vectors.shape[1]} dimensions where it returned {dimensions} "
                "before: it serves another model under the same name",
                Hint("give embedding.model its full name, or embed again with", "index", full=True),
            )
        known.dimensions = dimensions
        new = dict(zip(batch.texts, vectors, strict=True))
        keys = np.array([key for group in batch.keys for key in group], dtype=np.uint64)
        rows = [_first(new.get(int(key)), known.find(int(key))) for key in keys]
        file = OverlayFile(
            np.array([blob.id for blob in batch.blobs], dtype=np.int64),
            np.cumsum([0, *map(len, batch.keys)]).astype(np.int64),
            keys,
            np.stack(rows),
        )
        with self._writing():
            if model.fingerprint not in {row.fingerprint for row in overlay_db.read_models(self._connection)}:
                raise ProviderError(f"{embedder.name} was dropped while it was embedding", Hint.of("index"))
            OverlayStore(self._connection, self._state, model).put(file, batch.blobs)
            overlay_db.record_embedded(self._connection, model.id, dimensions, len(vectors), seconds)
        tally.embedded += len(vectors)
        tally.reused += len(keys) - len(vectors)


def _first(new: _Vector | None, old: _Vector | None) -> _Vector:
    """Return the first vector that is not None."""
    vector = new if new is not None else old
    assert vector is not None
    return vector


def embed_chain(
    view: View,
    state: StateDir,
    settings: Settings,
    *,
    full: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[EmbeddingReport, ...]:
    """Complete the vectors of each model in the chain, in turn; a failing one does not stop the next.

    Args:
        full: discard these models' vectors and start over.
        progress: called with (model, chunks done, chunks to do).

    Raises:
        IndexLockedError: if another process is embedding.
        IndexMissingError: if nothing was indexed yet.
    """
    chain = settings.chain
    with _alone(state), closing(state.open_for_reading()) as connection, store_errors(state.database, INDEX):
        agree(state, map(place_of, chain))
        if full:
            with write_lock(state.lock, settings.lock_timeout_seconds, INDEX), transaction(connection):
                _drop(connection, lambda row: row.fingerprint in set(map(fingerprint_of, chain)))
        builder = OverlayBuilder(view, state, connection, settings)
        reports = []
        for model in chain:
            with closing(open_model(model)) as embedder:
                tell = partial(progress, embedder.name) if progress is not None else None
                reports.append(builder.run(embedder, model, tell))
        with write_lock(state.lock, settings.lock_timeout_seconds, INDEX), transaction(connection):
            _drop_previous(connection, chain)
        with write_lock(state.lock, settings.lock_timeout_seconds, INDEX):
            state.remove_unlisted(files_of_index(connection, state))
    return tuple(reports)


@contextmanager
def _alone(state: StateDir) -> Iterator[None]:
    """Hold the lock that lets one process embed at a time."""
    with ExitStack() as stack:
        try:
            stack.enter_context(write_lock(state.embedding_lock, 0.0, INDEX))
        except IndexLockedError as error:
            message = "another process is embedding already"
            raise IndexLockedError(message, Hint("see how far it is", "status")) from error
        yield


def _drop_previous(connection: sqlite3.Connection, chain: Sequence[ModelSettings]) -> None:
    """Drop models of earlier settings once the wanted one covers every view."""
    wanted = [fingerprint_of(model) for model in chain]
    models = {row.fingerprint: row for row in overlay_db.read_models(connection)}
    first = models.get(wanted[0]) if wanted else None
    if first is not None and first.dimensions and not overlay_db.is_missing_anywhere(connection, first.id):
        _drop(connection, lambda row: row.fingerprint not in wanted)


def _drop(connection: sqlite3.Connection, chosen: Callable[[ModelRow], bool]) -> None:
    for row in overlay_db.read_models(connection):
        if chosen(row):
            overlay_db.drop_model(connection, row.id)
            overlay_db.count_up(connection)
