"""Texts that are meant as paths of a project: from its root, as it has them."""

from __future__ import annotations

import os
import re
from pathlib import Path

_FROM_HERE = re.compile(r"\.{0,2}/|\.{1,2}$")


def is_from_here(text: str) -> bool:
    """Tell whether a text is a path that begins at a folder: that of the project, or the top of the disk."""
    return _FROM_HERE.match(text) is not None


def path_within(root: Path, text: str) -> str:
    """Return a path, which may be absolute, from the root of a project; `.` for that, empty if it leads out of it."""
    path = os.path.relpath(os.path.join(root, text), root)
    return "" if path == os.pardir or path.startswith(os.path.join(os.pardir, "")) else path


def path_there(root: Path, text: str) -> str:
    """Return the same for what exists; empty for any other text."""
    try:
        path = path_within(root, text)
        return path if path and os.path.lexists(os.path.join(root, path)) else ""
    except (OSError, ValueError):  # a NUL in it
        return ""
