"""Where the commits behind a view are."""

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
    """Return the file of the commits behind a view; it may be missing, or older than the view."""
    return _below(state.derived, view_name)


def history_lock(state: StateFiles) -> Path:
    """Return the file that whoever reads the history locks."""
    return state.path / HISTORY_LOCK


def when_head_moved(repository: Repository) -> int | None:
    """Return when HEAD, or the depth of a shallow clone, last changed, in nanoseconds; None if git keeps no record."""
    try:
        moved = (repository.git_dir / "logs" / "HEAD").stat().st_mtime_ns
        with suppress(FileNotFoundError):
            moved = max(moved, (repository.common_dir / "shallow").stat().st_mtime_ns)
    except OSError:
        return None
    return moved


def mark_complete(file: Path, moved_ns: int, limit: int) -> None:
    """Note that a file holds the commits behind the HEAD of that time, as many as were wanted: by the file's own time.

    Args:
        moved_ns: as from `when_head_moved`, before HEAD was read.
        limit: how many commits were wanted.
    """
    with suppress(OSError):  # where nothing can be written, HEAD is compared again at the next question
        os.utime(file, ns=(moved_ns + limit, moved_ns + limit))


def is_complete(file: Path, repository: Repository, limit: int) -> bool:
    """Tell whether HEAD has not moved since `mark_complete`, for as many commits; False where that is not known."""
    moved_ns = when_head_moved(repository)
    try:
        return moved_ns is not None and file.stat().st_mtime_ns == moved_ns + limit
    except OSError:
        return False
