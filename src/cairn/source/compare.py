"""Compares the files on disk with a commit, without running programs that the repository configures.

`git diff` runs a repository's filters and hooks. Here git only reads what it stores.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cairn.source.content import normalize
from cairn.source.git import Repository
from cairn.source.line_diff import changed_ranges
from cairn.source.objects import (
    NOT_FETCHED,
    SUBMODULE,
    SYMLINK,
    ObjectReader,
    TreeEntry,
    is_content_of,
    list_tree,
    read_index,
    resolve_tree,
)
from cairn.source.walk import MAX_FILE_BYTES, read_file
from cairn.types import FileStat

_Ranges = list[tuple[int, int]]


class Comparison(NamedTuple):
    """How the files on disk differ from a revision.

    Attributes:
        changed: ranges of current lines, 1-based and inclusive, by path. A file that is new or cannot be compared line
            by line has none: all of it counts.
        gone: regular files of the revision that the checkout should have but that are not on disk.
        submodules: their paths; nothing in them is compared.
    """

    changed: dict[str, list[tuple[int, int]]]
    gone: list[TreeEntry]
    submodules: list[str]


def compare(
    root: Path,
    repository: Repository,
    revision: str,
    paths: Iterable[str],
    max_file_bytes: int = MAX_FILE_BYTES,
) -> Comparison:
    """Return how the files on disk differ from a revision; submodules are left out.

    Line endings are ignored, because git may have converted them.

    Args:
        root: the folder that the paths are relative to.
        repository: the checkout it belongs to.
        revision: as git names it.
        paths: those of the files to compare.
        max_file_bytes: larger files count as changed entirely.

    Raises:
        DiffError: if git does not know the revision.
        PathError: if git cannot read it.
    """
    tree = {entry.path: entry for entry in list_tree(root, resolve_tree(root, revision))}
    files = list(_stats(root, paths))
    index = read_index(root, repository, files)
    submodules = {path for path, entry in tree.items() if entry.mode == SUBMODULE}.union(index.submodules)
    changed: dict[str, _Ranges] = {}
    with ObjectReader(root) as reader:
        for file in files:
            entry = tree.get(file.path)
            if entry is not None and index.clean.get(file.path) == entry.object_id:
                continue
            if submodules and _is_inside(file.path, submodules):
                continue
            ranges = _compare(root, file.path, entry, reader, max_file_bytes)
            if ranges is not None:
                changed[file.path] = ranges
    missing = tree.keys() - {file.path for file in files} - index.left_out
    gone = [
        tree[path]
        for path in sorted(missing)
        if tree[path].mode not in (SYMLINK, SUBMODULE)
        and not _is_inside(path, submodules)
        and not _is_inside(path, index.left_out, end="/")
        and _is_gone(os.path.join(root, path))
    ]
    return Comparison(changed, gone, sorted(submodules))


def _is_gone(path: str) -> bool:
    """Tell whether there is no regular file at a path."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # it cannot be determined
        return False


def _stats(root: Path, paths: Iterable[str]) -> Iterator[FileStat]:
    for path in paths:
        with suppress(OSError, ValueError):  # deleted meanwhile, or not a valid name
            status = os.lstat(os.path.join(root, path))
            if not stat.S_ISDIR(status.st_mode):
                yield FileStat(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_inside(path: str, folders: Collection[str], end: str = "") -> bool:
    """Tell whether a path is inside one of some folders, which are written with `end`."""
    at = path.find("/") if folders else -1
    while at > 0:
        if path[:at] + end in folders:
            return True
        at = path.find("/", at + 1)
    return False


def _compare(
    root: Path, path: str, entry: TreeEntry | None, reader: ObjectReader, max_file_bytes: int
) -> _Ranges | None:
    """Return the changed ranges of a file, empty for all of it; None if it is unchanged or gone."""
    if entry is None or entry.mode in (SYMLINK, SUBMODULE):
        return []
    try:
        new = read_file(root, path, max_file_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # too large, or unreadable
        return []
    if is_content_of(entry.object_id, new):
        return None
    if entry.size == NOT_FETCHED:  # git exits at such an object, and a reader would restart it each time
        return []
    try:
        old = reader.read(entry.object_id, max_file_bytes)
    except OSError:  # too large
        return []
    return changed_ranges(_lines(old), _lines(new)) or None


def _lines(data: bytes) -> list[bytes]:
    lines = normalize(data).replace(b"\r\n", b"\n").split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines
