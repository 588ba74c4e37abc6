"""Finds Python modules: relative ones by their dots, others below the folders that packages lie in."""

from __future__ import annotations

import posixpath
import sys
from functools import cached_property

from cairn.graph.modules.places import Place, ProjectPaths, folders_around

_SUFFIXES = (".py", ".pyi")


class PythonModules:
    """The Python modules of a project."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, path: str) -> Place:
        """Return the file or folder that a module's name means in the file at `path`."""
        dots = len(module) - len(module.lstrip("."))
        parts = module[dots:].replace(".", "/")
        folder = posixpath.dirname(path)
        if dots:
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            return self.at(posixpath.join(folder, parts) if parts else folder)
        return self._find_absolute(parts, folder)

    def _find_absolute(self, parts: str, folder: str) -> Place:
        first = parts.partition("/")[0]
        # A script finds its neighbours; a module of a package only what its root holds.
        own_root = folder
        while self._paths.is_package(own_root):
            own_root = posixpath.dirname(own_root)
        namespace: Place = None
        for root in (own_root, *self.roots):
            place = self.at(posixpath.join(root, parts))
            if isinstance(place, int):
                if first in sys.stdlib_module_names and root not in (own_root, "", "src"):
                    continue
                return place
            if namespace is None and place is not None and place in self.folders:
                namespace = place
        return namespace if first not in sys.stdlib_module_names else None

    def at(self, base: str) -> Place:
        """Return the module or package at a path without a suffix, a folder for a namespace package."""
        candidates = (*(base + suffix for suffix in _SUFFIXES), f"{base}/__init__.py", f"{base}/__init__.pyi")
        if (number := self._paths.first_of(candidates)) is not None:
            return number
        return base if self._paths.is_folder(base) else None

    @cached_property
    def roots(self) -> list[str]:
        """The folders that packages lie in, those of packages with `__init__.py` and those with the common names."""
        packages = {
            posixpath.dirname(path)
            for path in self._paths.paths
            if posixpath.basename(path) in ("__init__.py", "__init__.pyi") and "/" in path
        }
        roots = {posixpath.dirname(package) for package in packages if posixpath.dirname(package) not in packages}
        roots |= {"", *(folder for folder in ("src", "lib", "python") if folder in self._paths.folders)}
        return sorted(roots, key=lambda root: (root.count("/") + bool(root), root))

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders below which any Python file lies, the root not included."""
        return folders_around(path for path in self._paths.paths if path.endswith(_SUFFIXES))
