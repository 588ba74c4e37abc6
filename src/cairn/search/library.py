"""What an answer needs of an opened project, and the files from which hits are shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from cairn.answers import Coverage
from cairn.embedding.static import StaticModel
from cairn.index.snapshot import Snapshot
from cairn.search.exact import LineMatch
from cairn.search.hits import FileReader, FileText
from cairn.search.past import PastOfView
from cairn.search.shown import ShownCode
from cairn.search.tuning import SHIPPED, Tuning

if TYPE_CHECKING:
    from cairn.graph.graph import Graph
    from cairn.search.meaning import Meanings

MAX_TEXTS = 1_000  # files that are kept for one answer
_BLOCK = 1024  # bytes in which line feeds are counted, before the lines of one are looked at


class Library(NamedTuple):
    """All that an answer needs of an opened project.

    `open_graph` returns the symbol graph of the same snapshot; it is None for a revision that is not checked out.
    `repository` returns the name of the repository that the project was cloned from, empty if that is not known.
    `helpers` is how many processes may parse for one answer. `texts` are the files that were read for it.
    """

    snapshot: Snapshot
    connection: sqlite3.Connection
    reader: FileReader
    shown: ShownCode
    model: StaticModel
    open_graph: Callable[[], Graph] | None
    meanings: Meanings | None = None  # None: only the bundled model is configured
    past: PastOfView | None = None  # None: no history is known
    tuning: Tuning = SHIPPED
    repository: Callable[[], str] = str
    helpers: int = 1
    texts: dict[int, FileText] | None = None  # None: none is kept

    def for_question(self, text: str) -> Library:
        """Return the library with the tuning that answers a question."""
        return self if self.tuning.before is None else self._replace(tuning=self.tuning.for_question(text))


def coverage_of(snapshot: Snapshot) -> Coverage:
    """Return how much of the project an answer from this snapshot covers."""
    n_files = len(snapshot.files.paths)
    return Coverage(n_files, n_files + snapshot.pending, snapshot.pending)


def read_files(library: Library, files: Collection[int]) -> dict[int, FileText]:
    """Return the files by number, as they are on disk now, or were when one was first read for this answer."""
    known = library.texts
    if known is None:
        return _read_anew(library, files)
    new = [file for file in files if file not in known]
    if new and len(known) + len(new) > MAX_TEXTS:
        known.clear()
        new = list(files)
    if new:
        known.update(_read_anew(library, new))
    return {file: known[file] for file in files}


def _read_anew(library: Library, files: Collection[int]) -> dict[int, FileText]:
    of_view, read = library.snapshot.files, library.reader.read
    paths, blob_ids = of_view.paths, of_view.blob_ids
    texts: dict[int, FileText] = {}
    for file, stamp in zip(files, of_view.stamps[list(files)].tolist(), strict=True):
        text = read(paths[file], library.shown.stamp(paths[file]) or tuple(stamp))
        if not text.stale:
            texts[file] = text
    if len(texts) < len(files):
        unknown = {paths[file]: file for file in files if file not in texts}
        blobs = {path: int(blob_ids[file]) for path, file in unknown.items()}
        stamps = library.shown.read_stamps(library.connection, library.reader.view.name, blobs)
        texts |= {file: read(path, stamps.get(path)) for path, file in unknown.items()}
    return {file: texts[file] for file in files}


def line_at(library: Library, file: int, number: int) -> LineMatch | None:
    """Return a line of a file as it is now, None if it is shorter."""
    return line_in(file, read_files(library, [file])[file].data, number)


def line_in(file: int, data: bytes, number: int) -> LineMatch | None:
    """Return a line of a file whose text is given, None if it is shorter."""
    start, missing = 0, number - 1  # line feeds before it
    while missing > (count := data.count(b"\n", start, start + _BLOCK)) and start + _BLOCK < len(data):
        start, missing = start + _BLOCK, missing - count
    for _ in range(missing):
        if not (start := data.find(b"\n", start) + 1):
            return None
    end = data.find(b"\n", start)
    return LineMatch(file, number, number, start, data[start : len(data) if end < 0 else end])
