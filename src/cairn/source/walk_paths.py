"""Finds which of a few changed files are eligible, without walking all files."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from cairn.source import git
from cairn.source.eligible import DECIDING_NAMES, UNLISTED, deciding_paths
from cairn.source.plumbing import GitStalledError
from cairn.source.walk import CAIRNIGNORE, MAX_FILE_BYTES, Folder, Walk, Walker, match, sort_walk

# Files whose existence or content decides whether others are eligible.
_DECIDING_NAMES = DECIDING_NAMES | {".git", ".gitignore", CAIRNIGNORE}


def walk_paths(
    root: Path, paths: Collection[str], *, repository: git.Repository | None, max_file_bytes: int = MAX_FILE_BYTES
) -> Walk | None:
    """Find which of some files are eligible, like `walk`; None if that takes a walk over all files.

    That is so if a path is a folder, decides about other files or is in a nested repository, or if git stalls.

    Args:
        root, repository, max_file_bytes: as for `walk`.
        paths: the files, relative to the root; they need not exist.

    Raises:
        PathError: if the root cannot be read, or git fails.
    """
    parents = {above for path in paths for above in _folders_above(path)}
    if any(path.rpartition("/")[2] in _DECIDING_NAMES or _is_folder(root / path) for path in paths):
        return None
    walker = _PathWalker(root, max_file_bytes)
    if repository is None:
        return _of_paths(walker, paths) if walker.add_some(paths) else None
    if any(os.path.lexists(root / above / ".git") for above in parents):
        return None
    deciding = {f"{above}/{CAIRNIGNORE}" for above in parents} | {CAIRNIGNORE}
    deciding.update(*(deciding_paths(above) for above in parents))
    try:
        listing = git.list_files(root, only=sorted(deciding.union(paths)))
        is_wanted = bool(listing.paths) or not git.is_ignored(root)
    except GitStalledError:
        return None
    if not is_wanted or listing.unreadable or not walker.add_some_listed(listing, paths):
        return None
    return _of_paths(walker, paths)


def _of_paths(walker: Walker, paths: Collection[str]) -> Walk:
    wanted = frozenset(paths)
    skipped = [skip for skip in walker.skipped if skip.path in wanted]
    return sort_walk(walker.files, skipped)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _folders_above(path: str) -> list[str]:
    """Return the folders around a file below the root, outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


class _PathWalker(Walker):
    """Collects some files, by the same rules as `Walker`."""

    def add_some_listed(self, listing: git.Listing, paths: Collection[str]) -> bool:
        """Add those files that git lists; return whether that was possible without looking at others.

        Args:
            listing: git's list of these files, and of those that decide about them.
            paths: the files.
        """
        if any(path.endswith("/") for path in listing.paths):
            return False
        self._listed = set(listing.paths)
        submodules: list[str] = []
        self._add_paths(sorted(self._listed.intersection(paths)), {"": self._add_rules("", Folder())}, submodules)
        return not submodules

    def add_some(self, paths: Collection[str]) -> bool:
        """Add those files that `add_tree` would; return whether that was possible without looking at others.

        They are looked up in the listings of their folders, which have the spelling on disk.
        """
        names: dict[str, set[str]] = {}
        for path in paths:
            parent, _, name = path.rpartition("/")
            names.setdefault(parent, set()).add(name)
        top = self._add_rules("", Folder(), with_git=True)
        pending: list[tuple[str, Folder]] = []
        for parent, wanted in names.items():
            folder = self._reach(parent, top)
            if folder is None:
                continue
            base = f"{parent}/" if parent else ""
            try:
                with os.scandir(self._prefix + base) as scan:
                    entries = [entry for entry in scan if entry.name in wanted and entry.name not in UNLISTED]
            except (FileNotFoundError, NotADirectoryError):  # it was deleted with its files
                continue
            except OSError:
                return False
            for entry in entries:
                self._add_entry(base + entry.name, entry, folder, pending)
        return not pending

    def _reach(self, path: str, top: Folder) -> Folder | None:
        """Return what applies in a folder, None if `add_tree` does not enter it."""
        folder = top
        for above in [*_folders_above(path), path] if path else ():
            if match(folder.gitignore, above, is_folder=True):
                return None
            folder = self._enter(above, folder, with_git=True)
            if folder.reason or folder.is_unlisted:
                return None
        return folder
