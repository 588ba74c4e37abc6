"""Vectors of another model than the bundled one: written in batches, merged, and laid over a snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError
from cairn.index.plan import has_size, worth_merging
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir, new_name
from cairn.index.vectors import Vectors
from cairn.storage.arrays import are_bounds, check_fits, load_arrays, save_arrays
from cairn.storage.index import overlay_db
from cairn.storage.index.overlay_db import MissingBlob, ModelRow, OverlayRow

# A model's files are merged when there are more than this many, except large ones; see `worth_merging`.
MAX_OVERLAYS = 16
_LAYOUT = {"blob_ids": ("i8", 1), "blob_start": ("i8", 1), "keys": ("u8", 1), "vectors": ("i1", 2)}


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """Rows are chunks; blob `blob_ids[i]` has rows `blob_start[i]:blob_start[i + 1]`, in reading order.

    Shapes: blob_ids (n_blobs,), blob_start (n_blobs + 1,), keys (n_rows,) the texts' numbers (see `text_key`), vectors
    (n_rows, dimensions), unit length times 127.
    """

    blob_ids: npt.NDArray[np.int64]
    blob_start: npt.NDArray[np.int64]
    keys: npt.NDArray[np.uint64]
    vectors: npt.NDArray[np.int8]

    def save(self, path: Path) -> int:
        """Write the file atomically and return its size in bytes."""
        names = ("blob_ids", "blob_start", "keys", "vectors")
        return save_arrays(path, {name: getattr(self, name) for name in names})

    @classmethod
    def load(cls, path: Path) -> OverlayFile:
        """Map a file.

        Raises:
            DerivedFileError: if it is missing, damaged, or inconsistent.
        """
        # Accept files from before names were recorded: somebody may have paid for their vectors.
        arrays = load_arrays(path, _LAYOUT, nameless=True)
        found = cls(arrays["blob_ids"], arrays["blob_start"], arrays["keys"], arrays["vectors"])
        check_fits(
            path,
            blobs=are_bounds(found.blob_start, len(found.blob_ids), len(found.keys)),
            vectors=len(found.vectors) == len(found.keys),
        )
        return found

    def only(self, keep: Collection[int]) -> OverlayFile:
        """Return the file with only the blobs in `keep`."""
        chosen = np.flatnonzero(np.isin(self.blob_ids, list(keep)))
        counts = np.diff(self.blob_start)[chosen]
        blob_start = np.r_[0, np.cumsum(counts)].astype(np.int64)
        rows = np.repeat(self.blob_start[:-1][chosen] - blob_start[:-1], counts) + np.arange(blob_start[-1])
        return OverlayFile(self.blob_ids[chosen], blob_start, self.keys[rows], self.vectors[rows])


def concatenate(files: Sequence[OverlayFile]) -> OverlayFile:
    """Return one file with the blobs of all of them."""
    bases = np.cumsum([0, *(len(file.keys) for file in files)])
    starts = [file.blob_start[:-1] + base for file, base in zip(files, bases, strict=False)]
    return OverlayFile(
        np.concatenate([file.blob_ids for file in files]),
        np.concatenate([*starts, bases[-1:]]).astype(np.int64),
        np.concatenate([file.keys for file in files]),
        np.concatenate([file.vectors for file in files]),
    )


class Overlay:
    """A model's vectors for a snapshot. `covered` and `total` count files; `vectors` is None until all are covered."""

    def __init__(self, covered: int, total: int, vectors: Vectors | None) -> None:
        self.covered = covered
        self.total = total
        self.vectors = vectors


def open_overlay(connection: sqlite3.Connection, state: StateDir, model: ModelRow, snapshot: Snapshot) -> Overlay:
    """Lay a model's vectors over a snapshot; lost or damaged files count as missing.

    The caller holds a read transaction of the snapshot's generation, so that blob ids agree.
    """
    blobs: dict[int, list[int]] = {}
    for overlay_id, blob_id in overlay_db.blobs_with_vectors(connection, model.id):
        blobs.setdefault(overlay_id, []).append(blob_id)
    counts = np.diff(snapshot.blob_rows)
    first = np.full(len(snapshot.blob_ids), -1, dtype=np.int64)  # first stored row of each blob
    first[counts == 0] = 0
    parts: list[npt.NDArray[np.int8]] = []
    base = 0
    for row in overlay_db.read_overlays(connection, model.id):
        try:
            file = OverlayFile.load(state.overlay(row.name))
        except DerivedFileError:
            continue  # the next run embeds its texts again
        mine = np.flatnonzero(np.isin(file.blob_ids, blobs.get(row.id, [])))
        place = snapshot.places_of_blobs(file.blob_ids[mine])
        fits = (place >= 0) & (np.diff(file.blob_start)[mine] == counts[place])
        first[place[fits]] = file.blob_start[:-1][mine[fits]] + base
        parts.append(file.vectors)
        base += len(file.keys)
    shown = snapshot.file_of_blob >= 0
    covered, total = _count_files(snapshot, shown & (first >= 0)), len(snapshot.files.paths)
    if (shown & (first < 0)).any() or not model.dimensions:
        return Overlay(covered, total, None)
    places = np.repeat(first - snapshot.blob_rows[:-1], counts) + np.arange(snapshot.n_rows)
    places[np.repeat(first, counts) < 0] = -1
    return Overlay(covered, total, Vectors(parts, model.dimensions, places))


