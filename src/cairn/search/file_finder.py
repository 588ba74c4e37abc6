"""Finds the files of a project that a text means by a path or the name of a module."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from cairn.search.installed import MAX_PATH_CHARS, package_of, path_in_library, plain_name
from cairn.source.languages import EXTENSIONS

if TYPE_CHECKING:
    from cairn.index.snapshot import Snapshot

_BETWEEN_WORDS = re.compile(r"[-_]|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATOR = re.compile(r"\.|::|#")
# The file that stands for the folder that it is in.
FOLDER_STEMS = frozenset({"__init__", "mod", "index", "lib", "main"})
# Folders that nearly every project has: what is in them alone tells no project from another.
_USUAL_FOLDERS = frozenset({"src", "lib", "app", "test", "tests", "spec", "cmd", "main", "dist", "public"})
MAX_ALIKE = 8  # with more files of that name none is meant


class FileFinder:
    """Finds files by how their paths end.

    Args:
        paths: of all files of the project, with `/` between their parts.

    Attributes:
        paths: as given.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    def by_path(self, path: str) -> list[int]:
        """Return the numbers of the files that a path means; several if it does not say which.

        The path may be from another machine. The longest end that a file has in common with it decides: the whole of
        either, or at least the name and a folder that not every project has. One in an installed package counts if a
        folder or file of the project is called like that, and is below such a folder if one of several is. One among
        the modules of a language counts if all of its path there is that of the file.
        """
        path = path.replace("\\", "/")[-MAX_PATH_CHARS:]
        parts = parts_of_path(path)
        if not parts or not (alike := self.files_by_name.get(parts[-1], [])):
            return []
        if (package := package_of(path)) and package not in self._parts:
            return []
        found = self._with_longest_end(alike, parts)
        if not found:
            return []
        if package and len(found) > 1:
            found = [file for file in found if package in map(plain_name, self.paths[file].split("/")[:-1])] or found
        elif not package and (inside := path_in_library(path)):
            found = [file for file in found if self._is_in_library(file, inside)]
        elif not package:
            found = [file for file in found if self._may_be(file, parts)]
        return found if len(found) <= MAX_ALIKE else []

    def _is_in_library(self, file: int, inside: str) -> bool:
        """Tell whether a file may be the one at a path among a language's modules: of no larger package of Python."""
        own = self.paths[file]
        if "/src/" in inside and f"/{own}".endswith("/" + inside.replace("/src/", "/", 1)):
            return True  # put there by a build
        above = own.removesuffix(f"/{inside}")
        return own == inside or (above != own and not self.exactly(f"{above}/__init__.py"))

    def _may_be(self, file: int, parts: Sequence[str]) -> bool:
        """Tell whether a path that is in no package may be that of a file, with whose end it has its own in common."""
        own = self.paths[file].split("/")
        common = _n_common(own, parts)
        if common in (len(parts), len(own)):
            return True
        return not _USUAL_FOLDERS.issuperset(parts[-common:-1])

    def has_package(self, package: str) -> bool:
        """Tell whether a folder or a file of the project has the plain name of a package."""
        return package in self._parts

    def has_name(self, name: str) -> bool:
        """Tell whether a file has a name."""
        return name in self.files_by_name

    def by_name(self, name: str) -> list[int]:
        """Return the numbers of the files that have a name, none if there are many."""
        found = self.files_by_name.get(name, [])
        return found if len(found) <= MAX_ALIKE else []

    def n_common(self, path: str, file: int) -> int:
        """Return how many parts a path and that of a file have in common at their ends."""
        return _n_common(self.paths[file].split("/"), parts_of_path(path))

    def in_folder(self, path: str) -> list[int]:
        """Return the numbers of the files in exactly this folder of the project, and then of those below it."""
        within = "/".join(parts_of_path(path)) + "/"
        found = [number for number, own in enumerate(self.paths) if own.startswith(within)]
        return sorted(found, key=lambda number: self.paths[number].count("/"))

    def by_module(self, name: str) -> list[int]:
        """Return the numbers of the files that a dotted name, or the beginning of one, means as a module."""
        parts = _SEPARATOR.split(name)
        for end in range(len(parts), 1, -1):
            found = self._of_longest_module(self.files_by_module.get(parts[end - 1], []), parts[:end])
            if found:
                return found if len(found) <= MAX_ALIKE else []
        return []

    def exactly(self, path: str) -> list[int]:
        """Return the number of the file with exactly this path from the root of the project, none if there is none."""
        return [number for number in self.files_by_name.get(path.rpartition("/")[2], []) if self.paths[number] == path]

    def by_stem(self, stem: str) -> list[int]:
        """Return the numbers of the files that are called so but for their ending, none if there are many."""
        found = [
            number
            for name in self.files_by_name
            if name.rpartition(".")[0] == stem
            for number in self.files_by_name[name]
        ]
        return found if len(found) <= MAX_ALIKE else []

    def by_words(self, name: str) -> list[int]:
        """Return the numbers of the files that are called as a name, in whatever style either joins its words.

        A folder before the name, as in `Style/NoVar`, is also that of the file. Without one it must have several words.
        None is meant if there are many.
        """
        *folders, stem = parts_of_path(name)
        words, above = _words_of(stem), _words_of(folders[-1]) if folders else ""
        found = self._by_words.get(words, []) if folders or "-" in words else []
        if above:
            found = [file for file in found if _words_of(self.paths[file].rpartition("/")[0]) == above]
        return found if len(found) <= MAX_ALIKE else []

    @cached_property
    def _by_words(self) -> defaultdict[str, list[int]]:
        """Files by the words of their names."""
        files: defaultdict[str, list[int]] = defaultdict(list)
        for name, own in self.files_by_name.items():
            files[_words_of(name.partition(".")[0])] += own
        return files

    @cached_property
    def _parts(self) -> frozenset[str]:
        """The plain names of all folders, and the stems of all files."""
        folders = {path.rpartition("/")[0] for path in self.paths}
        stems = {path.rpartition("/")[2].partition(".")[0] for path in self.paths}
        return frozenset(map(plain_name, stems.union(*(folder.split("/") for folder in folders))))

    @cached_property
    def files_by_name(self) -> defaultdict[str, list[int]]:
        """Files by the last part of their paths."""
        files: defaultdict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(self.paths):
            files[path.rpartition("/")[2]].append(number)
        return files

    @cached_property
    def files_by_module(self) -> defaultdict[str, list[int]]:
        """Files by the last part of their modules."""
        files: defaultdict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(self.paths):
            files[module_parts(path)[-1]].append(number)
        return files

    def _with_longest_end(self, files: Sequence[int], parts: Sequence[str]) -> list[int]:
        """Return those of some files, all called as a path ends, that share most parts at the end with it.

        All parts of either are enough, else there must be two in common.
        """
        for n_common in range(len(parts), 0, -1):
            end = "/".join(parts[-n_common:])
            exact = [number for number in files if self.paths[number] == end]
            if exact and n_common > 1:
                return exact  # a folder of tests may repeat the whole path of a file
            is_enough = n_common > 1 or len(parts) == 1
            below = f"/{end}"
            found = [number for number in files if self.paths[number].endswith(below)] if is_enough else []
            if found or exact:
                return sorted([*found, *exact])
        return []

    def _of_longest_module(self, files: Sequence[int], parts: Sequence[str]) -> list[int]:
        """Return those of some files that share most parts at the end, two at least, with the name of a module."""
        longest, found = 2, list[int]()
        for number in files:
            common = _n_common(module_parts(self.paths[number]), parts)
            if common > longest:
                longest, found = common, [number]
            elif common == longest:
                found.append(number)
        return found


