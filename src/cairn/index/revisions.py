"""Views of commits, read from git's objects without checking anything out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from cairn.source.git import printable_name
from cairn.source.objects import resolve_revision
from cairn.source.tree import CommitFiles
from cairn.source.walk import Walk
from cairn.types import FileStat


class RevisionView:
    """The files of a commit, as git stores them.

    Args:
        root: the folder whose files to show, in a checkout of the repository.
        name: of the view in the index; see `Views`.
        branch: the name to show to readers.
        revision: the full hash of the commit.
        max_file_bytes: larger files are skipped.
    """

    def __init__(self, root: Path, name: str, branch: str, revision: str, max_file_bytes: int) -> None:
        self.name = printable_name(name)
        self.branch = printable_name(branch)
        self.revision = revision
        self._files = CommitFiles(root, revision, max_file_bytes)

    def walk(self) -> Walk:
        """Find the eligible files."""
        return self._files.walk()

    def walk_paths(self, paths: Collection[str]) -> Walk | None:
        """Return None: the files of a commit do not change."""
        return None

    def stamp(self, path: str) -> tuple[int, int]:
        """Return the size, and the number that takes the place of the time."""
        return self._files.stamp(path)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._files.read(path)

    def is_racy(self, file: FileStat) -> bool:
        """Return False: a commit never changes."""
        return False

    def object_ids(self, files: Sequence[FileStat]) -> dict[str, bytes]:
        """Return the git objects of all files."""
        return self._files.object_ids()

    def close(self) -> None:
        """End the process that reads."""
        self._files.close()


class Revisions:
    """Finds views of branches and revisions; see `cairn.index.views.Views`."""

    def __init__(self, root: Path, max_file_bytes: int) -> None:
        self._root = root
        self._max_file_bytes = max_file_bytes

    def find(self, branch: str, folder: str) -> RevisionView:
        """Return the view of a branch, tag or revision as it is now; `folder` is the project's path below the top.

        Raises:
            RevisionError: if there is none.
        """
        revision = resolve_revision(self._root, branch)
        name = revision.reference or revision.commit
        return self.at_commit(f"{name}:{folder}" if folder else name, revision.label, revision.commit)

    def at_commit(self, name: str, branch: str, commit: str) -> RevisionView:
        """Return the view called `name` in the index, showing a given commit."""
        return RevisionView(self._root, name, branch, commit, self._max_file_bytes)