def _count_files(snapshot: Snapshot, blobs: npt.NDArray[np.bool_]) -> int:
    """Return how many of the view's files show one of the blobs."""
    return int(np.isin(snapshot.files.blob_ids, snapshot.blob_ids[blobs]).sum()) + _without_chunks(snapshot)


def _without_chunks(snapshot: Snapshot) -> int:
    """Return how many files show a blob without chunks, which no segment holds."""
    return int((~np.isin(snapshot.files.blob_ids, snapshot.blob_ids)).sum())


class KnownVectors:
    """The vectors of texts that were embedded before, in whatever blob."""

    def __init__(self, files: Sequence[OverlayFile], dimensions: int) -> None:
        keys = np.concatenate([np.zeros(0, np.uint64), *(file.keys for file in files)])
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._files = files
        self._bases = np.cumsum([0, *(len(file.keys) for file in files)])
        self.dimensions = dimensions

    def find(self, key: int) -> npt.NDArray[np.int8] | None:
        """Return the vector of a text, None if there is none."""
        place = int(np.searchsorted(self._keys, np.uint64(key)))
        if place == len(self._keys) or int(self._keys[place]) != key:
            return None
        row = int(self._order[place])
        number = int(np.searchsorted(self._bases, row, side="right")) - 1
        vector: npt.NDArray[np.int8] = self._files[number].vectors[row - int(self._bases[number])]
        return vector


class OverlayStore:
    """Writes overlays. All but `all_vectors` runs inside a write transaction of the caller, who holds the lock."""

    def __init__(self, connection: sqlite3.Connection, state: StateDir, model: ModelRow) -> None:
        self._connection = connection
        self._state = state
        self._model = model

    def forget_lost(self) -> None:
        """Forget files that are missing, cut short or damaged; their texts are embedded again."""
        rows = overlay_db.read_overlays(self._connection, self._model.id)
        lost = [row.id for row in rows if not self._is_whole(row)]
        overlay_db.drop_overlays(self._connection, lost)
        if lost:
            overlay_db.count_up(self._connection)

    def all_vectors(self) -> KnownVectors:
        """Return all vectors of the model, by text."""
        rows = overlay_db.read_overlays(self._connection, self._model.id)
        return KnownVectors([OverlayFile.load(self._state.overlay(row.name)) for row in rows], self._model.dimensions)

    def put(self, file: OverlayFile, blobs: Iterable[MissingBlob]) -> None:
        """Add a batch, except for blobs that were dropped in the meantime, and merge files if there are many."""
        there = overlay_db.still_there(self._connection, blobs)
        if not there:
            return
        self._write(file if len(there) == len(file.blob_ids) else file.only(there), there)
        rows = overlay_db.read_overlays(self._connection, self._model.id)
        if len(rows) > MAX_OVERLAYS:
            self._merge(worth_merging(rows), keep_texts=True)
        overlay_db.count_up(self._connection)

    def collect(self) -> None:
        """Drop vectors of deleted blobs once they outweigh the rest; texts that come back are embedded again."""
        rows = overlay_db.read_overlays(self._connection, self._model.id)
        ids = {blob_id for _, blob_id in overlay_db.blobs_with_vectors(self._connection, self._model.id)}
        files = [OverlayFile.load(self._state.overlay(row.name)) for row in rows]
        n_live = sum(int(np.diff(file.blob_start)[np.isin(file.blob_ids, list(ids))].sum()) for file in files)
        if sum(row.n_rows for row in rows) > 2 * n_live:
            self._merge(rows, keep_texts=False)
            overlay_db.count_up(self._connection)

    def _write(self, file: OverlayFile, blob_ids: Iterable[int]) -> None:
        name = new_name()
        n_bytes = file.save(self._state.overlay(name))
        overlay_db.put_overlay(self._connection, self._model.id, name, len(file.keys), n_bytes, blob_ids)

    def _merge(self, rows: Sequence[OverlayRow], *, keep_texts: bool) -> None:
        """Merge some files into one. Deleted blobs become blob 0, so that their texts can still be found."""
        own: dict[int, set[int]] = {row.id: set() for row in rows}
        for overlay_id, blob_id in overlay_db.blobs_with_vectors(self._connection, self._model.id):
            if overlay_id in own:
                own[overlay_id].add(blob_id)
        files = []
        for row in rows:
            file = OverlayFile.load(self._state.overlay(row.name))
            if not keep_texts:
                files.append(file.only(own[row.id]))
                continue
            gone = ~np.isin(file.blob_ids, list(own[row.id]))
            files.append(OverlayFile(np.where(gone, 0, file.blob_ids), file.blob_start, file.keys, file.vectors))
        overlay_db.drop_overlays(self._connection, [row.id for row in rows])
        self._write(concatenate(files), set().union(*own.values()))

    def _is_whole(self, row: OverlayRow) -> bool:
        path = self._state.overlay(row.name)
        if not has_size(path, row.n_bytes):
            return False
        try:
            OverlayFile.load(path)
        except DerivedFileError:
            return False
        return True
