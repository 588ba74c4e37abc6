"""Finds the files that the frames of a trace mean."""

from __future__ import annotations

from collections.abc import Iterable

from cairn.search.called import declares
from cairn.search.file_finder import FileFinder
from cairn.search.library import Library
from cairn.source.frames import TracebackFrame

_FREE_FOLDERS = (".kt", ".scala")  # such a file may be in other folders than its package says


def files_of_frames(
    library: Library, frames: Iterable[TracebackFrame], finder: FileFinder
) -> dict[TracebackFrame, list[int]]:
    """Return the files that each frame may mean."""
    return {frame: finder.by_path(frame.path) or _of_package(library, frame.path, finder) for frame in frames}


def _of_package(library: Library, path: str, finder: FileFinder) -> list[int]:
    """Return the files of a name that declare to be of the package that a path has for folders."""
    folders, _, name = path.rpartition("/")
    if not name.endswith(_FREE_FOLDERS):
        return []
    return [file for file in finder.by_name(name) if declares(library, file, folders.replace("/", "."))]