_finders: WeakKeyDictionary[Snapshot, FileFinder] = WeakKeyDictionary()


def finder_of(snapshot: Snapshot) -> FileFinder:
    """Return what finds the files of a snapshot, made once for each."""
    if (finder := _finders.get(snapshot)) is None:
        finder = _finders[snapshot] = FileFinder(snapshot.files.paths)
    return finder


def parts_of_path(path: str) -> list[str]:
    """Return the folders and the name that a path has, as it is typed."""
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]


def has_known_ending(path: str) -> bool:
    """Tell whether a path ends as files of a language do."""
    return path[path.rfind(".") :] in EXTENSIONS


def module_parts(path: str) -> list[str]:
    """Return the parts of a path without the file's ending, and without a name that stands for the folder."""
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    parts = folders.split("/") if folders else []
    return parts if parts and stem in FOLDER_STEMS else [*parts, stem]


def _words_of(name: str) -> str:
    """Return the words of a name, or of the last part of a path, joined by hyphens."""
    return _BETWEEN_WORDS.sub("-", name.rpartition("/")[2]).lower()


def _n_common(own: Sequence[str], parts: Sequence[str]) -> int:
    """Return how many parts two paths have in common at their ends."""
    count = 0
    for one, other in zip(reversed(own), reversed(parts), strict=False):
        if one != other:
            break
        count += 1
    return count
