"""Runs Cairn as a benchmark worker; started by `systems.py`."""

from __future__ import annotations

import time
from typing import Any

import cairn
from cairn.embedding.static import StaticModel
from worker import serve


class CairnEngine:
    """Cairn through its Python API."""

    def __init__(self) -> None:
        self._workspace: cairn.Workspace | None = None

    def load(self) -> dict[str, Any]:
        """Import everything and touch the model."""
        StaticModel.load().word_vectors(["warm"])
        return {"version": cairn.__version__}

    def index(self, path: str, state: str) -> dict[str, Any]:
        """Build or update the index in `state`, on disk when this returns."""
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None
        started = time.perf_counter()
        workspace = cairn.Workspace.open(path, state_dir=state)
        report = workspace.index()
        seconds = time.perf_counter() - started
        self._workspace = workspace
        return {"seconds": seconds, "save_seconds": 0.0, "files": report.files, "chunks": report.chunks}

    def search(self, query: str, limit: int) -> dict[str, Any]:
        """Search the folder indexed last."""
        if self._workspace is None:
            raise RuntimeError("nothing indexed yet")
        started = time.perf_counter()
        answer = self._workspace.search(query, limit=limit)
        seconds = time.perf_counter() - started
        return {"hits": [(hit.path, hit.start_line, hit.end_line) for hit in answer.code], "seconds": seconds}


if __name__ == "__main__":
    serve(CairnEngine())
