"""Finds files that changed lately, on the current branch and on disk."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from threading import Lock

from cairn.errors import PathError
from cairn.source.ancestry import branch_tips, default_branch
from cairn.source.git import Repository, current_branch, head_revision, printable_name
from cairn.source.objects import is_content_of, read_index
from cairn.source.plumbing import run_git
from cairn.source.walk import read_file
from cairn.types import FileStat

_MOST_COMMITS = 20  # commits of a branch since it left the default one
_FEW_COMMITS = 3  # commits, if that cannot be told
_MOST_BYTES = 1_000_000  # bytes of names; a commit with more does not tell what the work is about
_MOST_PATHS = 500  # files to look up
_TIMEOUT_S = 2.0


class RecentFiles:
    """The recently changed files of a checkout; git is asked once for each commit that is checked out.

    Args:
        root: the project's folder.
        repository: the checkout that it belongs to, None outside git.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self._root, self._repository = root, repository
        self._of_commits: tuple[tuple[str, str], frozenset[str]] | None = None
        self._lock = Lock()

    def of_commits(self) -> frozenset[str]:
        """Return the files that the branch's last commits changed, relative to the root; none if git fails."""
        if self._repository is None:
            return frozenset()
        branch = printable_name(current_branch(self._repository) or "")
        head = branch, head_revision(self._repository) or ""
        with self._lock:
            if self._of_commits is None or self._of_commits[0] != head:
                self._of_commits = head, _changed_by_commits(self._root, *head)
            return self._of_commits[1]

    def is_of_default(self, branch: str) -> bool:
        """Tell whether a branch is the one that the remote `origin` calls its own."""
        if self._repository is None:
            return False
        try:
            return default_branch(self._root, ()) == branch
        except (OSError, PathError):
            return False

    def find_changed(self, paths: Collection[str]) -> set[str]:
        """Return those files whose content on disk is new to git; none outside git.

        Args:
            paths: relative to the root, with slashes.
        """
        if self._repository is None or not paths:
            return set()
        files = _stats(self._root, sorted(paths)[:_MOST_PATHS])
        if not files:
            return set()
        index = read_index(self._root, self._repository, files, only=[file.path for file in files])
        # A fresh worktree or a copy has new times, so a file with other times is mostly unchanged.
        same = {path for path, object_id in index.unproven.items() if _is_as(self._root, path, object_id)}
        return {file.path for file in files} - index.clean.keys() - same


def _is_as(root: Path, path: str, object_id: bytes) -> bool:
    """Tell whether a file has git's content, ignoring line endings, which git may convert."""
    try:
        content = read_file(root, path)
    except OSError:  # gone, or too large to compare
        return False
    return any(is_content_of(object_id, data) for data in {content, content.replace(b"\r\n", b"\n")})


def _changed_by_commits(folder: Path, branch: str, head: str) -> frozenset[str]:
    try:
        commits = _last_commits(folder, branch, head)
        if not commits:
            return frozenset()
        names = [
            "diff-tree",
            "--stdin",
            "-r",
            "-z",
            "--root",
            "--relative",
            "--name-only",
            "--no-commit-id",
            "--no-ext-diff",
        ]
        lines = "".join(f"{commit}\n" for commit in commits).encode()
        result = run_git(folder, names, _TIMEOUT_S, given=lines, max_bytes=_MOST_BYTES)
    except (OSError, PathError):
        return frozenset()
    return frozenset(os.fsdecode(result.stdout).split("\0")) - {""}


def _last_commits(folder: Path, branch: str, head: str) -> list[str]:
    """Return the commits that a branch added to the default branch, or the last few if it is the default."""
    if not head:
        return []
    tips = branch_tips(folder)
    default = default_branch(folder, tips)
    if default in tips and default != branch and (own := _commits(folder, [head, f"^{tips[default]}"], _MOST_COMMITS)):
        return own
    return _commits(folder, [head], _FEW_COMMITS)


def _commits(folder: Path, which: Sequence[str], limit: int) -> list[str]:
    result = run_git(folder, ["rev-list", f"--max-count={limit}", *which], _TIMEOUT_S)
    return os.fsdecode(result.stdout).split()


def _stats(root: Path, paths: Collection[str]) -> list[FileStat]:
    stats: list[FileStat] = []
    for path in paths:
        try:
            status = os.lstat(root / path)
        except (OSError, ValueError):  # it is gone, or its name is invalid
            continue
        stats.append(FileStat(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return stats
