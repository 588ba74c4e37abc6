"""Which files make up the state of one project, and what each of them is for."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Set
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cairn.errors import IndexDamagedError
from cairn.hints import Hint
from cairn.storage.history.schema import HISTORY
from cairn.storage.index.schema import INDEX
from cairn.storage.store import Store

HISTORY_LOCK = "history.lock"  # of whoever reads the history
LEARNING_LOCK = "learning.lock"  # of whoever asks earlier states of the project
LOGS = ("-wal", "-shm", "-journal")
# Nothing else in `derived/` is ever deleted.
_DERIVED = (
    r"(?:[0-9a-f]{32}\.(?:seg|hnsw|vec|paths|arr|past)|view-\d+-\d+\.arr|graph-\d+(?:-\d+)?\.arr)"
    r"(?:\.\d+\.(?:tmp|graph))?"
)
# These are written under locks of their own, so whoever holds that of the index may find them half written.
_WRITTEN_APART = re.compile(r".*\.(?:hnsw|vec|past)\.\d+\.tmp")
_WRITING_SECONDS = 60.0  # longer than two pieces of such a file are apart
_PARTS = {
    ".seg": "segments",
    ".arr": "views",
    ".paths": "views",
    ".vec": "overlays",
    ".hnsw": "graphs",
    ".past": "history",
}


@lru_cache(maxsize=256)  # every question asks
def _below(folder: Path, name: str) -> Path:
    return folder / name


def is_derived(name: str) -> bool:
    """Tell whether a file in `derived/` has a name of ours."""
    return re.fullmatch(_DERIVED, name) is not None


class StateFiles(NamedTuple):
    """Paths of the files that make up one project's state.

    Attributes:
        path: the folder that holds them.
        is_in_project: whether that is in a project, which is never made, rather than where somebody wants it.
    """

    path: Path
    is_in_project: bool = False

    def file_of(self, store: Store) -> Path:
        """The database of a store."""
        return _below(self.path, store.file_name)

    @property
    def database(self) -> Path:
        """The manifest of the index, which says what all the other files are."""
        return self.file_of(INDEX)

    @property
    def lock(self) -> Path:
        """The file a writer locks."""
        return self.path / "index.lock"

    @property
    def last_error(self) -> Path:
        """Why the last run failed, as JSON; not there when it did not."""
        return self.path / "last-error.json"

    @property
    def derived(self) -> Path:
        """The folder of files that can be rebuilt."""
        return _below(self.path, "derived")

    def segment(self, name: str) -> Path:
        """The file of a segment."""
        return self._file(name, "seg")

    def neighbours(self, name: str) -> Path:
        """The file of a segment's graph of near vectors; most segments have none."""
        return self._file(name, "hnsw")

    @property
    def neighbours_lock(self) -> Path:
        """The file that whoever builds graphs locks."""
        return self.path / "neighbours.lock"

    def overlay(self, name: str) -> Path:
        """The file of vectors of another model."""
        return self._file(name, "vec")

    @property
    def embedding_lock(self) -> Path:
        """The file that whoever embeds with another model locks."""
        return self.path / "embedding.lock"

    def locks(self) -> tuple[Path, ...]:
        """The files that are locked, each by who does one kind of work."""
        others = (self.path / name for name in (HISTORY_LOCK, LEARNING_LOCK, "seal.lock"))
        return self.lock, self.embedding_lock, self.neighbours_lock, *others

    def logs(self) -> tuple[Path, ...]:
        """The files that SQLite keeps beside the database."""
        return tuple(Path(f"{self.database}{suffix}") for suffix in LOGS)

    @property
    def embedding_log(self) -> Path:
        """What the last run in the background said."""
        return self.path / "embedding.log"

    def layout(self, name: str) -> Path:
        """The file of what follows from the paths of a view, which all views with the same paths share."""
        return self._file(name, "paths")

    def view(self, name: str) -> Path:
        """The file of a view's arrays in one generation."""
        return self._file(name, "arr")

    def _file(self, name: str, kind: str) -> Path:
        """Return a derived file.

        Raises:
            IndexDamagedError: if the name is none that was given, such as one that leads out of the folder.
        """
        if not (name.isascii() and name.isalnum()):
            raise IndexDamagedError(f"{self.database} names a file that cannot be: {name[:80]!r}", Hint.of("index"))
        return self.derived / f"{name}.{kind}"

    def graph(self, view_id: int) -> Path:
        """The file of a view's symbol graph; it may be missing, or older than the view."""
        return self.derived / f"graph-{view_id}.arr"

    def disk_bytes(self) -> int:
        """Return the size of all files in the folder."""
        return sum(self.sizes().values())

    def sizes(self) -> dict[str, int]:
        """Return how many bytes the files in the folder take, by what they are for."""
        sizes = dict.fromkeys(("database", *_PARTS.values(), "other"), 0)
        for folder, _, names in os.walk(self.path):
            for name in names:
                kind = _PARTS.get(os.path.splitext(name)[1], "other")
                part = "database" if name.startswith(INDEX.file_name) else kind
                part = "history" if name.startswith(HISTORY.file_name) else part
                with suppress(OSError):  # it went meanwhile
                    sizes[part] += os.lstat(os.path.join(folder, name)).st_size
        return sizes

    def derived_files(self) -> Iterator[Path]:
        """Yield all in `derived/` that has a name of ours."""
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(self.derived) as entries:
            yield from (Path(entry.path) for entry in entries if is_derived(entry.name))


def unlisted(state: StateFiles, keep: Set[Path]) -> list[Path]:
    """Return the derived files that are none of these, without those that somebody may be writing right now."""
    return [path for path in state.derived_files() if path not in keep and not _may_be_unfinished(path)]


def _may_be_unfinished(file: Path) -> bool:
    """Tell whether somebody may be writing a file who does not hold the lock of the index."""
    if not _WRITTEN_APART.fullmatch(file.name):
        return False
    try:
        return abs(time.time() - file.stat().st_mtime) < _WRITING_SECONDS
    except OSError:  # it has its own name by now
        return True
