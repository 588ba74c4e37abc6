"""All SQL of overlays: the other models, the files with their vectors, and the blobs that these cover."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cairn.storage.index import meta_db
from cairn.storage.index.rows import path_of

_VERSION = "overlay_version"


class ModelRow(NamedTuple):
    """A model other than the bundled one.

    How to ask it is not stored here; see `cairn.index.models`. `n_embedded` chunks took `seconds`. `error` is the last
    failure since the model last answered, and `error_at` its time in seconds since the epoch.
    """

    id: int
    fingerprint: str
    name: str
    dimensions: int
    n_embedded: int
    seconds: float
    error: str
    error_at: float


class OverlayRow(NamedTuple):
    """One derived file with vectors of a model."""

    id: int
    model_id: int
    name: str
    n_rows: int
    n_bytes: int


class MissingBlob(NamedTuple):
    """A blob of a view that lacks a model's vectors; `path` is the first that shows it, `size` is in bytes."""

    id: int
    hash: bytes
    language: str
    n_chunks: int
    size: int
    path: str


def version(connection: sqlite3.Connection) -> int:
    """Return a number that changes with every change of the overlays."""
    return int(meta_db.read_meta(connection).get(_VERSION, "0"))


def count_up(connection: sqlite3.Connection) -> None:
    """Increment the number that `version` returns."""
    meta_db.write_meta(connection, {_VERSION: str(version(connection) + 1)})


def read_models(connection: sqlite3.Connection) -> list[ModelRow]:
    """Return all models, newest first."""
    return [ModelRow(*row) for row in connection.execute("SELECT * FROM model ORDER BY id DESC")]


def ensure_model(connection: sqlite3.Connection, fingerprint: str, name: str) -> ModelRow:
    """Return the model with this fingerprint, adding it if it is new; its name is updated."""
    connection.execute(
        """INSERT INTO model (fingerprint, name) VALUES (?, ?)
           ON CONFLICT (fingerprint) DO UPDATE SET name = excluded.name""",
        (fingerprint, name),
    )
    return ModelRow(*connection.execute("SELECT * FROM model WHERE fingerprint = ?", (fingerprint,)).fetchone())


def record_error(connection: sqlite3.Connection, model_id: int, error: str, at: float) -> None:
    """Record why a model did not answer; empty if it did."""
    connection.execute("UPDATE model SET error = ?, error_at = ? WHERE id = ?", (error, at, model_id))


def record_embedded(
    connection: sqlite3.Connection, model_id: int, dimensions: int, n_chunks: int, seconds: float
) -> None:
    """Add to the count of chunks that a model has embedded, and to the time it took."""
    connection.execute(
        """UPDATE model SET dimensions = ?, n_embedded = n_embedded + ?, seconds = seconds + ?, error = ''
           WHERE id = ?""",
        (dimensions, n_chunks, seconds, model_id),
    )


def drop_model(connection: sqlite3.Connection, model_id: int) -> None:
    """Forget a model; its files become litter."""
    for table in ("overlay_blob", "overlay"):
        connection.execute(f"DELETE FROM {table} WHERE model_id = ?", (model_id,))
    connection.execute("DELETE FROM model WHERE id = ?", (model_id,))


def overlay_names(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all files."""
    return [row[0] for row in connection.execute("SELECT name FROM overlay")]


def read_overlays(connection: sqlite3.Connection, model_id: int) -> list[OverlayRow]:
    """Return the files of a model, oldest first."""
    rows = connection.execute("SELECT * FROM overlay WHERE model_id = ? ORDER BY id", (model_id,))
    return [OverlayRow(*row) for row in rows]


def put_overlay(
    connection: sqlite3.Connection, model_id: int, name: str, n_rows: int, n_bytes: int, blob_ids: Iterable[int]
) -> None:
    """Register a file with the vectors of these blobs."""
    cursor = connection.execute(
        "INSERT INTO overlay (model_id, name, n_rows, n_bytes) VALUES (?, ?, ?, ?)", (model_id, name, n_rows, n_bytes)
    )
    connection.executemany(
        "INSERT OR REPLACE INTO overlay_blob VALUES (?, ?, ?)",
        ((blob_id, model_id, cursor.lastrowid) for blob_id in blob_ids),
    )


def drop_overlays(connection: sqlite3.Connection, overlay_ids: Sequence[int]) -> None:
    """Forget files and the blobs that they cover."""
    for overlay_id in overlay_ids:
        connection.execute("DELETE FROM overlay_blob WHERE overlay_id = ?", (overlay_id,))
        connection.execute("DELETE FROM overlay WHERE id = ?", (overlay_id,))


def blobs_with_vectors(connection: sqlite3.Connection, model_id: int) -> list[tuple[int, int]]:
    """Return (overlay id, blob id) for every blob with a model's vectors."""
    return connection.execute("SELECT overlay_id, blob_id FROM overlay_blob WHERE model_id = ?", (model_id,)).fetchall()


def missing_blobs(connection: sqlite3.Connection, view_id: int, model_id: int) -> list[MissingBlob]:
    """Return the blobs of a view that have chunks but none of a model's vectors, by path."""
    rows = connection.execute(
        """SELECT blob.id, blob.hash, blob.language, blob.n_chunks, max(file.size), min(file.path) AS path
           FROM file JOIN blob ON blob.id = file.blob_id
           WHERE file.view_id = ? AND blob.n_chunks > 0 AND NOT EXISTS (
               SELECT 1 FROM overlay_blob WHERE overlay_blob.blob_id = blob.id AND overlay_blob.model_id = ?)
           GROUP BY blob.id ORDER BY path""",
        (view_id, model_id),
    )
    return [
        MissingBlob(blob_id, content_hash, language, n_chunks, size, path_of(path))
        for blob_id, content_hash, language, n_chunks, size, path in rows
    ]


def is_missing_anywhere(connection: sqlite3.Connection, model_id: int) -> bool:
    """Tell whether any view shows a blob that has chunks but none of a model's vectors."""
    row = connection.execute(
        """SELECT 1 FROM file JOIN blob ON blob.id = file.blob_id
           WHERE blob.n_chunks > 0 AND NOT EXISTS (
               SELECT 1 FROM overlay_blob WHERE overlay_blob.blob_id = blob.id AND overlay_blob.model_id = ?)
           LIMIT 1""",
        (model_id,),
    ).fetchone()
    return row is not None


def still_there(connection: sqlite3.Connection, blobs: Iterable[MissingBlob]) -> set[int]:
    """Return the ids of the blobs that still have the same content, since ids may be reused."""
    return {
        blob.id
        for blob in blobs
        if connection.execute(
            "SELECT 1 FROM blob WHERE id = ? AND hash = ? AND language = ? AND n_chunks = ?", blob[:4]
        ).fetchone()
    }


def count_covered(connection: sqlite3.Connection, view_id: int, model_id: int) -> int:
    """Return how many chunks of a view, counted per file, have one of a model's vectors."""
    count: int = connection.execute(
        """SELECT coalesce(sum(blob.n_chunks), 0) FROM file JOIN blob ON blob.id = file.blob_id
           JOIN overlay_blob ON overlay_blob.blob_id = blob.id AND overlay_blob.model_id = ?
           WHERE file.view_id = ?""",
        (model_id, view_id),
    ).fetchone()[0]
    return count
