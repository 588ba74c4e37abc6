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


def is_current(file: Path, repository: Repository) -> bool:
    """Tell from times alone whether all commits behind a checkout are in a file: HEAD has not moved since.

    A file that is not complete is as old as can be; see `mark_incomplete`. False where it cannot be told.
    """
    shallow = repository.common_dir / "shallow"
    try:
        moved_ns = (repository.git_dir / "logs" / "HEAD").stat().st_mtime_ns
        with suppress(FileNotFoundError):
            moved_ns = max(moved_ns, shallow.stat().st_mtime_ns)
        return file.stat().st_mtime_ns > moved_ns
    except OSError:
        return False


def mark_incomplete(file: Path) -> None:
    """Have `is_current` say that commits are missing."""
    os.utime(file, ns=(0, 0))
