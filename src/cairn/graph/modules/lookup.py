"""Finds the file or package that an import names, with what that depends on."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cairn.graph.memo import Needs, place_called
from cairn.graph.modules.dart import DartModules
from cairn.graph.modules.ecmascript import EcmascriptModules
from cairn.graph.modules.go import GoModules
from cairn.graph.modules.places import Finder, Place, ProjectPaths, is_manifest, last_part
from cairn.graph.modules.python import PythonModules
from cairn.graph.modules.rust import RustModules
from cairn.graph.recent import Recent

ANY_PATH = "*"  # what a pattern needs: any file that comes or goes may fit it
_MAX_MODULE_CHARS = 500  # more than anybody writes; every leading part of a name is looked for
_MAX_KEPT = 40_000


class ModulePlace(NamedTuple):
    """Where a module is, and what that needs, as in `cairn.graph.memo`."""

    place: Place
    needs: Needs


_OUTSIDE = ModulePlace(None, frozenset())


class Modules:
    """Looks modules up among the paths of a view.

    Args:
        paths: the files, by number.
        read: returns the text of a manifest, empty when it cannot be read.
        limit: how many look-ups are remembered.
    """

    def __init__(self, paths: Sequence[str], read: Callable[[str], str], limit: int = _MAX_KEPT) -> None:
        self.paths = paths
        self._paths = ProjectPaths(paths, read)
        self._python = PythonModules(self._paths)
        self._ecmascript = EcmascriptModules(self._paths)
        self._rust = RustModules(self._paths)
        self._finders: dict[str, Finder] = {
            "python": self._python.find,
            "ecmascript": self._ecmascript.find,
            "dart": DartModules(self._paths).find,
            "go": GoModules(self._paths).find,
            "rust": self._rust.find,
        }
        self._kept: Recent[tuple[str, str, str], ModulePlace] = Recent(limit, lambda _: 1)

    def resolve(self, module: str, path: str, finder: str) -> Place:
        """Return what `module` means in the file at `path`; a leading `/` of the text means the project's root."""
        return self.look_up(module, path, finder).place

    def look_up(self, module: str, path: str, finder: str) -> ModulePlace:
        """Return the same with what it needs; a name that nobody would write lies outside the project.

        Args:
            finder: how the language gets from an import to a file, as its rules name it; empty for a language that
                cannot.
        """
        if len(module) > _MAX_MODULE_CHARS:
            return _OUTSIDE
        key = (module, path if finder in _BY_FILE or module.startswith(_BELOW) else posixpath.dirname(path), finder)
        if (known := self._kept.get(key)) is not None:
            return known
        self._paths.begin()
        return self._kept.put(key, ModulePlace(self._find(module, path, finder), self._paths.needs))

    def _find(self, module: str, path: str, finder: str) -> Place:
        if (find := self._finders.get(finder)) is not None:
            return find(module, path)
        if module.startswith(_BELOW):
            name = f"{module.removeprefix(_BELOW)}.rb"
            below = self._paths.at(f"{posixpath.splitext(path)[0]}/{name}")
            return below if below is not None else self._paths.nearest_ending_in([name], path)
        if (endings_of := _ENDINGS.get(finder)) is not None:
            return self._paths.nearest_ending_in(endings_of(module), path)
        return None

    def matching(self, pattern: str, path: str, finder: str) -> list[int]:
        """Return the files that a pattern fits by which the file at `path` imports many; see `ANY_PATH`."""
        return self._ecmascript.matching(pattern, path) if finder == "ecmascript" else []

    def names_of(self, number: int, finder: str) -> frozenset[str]:
        """Return what imports may call a file that need not say its own name or its folder's, such as a package."""
        naming = {"ecmascript": self._ecmascript.names_of, "rust": self._rust.names_of}.get(finder)
        return naming(number) if naming is not None else frozenset()

    def child(self, place: Place, name: str) -> ModulePlace:
        """Return the submodule `name` of a Python module or package."""
        if place is None:
            return _OUTSIDE
        folder = place if isinstance(place, str) else posixpath.dirname(self.paths[place])
        if isinstance(place, int) and posixpath.basename(self.paths[place]).partition(".")[0] != "__init__":
            return _OUTSIDE
        self._paths.begin()
        return ModulePlace(self._python.at(posixpath.join(folder, name)), self._paths.needs)


_BELOW = (
    "::"  # before the name of a file that Ruby loads by itself, from the folder with the name of the file that says so
)
# Languages in which the name of a file counts, too, for what a module means in it.
_BY_FILE = frozenset({"python", "rust"})
# How the paths of a module may end, for languages that search several folders for the file that is named.
_ENDINGS: dict[str, Callable[[str], list[str]]] = {
    "c": lambda module: [module],
    "ruby": lambda module: [module if module.endswith(".rb") else f"{module}.rb"],
    "julia": lambda module: [module if module.endswith(".jl") else f"{module.replace('.', '/')}.jl"],
    "lua": lambda module: [f"{module.replace('.', '/')}.lua", f"{module.replace('.', '/')}/init.lua"],
    "php": lambda module: [module] if module.endswith(".php") else [],
    "file": lambda module: [module.rpartition(":")[2]],
}


def find_affected_needs(old: Sequence[str], new: Sequence[str]) -> Needs | None:
    """Return the needs that files which come or go concern, None where they concern every look-up.

    That is so of manifests, and of the first and last package of a folder from which Python imports.
    """
    before, after = ProjectPaths(old, lambda _: ""), ProjectPaths(new, lambda _: "")
    python_before, python_after = PythonModules(before), PythonModules(after)
    moved = set(old) ^ set(new)
    if any(is_manifest(path) for path in moved) or python_before.roots != python_after.roots:
        return None
    texts = {last_part(path) for path in moved}
    texts |= {last_part(folder) for folder in before.folders ^ after.folders}
    texts |= {last_part(folder) for folder in python_before.folders ^ python_after.folders}
    texts |= {f"={posixpath.basename(path)}" for path in moved}
    texts |= {f"={path}" for path in moved if posixpath.basename(path) == "__init__.py"}
    texts |= {f"{posixpath.dirname(path)}/" for path in moved} | {ANY_PATH}
    return frozenset(map(place_called, texts))
