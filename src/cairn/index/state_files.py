"""Names the files that make up the state of one project, and says what each is for."""

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

HISTORY_LOCK = "history.lock"  # held while reading the history
LEARNING_LOCK = "learning.lock"  # held while asking earlier states of the project
LOGS = ("-wal", "-shm", "-journal")
# Only files with these names are ever deleted from `derived/`.
_DERIVED = (
    r"(?:[0-9a-f]{32}\.(?:seg|hnsw|vec|paths|arr|past)|view-\d+-\d+\.arr|graph-\d+(?:-\d+)?\.arr)"
    r"(?:\.\d+\.(?:tmp|graph))?"
)
# These have their own locks, so the holder of the index's lock may find them half written.
_WRITTEN_APART = re.compile(r".*\.(?:hnsw|vec|past)\.\d+\.tmp")
_WRITING_SECONDS = 60.0  # longer than any pause in writing such a file
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
    """Tell whether a file in `derived/` has one of our names."""
    return re.fullmatch(_DERIVED, name) is not None


class StateFiles(NamedTuple):
    """The paths of one project's state.

    Attributes:
        path: the state folder.
        is_in_project: whether that is inside the project, whose folder is never created, and not a place of the user's.
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
        """The file that a writer locks."""
        return self.path / "index.lock"

    @property
    def last_error(self) -> Path:
        """Why the last run failed, as JSON; missing if it did not."""
        return self.path / "last-error.json"

    @property
    def derived(self) -> Path:
        """The folder of files that can be rebuilt."""
        return _below(self.path, "derived")

    def segment(self, name: str) -> Path:
        """The file of a segment."""
        return self._file(name, "seg")

    def neighbours(self, name: str) -> Path:
        """The file of a segment's neighbour graph; most segments have none."""
        return self._file(name, "hnsw")

    @property
    def neighbours_lock(self) -> Path:
        """The file to lock while building graphs."""
        return self.path / "neighbours.lock"

    def overlay(self, name: str) -> Path:
        """A file of another model's vectors."""
        return self._file(name, "vec")

    @property
    def embedding_lock(self) -> Path:
        """The file to lock while embedding with another model."""
        return self.path / "embedding.lock"

    def locks(self) -> tuple[Path, ...]:
        """The lock files, one for each kind of work."""
        others = (self.path / name for name in (HISTORY_LOCK, LEARNING_LOCK, "seal.lock"))
        return self.lock, self.embedding_lock, self.neighbours_lock, *others

    def logs(self) -> tuple[Path, ...]:
        """The files that SQLite keeps beside the database."""
        return tuple(Path(f"{self.database}{suffix}") for suffix in LOGS)

    @property
    def embedding_log(self) -> Path:
        """The output of the last background run."""
        return self.path / "embedding.log"

    def layout(self, name: str) -> Path:
        """The file of what is derived from a view's paths, shared by all views with the same paths."""
        return self._file(name, "paths")

    def view(self, name: str) -> Path:
        """The file of a view's arrays in one generation."""
        return self._file(name, "arr")

    def _file(self, name: str, kind: str) -> Path:
        """Return a derived file.

        Raises:
            IndexDamagedError: if it is not a name of ours, such as one that leads out of the folder.
        """
        if not (name.isascii() and name.isalnum()):
            raise IndexDamagedError(f"{self.database} names a file that cannot be: {name[:80]!r}", Hint.of("index"))
        return self.derived / f"{name}.{kind}"

    def graph(self, view_id: int) -> Path:
        """The file of a view's symbol graph; it may be missing or outdated."""
        return self.derived / f"graph-{view_id}.arr"

    def disk_bytes(self) -> int:
        """Return the size of all files in the folder."""
        return sum(self.sizes().values())

    def sizes(self) -> dict[str, int]:
        """Return the bytes that the files in the folder take, by purpose."""
        sizes = dict.fromkeys(("database", *_PARTS.values(), "other"), 0)
        for folder, _, names in os.walk(self.path):
            for name in names:
                kind = _PARTS.get(os.path.splitext(name)[1], "other")
                part = "database" if name.startswith(INDEX.file_name) else kind
                part = "history" if name.startswith(HISTORY.file_name) else part
                with suppress(OSError):  # deleted meanwhile
                    sizes[part] += os.lstat(os.path.join(folder, name)).st_size
        return sizes

    def derived_files(self) -> Iterator[Path]:
        """Yield all files in `derived/` with a name of ours."""
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(self.derived) as entries:
            yield from (Path(entry.path) for entry in entries if is_derived(entry.name))


def unlisted(state: StateFiles, keep: Set[Path]) -> list[Path]:
    """Return the derived files not among `listed`, except those that may be being written right now."""
    return [path for path in state.derived_files() if path not in keep and not _may_be_unfinished(path)]


def _may_be_unfinished(file: Path) -> bool:
    """Tell whether someone who does not hold the index's lock may be writing a file."""
    if not _WRITTEN_APART.fullmatch(file.name):
        return False
    try:
        return abs(time.time() - file.stat().st_mtime) < _WRITING_SECONDS
    except OSError:  # it has been renamed into place
        return True
