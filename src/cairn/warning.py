"""What a command has to tell its user beside its answer, once. Imports nothing: every command does this."""

from __future__ import annotations

from collections.abc import Callable

_told: set[str] = set()
_tell: Callable[[str], None] | None = None


def listen(tell: Callable[[str], None] | None) -> None:
    """Have warnings told at once, each kind once, as a command does; with None they are notes of answers again."""
    global _tell
    _tell = tell
    _told.clear()


def warn(kind: str, text: str) -> bool:
    """Tell a warning, unless one of its kind was told, and say whether somebody listens."""
    if _tell is None:
        return False
    if kind not in _told:
        _told.add(kind)
        _tell(text)
    return True
