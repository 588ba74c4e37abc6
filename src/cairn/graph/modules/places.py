"""Looks paths up among the files of a view, and notes what was tried.

What a look-up needs is the last part of every path that was tried, there or not: one that comes or goes can change the
answer only if it ends in such a part. `index.ts`, `__init__.py` and their like go by the folder that they stand for.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from cairn.graph.memo import place_called

_MANIFESTS = frozenset(
    {"package.json", "tsconfig.json", "jsconfig.json", "go.mod", "Cargo.toml", "pubspec.yaml", "bundler"}
)
_OF_BUNDLER = re.compile(
    r"(?:vite|vitest|electron\.vite|svelte|nuxt|vue|astro|quasar|webpack|rspack)\.config\.[cm]?[jt]s"
)

_STANDS_FOR_FOLDER = frozenset({"__init__", "index", "mod", "lib", "main"})

# A place: a file's number, a folder's path for what has no file of its own, None for what lies outside the project.
Place = int | str | None
Finder = Callable[[str, str], Place]  # from a module and the path of the file that names it


class ProjectPaths:
    """The paths of a view, as look-ups see them.

    Args:
        paths: the files, by number.
        read: returns the text of a manifest, empty when it cannot be read.
    """

    def __init__(self, paths: Sequence[str], read: Callable[[str], str]) -> None:
        self.paths = paths
        self.read = read
        self._number = {path: number for number, path in enumerate(paths)}
        self._tried: set[int] = set()

    def begin(self) -> None:
        """Forget what was tried."""
        self._tried = set()

    @property
    def needs(self) -> frozenset[int]:
        """What was tried since `begin`, as in `cairn.graph.memo`."""
        return frozenset(self._tried)

    # -- one path -----------------------------------------------------------------------------------------------------

    def at(self, path: str) -> int | None:
        """Return the file at a path."""
        self._tried.add(place_called(last_part(path)))
        return self._number.get(path)

    def first_of(self, paths: Iterable[str]) -> int | None:
        """Return the file at the first of several paths that is there."""
        return next((number for path in paths if (number := self.at(path)) is not None), None)

    def is_folder(self, folder: str) -> bool:
        """Tell whether any file lies below a folder."""
        self._tried.add(place_called(last_part(folder)))
        return folder in self.folders

    def is_package(self, folder: str) -> bool:
        """Tell whether a folder has an `__init__.py`."""
        path = f"{folder}/__init__.py"
        self._tried.add(place_called(f"={path}"))
        return path in self._number

    # -- all paths ----------------------------------------------------------------------------------------------------

    @cached_property
    def folders(self) -> frozenset[str]:
        """All folders, the root not included."""
        return folders_around(self.paths)

    def manifests(self, *names: str) -> list[str]:
        """Return the paths of the manifests of some names."""
        return [path for name in names for path in self._manifests_by_name.get(name, ())]

    @cached_property
    def _manifests_by_name(self) -> dict[str, list[str]]:
        manifests = defaultdict(list)
        for path in self.paths:
            if is_manifest(path):
                manifests[_manifest_name(path)].append(path)
        return manifests

    @cached_property
    def _numbers_by_name(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(self.paths):
            numbers[posixpath.basename(path)].append(number)
        return numbers

    def nearest_ending_in(self, endings: Iterable[str], path: str) -> Place:
        """Return the file whose path ends in one of `endings`, the nearest to `path` of several."""
        for ending in endings:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), ending))
            if (number := self.at(beside)) is not None:
                return number
            plain = ending.lstrip("./")
            name = posixpath.basename(plain)
            self._tried.add(place_called(f"={name}"))
            numbers = [
                number
                for number in self._numbers_by_name.get(name, ())
                if f"/{self.paths[number]}".endswith(f"/{plain}")
            ]
            if numbers:
                return min(
                    numbers, key=lambda number: (-n_shared_folders(self.paths[number], path), len(self.paths[number]))
                )
        return None


def last_part(path: str) -> str:
    """Return what a path is looked up by: the stem of the file, or the name of the folder that it stands for."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2].partition(".")[0] if stem in _STANDS_FOR_FOLDER else stem


def is_manifest(path: str) -> bool:
    """Tell whether the content of a file says where modules are."""
    return _manifest_name(path) in _MANIFESTS


def _manifest_name(path: str) -> str:
    """Return the name of a manifest: `tsconfig.json` also of parts of one, `bundler` of the settings of any."""
    name = posixpath.basename(path)
    if _OF_BUNDLER.fullmatch(name):
        return "bundler"
    return "tsconfig.json" if name.startswith("tsconfig.") and name.endswith(".json") else name


def folders_around(paths: Iterable[str]) -> frozenset[str]:
    """Return all folders that some files are in, the root not included."""
    folders: set[str] = set()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(folders)


def n_shared_folders(left: str, right: str) -> int:
    """Return how many leading folders two paths share."""
    count = 0
    for left_part, right_part in zip(left.split("/"), right.split("/"), strict=False):
        if left_part != right_part:
            break
        count += 1
    return count
