"""Shows planned changes as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from cairn.install.plan import FileChange


def unified_diff(changes: Sequence[FileChange]) -> str:
    """Return the changes of all files; carriage returns are kept."""
    return "".join(_of_file(change) for change in changes if change.is_change)


def _of_file(change: FileChange) -> str:
    old = f"a/{change.shown}" if change.before is not None else "/dev/null"
    new = f"b/{change.shown}" if change.after is not None else "/dev/null"
    lines = difflib.unified_diff(_lines(change.before), _lines(change.after), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    """Return the lines, split only at line feeds."""
    text = (content or b"").decode("utf-8", "replace")
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
