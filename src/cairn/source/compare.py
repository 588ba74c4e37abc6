"""Hides how the files on disk are compared with a commit, without a program that the repository names for that.

`git diff` runs the filters and hooks of a repository. Here git only says what it stores.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from cairn.source.content import normalize
from cairn.source.git import Repository
from cairn.source.line_diff import changed_ranges
from cairn.source.objects import (
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


def changed_lines(
    root: Path,
    repository: Repository,
    revision: str,
    paths: Iterable[str],
    max_file_bytes: int = MAX_FILE_BYTES,
) -> dict[str, _Ranges]:
    """Return where some files differ from a revision: ranges of lines as they are now, 1-based and inclusive.

    A file that is new, or that cannot be compared line by line, has no ranges: all of it counts. Submodules are left
    out. Ends of lines do not count, for git may have converted them.

    Args:
        root: the folder that the paths are relative to.
        repository: the checkout it belongs to.
        revision: as git names it.
        paths: of the files to compare.
        max_file_bytes: larger files count as a whole.

    Raises:
        DiffError: if git does not know the revision.
        PathError: if git cannot read it.
    """
    tree = {entry.path: entry for entry in list_tree(root, resolve_tree(root, revision))}
    files = list(_stats(root, paths))
    index = read_index(root, repository, files)
    submodules = {path for path, entry in tree.items() if entry.mode == SUBMODULE}.union(index.submodules)
    found: dict[str, _Ranges] = {}
    with ObjectReader(root) as reader:
        for file in files:
            entry = tree.get(file.path)
            if entry is not None and index.clean.get(file.path) == entry.object_id:
                continue
            if submodules and _is_inside(file.path, submodules):
                continue
            ranges = _compare(root, file.path, entry, reader, max_file_bytes)
            if ranges is not None:
                found[file.path] = ranges
    return found


def _stats(root: Path, paths: Iterable[str]) -> Iterator[FileStat]:
    for path in paths:
        with suppress(OSError, ValueError):  # gone meanwhile, or a name that no file has
            status = os.lstat(os.path.join(root, path))
            yield FileStat(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_inside(path: str, folders: set[str]) -> bool:
    end = path.find("/")
    while end > 0:
        if path[:end] in folders:
            return True
        end = path.find("/", end + 1)
    return False


def _compare(
    root: Path, path: str, entry: TreeEntry | None, reader: ObjectReader, max_file_bytes: int
) -> _Ranges | None:
    """Return the changed ranges of a file, empty for all of it; None when it is as the revision has it, or gone."""
    if entry is None or entry.mode in (SYMLINK, SUBMODULE):
        return []
    try:
        new = read_file(root, path, max_file_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # too large, or not to be read
        return []
    if is_content_of(entry.object_id, new):
        return None
    try:
        old = reader.read(entry.object_id, max_file_bytes)
    except OSError:  # never fetched, or too large
        return []
    return changed_ranges(_lines(old), _lines(new)) or None


def _lines(data: bytes) -> list[bytes]:
    lines = normalize(data).replace(b"\r\n", b"\n").split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines
