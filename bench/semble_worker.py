"""Runs semble as a benchmark worker, in the Python environment that holds it; started by `systems.py`."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

from semble import SembleIndex
from semble.index.dense import load_model

from worker import serve


class SembleEngine:
    """semble through its Python API, with the model that SEMBLE_MODEL_NAME names."""

    def __init__(self) -> None:
        self._index: Any = None

    def load(self) -> dict[str, Any]:
        """Load the model."""
        model, _ = load_model()
        model.encode(["warm"])
        return {"version": version("semble")}

    def index(self, path: str, state: str) -> dict[str, Any]:
        """Build the index in memory, then write it to `state`, which takes `save_seconds`."""
        self._index = None
        started = time.perf_counter()
        index = SembleIndex.from_path(path)
        built = time.perf_counter()
        index.save(state)
        saved = time.perf_counter()
        self._index = index
        return {
            "seconds": built - started,
            "save_seconds": saved - built,
            "files": len({chunk.file_path for chunk in index.chunks}),
            "chunks": len(index.chunks),
        }

    def search(self, query: str, limit: int) -> dict[str, Any]:
        """Search the folder indexed last."""
        started = time.perf_counter()
        results = self._index.search(query, top_k=limit)
        seconds = time.perf_counter() - started
        hits = [(result.chunk.file_path, result.chunk.start_line, result.chunk.end_line) for result in results]
        return {"hits": hits, "seconds": seconds}


if __name__ == "__main__":
    serve(SembleEngine())
