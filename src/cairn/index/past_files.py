"""Where the commits behind a view are."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from cairn.digest import blake2b
from cairn.index.state_files import HISTORY_LOCK, StateFiles
from cairn.source.git import Repository


def past_file(state: StateFiles, view_name: str) -> Path:
    """Return the file of the commits behind a view; it may be missing, or older than the view."""
    return state.derived / f"{blake2b(view_name.encode(), digest_size=16).hexdigest()}.past"


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


def mark_complete(file: Path, moved_ns: int) -> None:
    """Note that a file holds all commits behind the HEAD of that time: the file gets the time for its own."""
    os.utime(file, ns=(moved_ns, moved_ns))


def is_complete(file: Path, repository: Repository) -> bool:
    """Tell whether HEAD has not moved since `mark_complete`; False where that is not known."""
    try:
        return file.stat().st_mtime_ns == when_head_moved(repository)
    except OSError:
        return False
