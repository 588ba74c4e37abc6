"""Warnings of a command beside its answer, each given once. Imports almost nothing, since every command needs it."""

from __future__ import annotations

from collections.abc import Callable

_kinds_given: set[str] = set()
_listener: Callable[[str], None] | None = None


def listen(listener: Callable[[str], None] | None) -> None:
    """Send warnings to a listener, each kind once, as commands do; with None, they become notes of answers again."""
    global _listener
    _listener = listener
    _kinds_given.clear()


def warn(kind: str, text: str) -> bool:
    """Give a warning, unless one of its kind was given; return whether there is a listener."""
    if _listener is None:
        return False
    if kind not in _kinds_given:
        _kinds_given.add(kind)
        _listener(text)
    return True
