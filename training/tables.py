"""The token table as training handles it: float32 vectors by piece, read from and written to the run-time's files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.embedding.static import StaticModel

ARRAYS = ("pieces", "rows", "scales")
MAX_TOTAL_BYTES = 16_000_000

Floats = npt.NDArray[np.float32]


class Table(NamedTuple):
    """Shapes: pieces (n_pieces,), fixed-width bytes, sorted; vectors (n_pieces, dimensions)."""

    pieces: npt.NDArray[np.bytes_]
    vectors: Floats

    def splitter(self) -> StaticModel:
        """Return a model that splits words by this table's pieces; its vectors mean nothing."""
        n_pieces = len(self.pieces)
        return StaticModel(self.pieces, np.zeros((n_pieces, 1), np.int8), np.ones(n_pieces, np.float32), "")


def make_table(vectors: Mapping[str, Floats]) -> Table:
    """Return the table of the pieces in a mapping."""
    ordered = sorted((name.encode(), vector) for name, vector in vectors.items())
    return Table(np.array([name for name, _ in ordered]), np.array([vector for _, vector in ordered], np.float32))


def load_table(folder: Path) -> Table:
    """Read a table in the run-time's format."""
    pieces, rows, scales = (np.load(folder / f"static_{name}.npy") for name in ARRAYS)
    return Table(pieces, rows.astype(np.float32) * scales[:, None])


def quantise(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return int8 rows and one scale per row, so that `rows * scales` is near `vectors`.

    The lengths differ by a factor of several hundred, so one scale for all would leave frequent pieces no precision.
    """
    scales = np.abs(vectors).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def save_table(table: Table, out: Path, about: Mapping[str, object]) -> dict[str, object]:
    """Write the run-time's files and return their description, `about` included.

    Raises:
        SystemExit: if they are larger than may be shipped.
    """
    rows, scales = quantise(table.vectors)
    out.mkdir(parents=True, exist_ok=True)
    content = blake2b(digest_size=8)
    total = 0
    for name, array in zip(ARRAYS, (table.pieces, rows, scales), strict=True):
        path = out / f"static_{name}.npy"
        np.save(path, array)
        content.update(path.read_bytes())
        total += path.stat().st_size
    if total > MAX_TOTAL_BYTES:
        raise SystemExit(f"{total} bytes, more than the {MAX_TOTAL_BYTES} that may be shipped")
    errors = _cosine_errors(table.vectors, rows * scales[:, None])
    description: dict[str, object] = {
        "fingerprint": content.hexdigest(),
        **about,
        "dimensions": rows.shape[1],
        "pieces": len(table.pieces),
        "bytes": total,
        "int8_cosine_error": {"mean": round(float(errors.mean()), 6), "max": round(float(errors.max()), 6)},
    }
    (out / "static.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    return description


def _cosine_errors(a: Floats, b: Floats) -> npt.NDArray[np.float64]:
    """Return 1 - cosine of each row of `a` with its row of `b`."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return 1 - (x * y).sum(axis=1) / np.maximum(np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1), 1e-12)
