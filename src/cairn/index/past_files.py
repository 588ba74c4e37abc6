"""Finds the file with the commits behind a view, and tells whether it is complete."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from cairn.digest import blake2b
from cairn.index.state_files import HISTORY_LOCK, StateFiles
from cairn.source.git import Repository


@lru_cache(maxsize=64)  # every question asks
def _below(folder: Path, view_name: str) -> Path:
    return folder / f"{blake2b(view_name.encode(), digest_size=16).hexdigest()}.past"


def past_file(state: StateFiles, view_name: str) -> Path:
    """Return the file with the commits behind a view; it may be missing or outdated."""
    return _below(state.derived, view_name)


def history_lock(state: StateFiles) -> Path:
    """Return the file to lock while reading the history."""
    return state.path / HISTORY_LOCK


def when_head_moved(repository: Repository) -> int | None:
    """Return when HEAD or the depth of a shallow clone last changed, in nanoseconds; None if git keeps no record."""
    try:
        moved = (repository.git_dir / "logs" / "HEAD").stat().st_mtime_ns
        with suppress(FileNotFoundError):
            moved = max(moved, (repository.common_dir / "shallow").stat().st_mtime_ns)
    except OSError:
        return None
    return moved


def mark_complete(file: Path, moved_ns: int, limit: int) -> None:
    """Record, in the file's own modification time, that it holds all wanted commits behind the HEAD of that moment.

    Args:
        moved_ns: as from `when_head_moved`, before HEAD was read.
        limit: how many commits were asked for.
    """
    with suppress(OSError):  # if nothing can be written, the next question compares HEAD again
        os.utime(file, ns=(moved_ns + limit, moved_ns + limit))


def is_complete(file: Path, repository: Repository, limit: int) -> bool:
    """Tell whether HEAD has stayed where it was at `mark_complete` with this limit; False if unknown."""
    moved_ns = when_head_moved(repository)
    try:
        return moved_ns is not None and file.stat().st_mtime_ns == moved_ns + limit
    except OSError:
        return False
