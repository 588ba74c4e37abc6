"""Where the commits behind a view are."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from cairn.index.state_files import HISTORY_LOCK, StateFiles


def past_file(state: StateFiles, view_name: str) -> Path:
    """Return the file of the commits behind a view; it may be missing, or older than the view."""
    return state.derived / f"{blake2b(view_name.encode(), digest_size=16).hexdigest()}.past"


def history_lock(state: StateFiles) -> Path:
    """Return the file that whoever reads the history locks."""
    return state.path / HISTORY_LOCK
