"""The sources of a view's files: a checkout on disk, or a commit in git's objects. Imports nothing heavy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cairn.errors import RevisionError
from cairn.source.git import Repository, current_branch, head_revision, printable_name
from cairn.source.plumbing import is_installed
from cairn.source.walk import Walk, read_file, walk
from cairn.source.walk_paths import walk_paths
from cairn.types import FileStat, Skipped

if TYPE_CHECKING:
    from cairn.index.revisions import Revisions, RevisionView
    from cairn.storage.index.view_db import ViewRow

Stamp = tuple[int, int]  # size in bytes, and time in nanoseconds or a commit's substitute for it
# A file read less than this long after it was written may change again without getting a new time.
RACY_NS = 2_000_000_000
# If at least this many files seem changed, git is asked which of them it knows; reading fewer is quicker.
MANY_FILES = 64


class View(Protocol):
    """The files of one checkout or commit, behind one interface."""

    @property
    def name(self) -> str:
        """The view's name in the index."""

    @property
    def branch(self) -> str:
        """The name for readers: the branch, or the first digits of a commit."""

    @property
    def revision(self) -> str:
        """The full hash of the commit whose files these are, empty for a checkout."""

    def walk(self) -> Walk:
        """Find the eligible files."""

    def walk_paths(self, paths: Collection[str]) -> Walk | None:
        """Find which of some files are eligible; None if only `walk` can tell.

        `skipped` covers all files, as of the last `walk`.
        """

    def stamp(self, path: str) -> Stamp:
        """Return a value that changes with the file; OSError if it is gone."""

    def read(self, path: str) -> bytes:
        """Return the content of a file; OSError if it is gone or too large."""

    def is_racy(self, file: FileStat) -> bool:
        """Tell whether a file that is about to be read may still change without a change of its stamp."""

    def object_ids(self, files: Sequence[FileStat]) -> dict[str, bytes]:
        """Return the git objects of files, as far as git knows them and asking is worth it."""

    def close(self) -> None:
        """Release the resources for reading; reading again reopens them."""


class CheckoutView:
    """The files of a folder, as they are on disk.

    Args:
        root: the folder, absolute.
        repository: the checkout that it belongs to, None outside git.
        max_file_bytes: larger files are skipped.
        meanwhile: called while git lists the files.
    """

    revision = ""

    def __init__(
        self,
        root: Path,
        repository: Repository | None,
        max_file_bytes: int,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self._meanwhile = meanwhile
        self.name = os.fsencode(root).decode("utf-8", "backslashreplace")
        self.root = root
        self._repository = repository
        self._max_file_bytes = max_file_bytes
        self._skipped: list[Skipped] | None = None
        self._prefix = f"{root}/"

    @property
    def branch(self) -> str:
        """The branch that is checked out, a short revision when detached, empty outside git."""
        if self._repository is None:
            return ""
        return printable_name(current_branch(self._repository) or (head_revision(self._repository) or "")[:12])

    def walk(self) -> Walk:
        """Find the eligible files."""
        found = walk(
            self.root,
            repository=self._repository,
            max_file_bytes=self._max_file_bytes,
            meanwhile=self._meanwhile,
        )
        self._skipped = found.skipped
        return found

    def walk_paths(self, paths: Collection[str]) -> Walk | None:
        """Find which of some files are eligible; None if only `walk` can tell, or has not run yet."""
        if self._skipped is None:
            return None
        found = walk_paths(self.root, paths, repository=self._repository, max_file_bytes=self._max_file_bytes)
        if found is None:
            return None
        looked_at = frozenset(paths)
        others = (skip for skip in self._skipped if skip.path not in looked_at)
        self._skipped = sorted([*others, *found.skipped], key=attrgetter("path"))
        return Walk(found.files, self._skipped)

    def stamp(self, path: str) -> Stamp:
        """Return size and modification time."""
        status = os.lstat(self._prefix + path)
        return status.st_size, status.st_mtime_ns

    def read(self, path: str) -> bytes:
        """Return the content of a file, as it is now."""
        return read_file(self.root, path, self._max_file_bytes)

    def is_racy(self, file: FileStat) -> bool:
        """Tell whether a file was written so recently that its time proves nothing."""
        return time.time_ns() - file.mtime_ns < RACY_NS

    def object_ids(self, files: Sequence[FileStat]) -> dict[str, bytes]:
        """Return the git objects of files that match git's index, if there are enough files to make asking worth it."""
        if self._repository is None or len(files) < MANY_FILES:
            return {}
        from cairn.source.objects import clean_objects  # noqa: PLC0415 - start-up time: most runs read few files

        return clean_objects(self.root, self._repository, files)

    def ensure_on_disk(self) -> None:
        """Do nothing: the files are already on disk."""

    def close(self) -> None:
        """Do nothing: each file is closed after reading."""


class Views:
    """The views of one project: its checkout, and the branches and revisions of its repository.

    Linked worktrees share the index, but not the views. A revision's view has git's full name for it, followed by a
    colon and the project's folder unless that is the top. A branch has one view, which follows it. A commit given by
    hash has its own, however it was spelled.

    Args:
        root, repository, max_file_bytes, meanwhile: as for `CheckoutView`.
    """

    def __init__(
        self,
        root: Path,
        repository: Repository | None,
        max_file_bytes: int,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self.checkout = CheckoutView(root, repository, max_file_bytes, meanwhile)
        self._root = root
        self._repository = repository
        self._max_file_bytes = max_file_bytes

    def find(self, branch: str | None) -> View:
        """Return the view of a branch, tag or revision as it is now; the checkout for None.

        Raises:
            RevisionError: if there is none, or the project is not in a git repository.
        """
        if branch is None:
            return self.checkout
        if self._repository is None and not is_installed():
            raise RevisionError(
                f"git is not installed, so no branch {branch} is known", "install git, or leave out the branch"
            )
        if self._repository is None:
            raise RevisionError(
                f"{self._root} is in no git repository, so it has no branch {branch}", "leave out the branch"
            )
        return self._revisions.find(branch, self.folder)

    @cached_property
    def _revisions(self) -> Revisions:
        from cairn.index.revisions import Revisions  # noqa: PLC0415 - start-up time: most views are checkouts (5 ms)

        return Revisions(self._root, self._max_file_bytes)

    def at_commit(self, name: str, branch: str, commit: str) -> RevisionView:
        """Return the view called `name` in the index, showing a given commit."""
        return self._revisions.at_commit(name, branch, commit)

    def of_revisions(self, rows: Iterable[ViewRow]) -> Iterator[RevisionView]:
        """Yield the views among `rows` that show a branch or revision of this folder, in the same order."""
        if self._repository is None:
            return
        folder = self.folder
        for row in rows:
            if row.revision and row.generation and row.name.partition(":")[2] == folder:
                yield self.at_commit(row.name, row.branch, row.revision)

    @property
    def folder(self) -> str:
        """The project's path below the top of its repository; empty for the top and outside git."""
        if self._repository is None:
            return ""
        folder = os.path.relpath(self._root, self._repository.work_tree)
        return "" if folder == "." else folder
