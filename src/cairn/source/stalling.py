"""Finds ignore files that make git wait or compute forever."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from cairn.source.eligible import UNLISTED
from cairn.source.plumbing import GitStalledError, read_small

_GITIGNORE = ".gitignore"
_LOOK_S = 3.0
_MAX_BYTES = 10_000_000
# git backtracks over each `**` of a rule: many of them stall it at once, and two do in a deep tree.
_MANY, _FEW = 5, 2
_LONG_S = 5.0


def refuse_stalling(folder: Path, waited_s: float) -> None:
    """Look for an ignore file that explains why git takes so long in a folder.

    Args:
        folder: where git runs.
        waited_s: how long it has run; after a while, rules that are harmless in shallow trees count too.

    Raises:
        GitStalledError: if there is one.
    """
    stars = _MANY if waited_s < _LONG_S else _FEW
    for path in _ignore_files(folder):
        if reason := _trouble(os.path.join(folder, path), stars):
            raise GitStalledError(
                f"git does not get past {os.path.join(folder, path)}: {reason}", f"correct it: {path}", path, reason
            )


def _ignore_files(folder: Path) -> Iterator[str]:
    """Yield the ignore files that apply in a folder, deepest last, while there is time."""
    above, start = "", os.path.realpath(folder)
    while not os.path.lexists(os.path.join(start, ".git")) and os.path.dirname(start) != start:
        above, start = f"../{above}", os.path.dirname(start)
        yield above + _GITIGNORE
    end = time.monotonic() + _LOOK_S
    pending = deque([""])
    while pending and time.monotonic() < end:
        base = pending.popleft()
        try:
            with os.scandir(os.path.join(folder, base)) as entries:
                for entry in entries:
                    if entry.name == _GITIGNORE:
                        yield base + _GITIGNORE
                    elif entry.name not in UNLISTED and entry.is_dir(follow_symlinks=False):
                        pending.append(f"{base}{entry.name}/")
        except OSError:  # git cannot read it either
            continue


def _trouble(path: str, stars: int) -> str:
    """Return why git would stall on an ignore file, empty if it would not."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            return ""
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        if status.st_size > _MAX_BYTES:
            return f"larger than {_MAX_BYTES:,} bytes"
        rules = read_small(path, _MAX_BYTES).split(b"\n")
    except OSError:
        return ""
    most = max(rule.count(b"**") for rule in rules)
    return f"a rule with `**` {most} times" if most >= stars else ""
