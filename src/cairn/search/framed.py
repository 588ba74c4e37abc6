"""Finds the files that the frames of a trace mean, and tells an application that uses the project from it."""

from __future__ import annotations

from collections.abc import Iterable

from cairn.search.called import declares
from cairn.search.file_finder import FileFinder, path_in_package
from cairn.search.library import Library
from cairn.source.frames import TracebackFrame

_FEW_PARTS = 2  # at the end of two paths, that are alike in many projects: `tests/test_http.py`
_FREE_FOLDERS = (".kt", ".scala")  # such a file may be in other folders than its package says


def files_of_frames(
    library: Library, frames: Iterable[TracebackFrame], finder: FileFinder
) -> dict[TracebackFrame, list[int]]:
    """Return the files that each frame may mean.

    Where the trace has the project as an installed package, a frame outside of packages is one of the application that
    uses it, unless more than a folder and a name are alike.
    """
    found = {frame: finder.by_path(frame.path) or _of_package(library, frame.path, finder) for frame in frames}
    if any(_is_installed(finder, frame.path, files) for frame, files in found.items()):
        for frame, files in found.items():
            if not path_in_package(frame.path) and any(
                finder.n_common(frame.path, file) <= _FEW_PARTS for file in files
            ):
                found[frame] = []
    return found


def _is_installed(finder: FileFinder, path: str, files: list[int]) -> bool:
    """Tell whether a path is that of a file of the project, all of it, in an installed package."""
    inside = path_in_package(path)
    return bool(inside) and len(files) == 1 and finder.n_common(path, files[0]) >= inside.count("/") + 1


def _of_package(library: Library, path: str, finder: FileFinder) -> list[int]:
    """Return the files of a name that declare to be of the package that a path has for folders."""
    folders, _, name = path.rpartition("/")
    if not name.endswith(_FREE_FOLDERS):
        return []
    return [file for file in finder.by_name(name) if declares(library, file, folders.replace("/", "."))]
