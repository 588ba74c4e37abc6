"""Reads `apply_patch` patches: which files they change, and what they replace in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_BEGIN = "*** Begin Patch"
_HEADINGS = {"*** Update File: ": "edit", "*** Add File: ": "write", "*** Delete File: ": "delete"}
_MOVE = "*** Move to: "
_MAX_FILES = 100


class PatchedFile(NamedTuple):
    """What a patch does to a file.

    Attributes:
        tool: `edit`, `write` or `delete`.
        edits: (old, new) texts with their context lines; a new file replaces the empty string.
    """

    tool: str
    path: str
    edits: tuple[tuple[str, str], ...] = ()


def is_patch(text: str) -> bool:
    """Tell whether a text is a patch or ends with one, as a command may."""
    return _BEGIN in text and any(heading in text for heading in _HEADINGS)


def parse_patch(text: str) -> list[PatchedFile]:
    """Return what a patch does to each file; a moved file is deleted, and edited under its new path."""
    changes: list[PatchedFile] = []
    lines = text[text.find(_BEGIN) :].splitlines() if _BEGIN in text else []
    starts = [place for place, line in enumerate(lines) if line.startswith(tuple(_HEADINGS))][:_MAX_FILES]
    for place, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        heading = next(heading for heading in _HEADINGS if lines[place].startswith(heading))
        path, body = lines[place].removeprefix(heading).strip(), lines[place + 1 : end]
        if _HEADINGS[heading] == "edit" and body and body[0].startswith(_MOVE):
            changes.append(PatchedFile("delete", path))
            path = body[0].removeprefix(_MOVE).strip()
        changes.append(PatchedFile(_HEADINGS[heading], path, tuple(_edits(body))))
    return changes


def _edits(body: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the old and new text of each hunk."""
    old: list[str] = []
    new: list[str] = []
    for line in [*body, "@@"]:
        if line.startswith(("@@", "***")):
            if old != new:
                yield "\n".join(old), "\n".join(new)
            old, new = [], []
            continue
        if not line.startswith("+"):
            old.append(line[1:])
        if not line.startswith("-"):
            new.append(line[1:])
