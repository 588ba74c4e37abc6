"""Finds and reads the eligible files of a commit without checking it out."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import NamedTuple, Self

from cairn.errors import PathError
from cairn.source.eligible import UNLISTED
from cairn.source.objects import NOT_FETCHED, SUBMODULE, SYMLINK, ObjectReader, TreeEntry, list_tree
from cairn.source.walk import MAX_FILE_BYTES, Folder, Walk, Walker, sort_walk
from cairn.types import FileStat


class _Place(NamedTuple):
    """Where a file of a commit is: its repository and object id."""

    repository: Path
    object_id: bytes
    size: int


class CommitFiles:
    """Lists and reads the files of one commit below a folder of a checkout.

    Files are as git stores them. Filters are not run, so a pointer of git LFS stays a pointer. Submodules are read from
    their own repositories if these are checked out and have the commit. Threads may share this.

    Args:
        root: the folder; paths are relative to it.
        commit: full hash.
        max_file_bytes: larger files are skipped.
    """

    def __init__(self, root: Path, commit: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self.commit = commit
        self._root = root
        self._max_file_bytes = max_file_bytes
        self._places: dict[str, _Place] | None = None
        self._entries: list[TreeEntry] = []
        self._problems: dict[str, str] = {}
        self._readers: dict[Path, ObjectReader] = {}
        self._lock = RLock()  # guards all of the above, since a process answers one question at a time

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the reading processes; reading again starts others."""
        with self._lock:
            for reader in self._readers.values():
                reader.close()
            self._readers.clear()

    def walk(self) -> Walk:
        """Find the eligible files, by the same rules as in a checkout.

        The beginning of a file's object id, which changes with its content, serves as its time.

        Raises:
            PathError: if git cannot read the commit.
        """
        self._list()
        walker = _CommitWalker(self._root, self._max_file_bytes, self)
        walker.add_entries(self._entries, self._problems)
        return sort_walk(walker.files, walker.skipped)

    def object_ids(self) -> dict[str, bytes]:
        """Return {path: object id} of all regular files."""
        return {path: place.object_id for path, place in self._list().items()}

    def stamp(self, path: str) -> tuple[int, int]:
        """Return the (size, time) of a file as `walk` gives them.

        Raises:
            FileNotFoundError: if the commit has no such file.
        """
        place = self._place(path)
        return place.size, _time_of(place.object_id)

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            OSError: FileNotFoundError if the commit has no such file, or its object is not in the repository, as in a
                partial clone; EFBIG if it is too large.
        """
        place = self._place(path)
        if place.size > self._max_file_bytes:
            raise OSError(errno.EFBIG, f"larger than {self._max_file_bytes:,} bytes", path)
        with self._lock:
            if place.repository not in self._readers:
                self._readers[place.repository] = ObjectReader(place.repository)
            return self._readers[place.repository].read(place.object_id, self._max_file_bytes)

    def _place(self, path: str) -> _Place:
        try:
            return self._list()[path]
        except (KeyError, PathError) as error:  # PathError: git has dropped the commit
            raise FileNotFoundError(errno.ENOENT, f"not in commit {self.commit[:12]}", path) from error

    def _list(self) -> dict[str, _Place]:
        with self._lock:
            if self._places is None:
                self._places = self._find_places()
            return self._places

    def _find_places(self) -> dict[str, _Place]:
        places: dict[str, _Place] = {}
        pending = [(self._root, self.commit, "")]
        while pending:
            folder, commit, base = pending.pop()
            try:
                entries = list_tree(folder, commit)
            except PathError as error:
                if not base:
                    raise
                self._problems[base.rstrip("/")] = f"submodule: {error}"
                continue
            pending += self._add_entries(folder, entries, base, places)
        return places

    def _add_entries(
        self, folder: Path, entries: list[TreeEntry], base: str, places: dict[str, _Place]
    ) -> list[tuple[Path, str, str]]:
        """Add the files of a tree; return the submodules to look into: repository, commit, and path with `/`."""
        inner = []
        for entry in entries:
            path = base + entry.path
            if entry.mode == SUBMODULE:
                if problem := self._problem_of_submodule(path):
                    self._problems[path] = problem
                else:
                    inner.append((self._root / path, entry.object_id.hex(), f"{path}/"))
                continue
            self._entries.append(entry._replace(path=path))
            if entry.mode != SYMLINK:
                places[path] = _Place(folder, entry.object_id, entry.size)
        return inner

    def _problem_of_submodule(self, path: str) -> str:
        top = os.path.join(self._root, path)
        if not os.path.lexists(os.path.join(top, ".git")):
            return "submodule that is not checked out"
        try:
            real = os.path.realpath(top)
        except OSError:  # a link that was deleted meanwhile
            return "submodule that is not checked out"
        return "" if real == os.path.join(os.path.realpath(self._root), path) else "submodule behind a symlink"


class _CommitWalker(Walker):
    """Collects the eligible files of a commit."""

    def __init__(self, root: Path, max_file_bytes: int, commit: CommitFiles) -> None:
        super().__init__(root, max_file_bytes)
        self._commit = commit

    def add_entries(self, entries: list[TreeEntry], problems: dict[str, str]) -> None:
        """Add the files; `problems` are unreadable paths with the reason."""
        self._listed = {entry.path for entry in entries}
        folders = {"": self._add_rules("", Folder())}
        for entry in entries:
            parent, _, name = entry.path.rpartition("/")
            folder = folders.get(parent) or self._enter_all(parent, folders)
            if folder.is_unlisted or name in UNLISTED:
                continue
            reason = folder.reason
            if not reason and entry.mode == SYMLINK:
                reason = "symlink"
            if not reason and entry.size == NOT_FETCHED:
                reason = "never fetched: the clone is partial"
            if reason := reason or self._reason_by_rules(entry.path, folder, entry.size):
                self._skip(entry.path, reason)
            else:
                self.files.append(FileStat(entry.path, entry.size, _time_of(entry.object_id)))
        for path, reason in problems.items():
            self._skip(path, self._enter_all(path, folders).reason or reason)

    def _is_link(self, path: str) -> bool:
        return False  # a commit has no files below a link

    def _read(self, path: str) -> bytes:
        return self._commit.read(path)


def _time_of(object_id: bytes) -> int:
    """Return 63 bits of an object id, to use in place of a modification time."""
    return int.from_bytes(object_id[:8], "big") >> 1
