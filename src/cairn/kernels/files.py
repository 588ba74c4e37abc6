"""Reads files below a folder with few calls of the system; imports no numpy."""

from __future__ import annotations

from cairn.kernels.build import IS_COMPILED

if IS_COMPILED:
    import cairn.kernels._compiled as _compiled


def read_below(root: str, path: str, most: int) -> bytes | None:
    """Return the content of a file below a folder, None where that needs a closer look, or no build can do it.

    No part of the path is followed if it is a link, not even one that takes its place meanwhile; see openat2(2).

    Args:
        root: the folder, which may itself be reached through a link.
        path: of the file, relative to it, each part the name of a folder or the file.
        most: how many bytes the file may have.
    """
    return _compiled.read_below(root, path, most) if IS_COMPILED else None
