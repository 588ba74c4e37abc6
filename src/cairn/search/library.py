"""What an answer needs of an opened project, and the files from which hits are shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from cairn.answers import Coverage
from cairn.embedding.static import StaticModel
from cairn.index.snapshot import Snapshot
from cairn.search.hits import FileReader, FileText
from cairn.search.past import PastOfView
from cairn.storage.index import view_db

if TYPE_CHECKING:
    from cairn.graph.graph import Graph
    from cairn.search.meaning import Meanings


class Library(NamedTuple):
    """All that an answer needs of an opened project.

    `open_graph` returns the symbol graph of the same snapshot; it is None for a revision that is not checked out.
    """

    snapshot: Snapshot
    connection: sqlite3.Connection
    reader: FileReader
    model: StaticModel
    open_graph: Callable[[], Graph] | None
    meanings: Meanings | None = None  # None: only the bundled model is configured
    past: PastOfView | None = None  # None: no history is known


def coverage_of(snapshot: Snapshot) -> Coverage:
    """Return how much of the project an answer from this snapshot covers."""
    n_files = len(snapshot.files.paths)
    return Coverage(n_files, n_files + snapshot.pending, snapshot.pending)


def read_files(library: Library, files: Collection[int]) -> dict[int, FileText]:
    """Return the files by number, as they are on disk now."""
    shown = library.snapshot.files
    paths = {file: shown.paths[file] for file in files}
    blobs = {path: int(shown.blob_ids[file]) for file, path in paths.items()}
    stamps = view_db.file_stamps(library.connection, library.reader.view.name, blobs)
    return {file: library.reader.read(path, stamps.get(path)) for file, path in paths.items()}
