"""Finds the files of a project that are probably meant by a path that none of them has."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from cairn.loading import load
from cairn.search.file_finder import FOLDER_STEMS, FileFinder, has_known_ending, parts_of_path
from cairn.search.installed import package_of, path_in_library

# Of files for a path that none has: how many are meant and compared, and how like a name, or a path whose name says
# little, must be, 0 to 1.
_MOST_LIKE, _MOST_COMPARED, _LEAST_LIKE = 3, 64, 0.8
_LIKE_PROGRAM = 0.9  # how like the name of a program must be, whose first word many have


def files_like(finder: FileFinder, path: str) -> list[int]:
    """Return the numbers of the files that a path probably means which no file has, the most alike first.

    They have its name in another folder, or with another ending, or a name that is like it. A path without the
    ending of a language means none but a program such as `git-effort`, nor does one in an installed package of another
    project.
    """
    *folders, name = parts_of_path(path) or [""]
    stem = name.rpartition(".")[0]
    if path == name and "-" in name and not stem and ":" not in name:
        return _programs_like(finder, name)
    if not stem or not has_known_ending(name) or "://" in path:
        return []
    if found := finder.by_path(path):
        return found
    if package_of(path) or path_in_library(path):
        return []
    by_name = finder.files_by_name
    names = [name] if name in by_name else [own for own in by_name if own.rpartition(".")[0] == stem]
    is_called_so = bool(names) and stem not in FOLDER_STEMS
    names = names or load("cairn.graph.alike:names_like")(by_name, name, _MOST_LIKE, _LEAST_LIKE)
    files = [file for own in names for file in by_name[own]]
    if not folders:
        return files if len(files) <= _MOST_LIKE else []
    return _with_likest_path(finder.paths, files, path, 0.0 if is_called_so else _LEAST_LIKE)


def _programs_like(finder: FileFinder, name: str) -> list[int]:
    """Return the numbers of the files without an ending whose names of several words are like one."""
    by_name = finder.files_by_name
    programs = [own for own in by_name if "-" in own and "." not in own]
    like = load("cairn.graph.alike:names_like")(programs, name, _MOST_LIKE, _LIKE_PROGRAM)
    return [file for own in like for file in by_name[own]][:_MOST_LIKE]


def _with_likest_path(paths: Sequence[str], files: Sequence[int], path: str, least: float) -> list[int]:
    """Return those of some files whose paths are most like one, and at least so much."""
    parts = set(parts_of_path(path))
    nearest = sorted(files, key=lambda file: -len(parts.intersection(paths[file].split("/"))))
    likeness = {file: SequenceMatcher(None, paths[file], path).ratio() for file in nearest[:_MOST_COMPARED]}
    found = [file for file, ratio in likeness.items() if ratio >= least]
    return sorted(found, key=lambda file: -likeness[file])[:_MOST_LIKE]
