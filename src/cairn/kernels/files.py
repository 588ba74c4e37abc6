"""Reads files below a folder with few calls of the system, and takes lines out of them; imports no numpy."""

from __future__ import annotations

from cairn.kernels.build import IS_COMPILED

if IS_COMPILED:
    import cairn.kernels._compiled as _compiled


def first_lines(data: bytes, start: int, n_lines: int, most_bytes: int, most_chars: int) -> str | None:
    """Return lines of a file, each cut and without the blanks at its end.

    None stands for lines that are not ASCII, and for no build: the caller does the same in Python.

    Args:
        data: the file.
        start: an offset in the first line.
        n_lines: how many there are at most.
        most_bytes: how much is looked at of a line, and as many times as there are lines of all.
        most_chars: how much is shown of a line.
    """
    return _compiled.first_lines(data, start, n_lines, most_bytes, most_chars) if IS_COMPILED else None


def read_below(root: str, path: str, most: int) -> bytes | None:
    """Return the content of a file below a folder, None where that needs a closer look, or no build can do it.

    No part of the path is followed if it is a link, not even one that takes its place meanwhile; see openat2(2).

    Args:
        root: the folder, which may itself be reached through a link.
        path: of the file, relative to it, each part the name of a folder or the file.
        most: how many bytes the file may have.
    """
    return _compiled.read_below(root, path, most) if IS_COMPILED else None
