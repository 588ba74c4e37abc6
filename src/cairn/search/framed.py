"""Finds the lines that the frames of a trace mean, and tells an application that uses the project from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cairn.search.built import is_script, is_source_of, package_of_script, sources_of
from cairn.search.called import declares, line_of_call
from cairn.search.exact import LineMatch
from cairn.search.file_finder import FileFinder, finder_of
from cairn.search.filters import Filtered, filter_files
from cairn.search.installed import package_of, path_in_package, plain_name
from cairn.search.library import Library
from cairn.search.linked_places import is_elsewhere, with_places
from cairn.search.moved import line_of_frame, line_of_function
from cairn.search.query import looks_named
from cairn.source.frames import CallFrame, TracebackFrame, read_calls
from cairn.source.roles import FOREIGN, Role
from cairn.storage.index import chunk_db

_FEW_PARTS = 2  # at the end of two paths, that are alike in many projects: `tests/test_http.py`
_FREE_FOLDERS = (".kt", ".scala")  # such a file may be in other folders than its package says
_NOT_BUNDLED = Role.TEST | Role.EXAMPLE | Role.DOCS | FOREIGN
_OF_JVM = (".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".cljc")  # whose frames have the whole package
_OF_CLOJURE = (".clj", ".cljc")
_MOVED_PARTS = 4  # at the end of a path that are enough where a package was renamed above them


class FramedLine(NamedTuple):
    """The line of the project that a frame means, and how sure that is."""

    frame: TracebackFrame | CallFrame
    line: LineMatch
    share: float


def lines_in_text(library: Library, text: str, filters: Filtered) -> Iterator[FramedLine]:
    """Yield the lines that a text names as `PATH:LINE` or in the frames of a traceback, the deepest call first.

    A path may be longer than in the project, as on another machine, or shorter, if only one file ends in it.
    """
    frames = [frame for frame in read_calls(with_places(text)) if isinstance(frame, TracebackFrame)]
    return lines_of_frames(library, frames, filters, finder_of(library.snapshot))


def lines_of_frames(
    library: Library, frames: Sequence[TracebackFrame | CallFrame], filters: Filtered, finder: FileFinder
) -> Iterator[FramedLine]:
    """Yield the lines of the frames that are in the project, in their order."""
    if not frames:
        return
    chosen = filter_files(library.snapshot.files, filters)
    inside = None if chosen is None else set(chosen.tolist())
    files_of = files_of_frames(library, (frame for frame in frames if isinstance(frame, TracebackFrame)), finder)
    for frame in frames:
        line: LineMatch | None
        if isinstance(frame, CallFrame):
            line, share = line_of_call(library, frame, inside)
        else:
            files = files_of[frame] or _bundled_from(library, frame, finder)
            files = [file for file in files if inside is None or file in inside]
            if len(files) > 1 and frame.function:
                files = _defining(library, files, frame.function)
            line, share = _line_in(library, files[0], frame) if len(files) == 1 else (None, 0.0)
        if line is not None:
            yield FramedLine(frame, line, share)


def _line_in(library: Library, file: int, frame: TracebackFrame) -> tuple[LineMatch | None, float]:
    """Return the line of a file that a frame means; in a file that was compiled the line was another one."""
    if not is_source_of(library.snapshot.files.paths[file], frame.path):
        return line_of_frame(library, file, frame)
    return line_of_function(library, file, frame.function)


def _bundled_from(library: Library, frame: TracebackFrame, finder: FileFinder) -> list[int]:
    """Return the files that define a frame's function, if it is in a script of one of the project's packages.

    A bundle holds many sources and is called like none of them.
    """
    if not (is_script(frame.path) and looks_named(frame.function)):
        return []
    package = package_of_script(frame.path)
    if not package or not (finder.has_package(package) or _is_own(library, package)):
        return []
    return _defining(library, None, frame.function)


def _defining(library: Library, files: Sequence[int] | None, function: str) -> list[int]:
    """Return those of some files, or of all of the project's own code, that define a function."""
    snapshot = library.snapshot
    found = chunk_db.find_definitions(library.connection, function, snapshot.are_shown)
    ids = [one.chunk_id for one in found if one.name == function]
    rows = snapshot.rows_of_chunks(np.array(ids, dtype=np.int64))
    own = set(snapshot.file_of_row[rows[rows >= 0]].tolist())
    if files is None:
        return sorted(file for file in own if not int(snapshot.files.roles[file]) & int(_NOT_BUNDLED))
    return [file for file in files if file in own]


def files_of_frames(
    library: Library, frames: Iterable[TracebackFrame], finder: FileFinder
) -> dict[TracebackFrame, list[int]]:
    """Return the files that each frame may mean.

    Where the trace has the project as an installed package, a frame outside of packages is one of the application that
    uses it, unless more than a folder and a name are alike.
    """
    frames = list(frames)
    found = {path: _files_of(library, path, finder) for path in {frame.path for frame in frames}}
    if any(_is_installed(finder, path, files) for path, files in found.items()):
        for path, files in found.items():
            if not path_in_package(path) and any(finder.n_common(path, file) <= _FEW_PARTS for file in files):
                found[path] = []
    return {frame: found[frame.path] for frame in frames}


def _is_own(library: Library, package: str) -> bool:
    """Tell whether a package is called like the repository; a project of one package seldom has a folder for it."""
    return bool(package) and plain_name(library.repository()) == package


def _files_of(library: Library, path: str, finder: FileFinder) -> list[int]:
    if is_elsewhere(path, library.repository):
        return []
    if (package := package_of(path)) and not finder.has_package(package) and _is_own(library, package):
        path = path_in_package(path)
    if not finder.has_name(path.rpartition("/")[2]):  # as most frames are in files of others
        return sources_of(finder, path)
    files = finder.by_path(path)
    if path.endswith(_OF_JVM) and not path.startswith("/"):
        files = _of_jvm(library, path, files, finder)
    if all(finder.n_common(path, file) < _FEW_PARTS for file in files):
        files = sources_of(finder, path) or files
    return files or _of_package(library, path, finder)


def _of_jvm(library: Library, path: str, files: list[int], finder: FileFinder) -> list[int]:
    """Return those of some files that are of the package that a path has for folders.

    If none is, the package may have got another name: then one with most of the path's end is meant.
    """
    package, n_parts = path.rpartition("/")[0].replace("/", "."), path.count("/") + 1
    if path.endswith(_OF_CLOJURE):  # whose namespaces have the name of the file as well
        package = path.rpartition(".")[0].replace("/", ".").replace("_", "-")
    own = [
        file
        for file in files
        if (finder.n_common(path, file) == n_parts and not path.endswith(_OF_CLOJURE))
        or finder.n_common(path, file) == library.snapshot.files.paths[file].count("/") + 1
        or declares(library, file, package)
    ]
    return own or [file for file in files if len(files) == 1 and finder.n_common(path, file) >= _MOVED_PARTS]


def _is_installed(finder: FileFinder, path: str, files: list[int]) -> bool:
    """Tell whether a path is that of a file of the project, all of it, in an installed package."""
    inside = path_in_package(path) if len(files) == 1 else ""
    return bool(inside) and (
        finder.n_common(path, files[0]) >= inside.count("/") + 1 or is_source_of(finder.paths[files[0]], path)
    )


def _of_package(library: Library, path: str, finder: FileFinder) -> list[int]:
    """Return the files of a name that declare to be of the package that a path has for folders."""
    folders, _, name = path.rpartition("/")
    if not name.endswith(_FREE_FOLDERS):
        return []
    return [file for file in finder.by_name(name) if declares(library, file, folders.replace("/", "."))]
