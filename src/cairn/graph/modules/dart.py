"""Finds the file that an import of Dart leads to: beside the importing file, or in a package by its pubspec."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from cairn.graph.modules.places import Place, ProjectPaths

_NAME = re.compile(r"^name:\s*[\"']?(\w+)", re.MULTILINE)
_PACKAGE = "package:"


class DartModules:
    """The files that imports of Dart lead to."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, path: str) -> Place:
        """Return the file at an address."""
        if module.startswith(_PACKAGE):
            package, _, rest = module.removeprefix(_PACKAGE).partition("/")
            return self._paths.first_of(
                posixpath.join(folder, "lib", rest) for folder in self._packages.get(package, ())
            )
        if ":" in module:  # a library of Dart itself
            return None
        return self._paths.at(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))

    @cached_property
    def _packages(self) -> dict[str, list[str]]:
        """The folders of each package, by its name."""
        packages: dict[str, list[str]] = {}
        for manifest in self._paths.manifests("pubspec.yaml"):
            if (name := _NAME.search(self._paths.read(manifest))) is not None:
                packages.setdefault(name[1], []).append(posixpath.dirname(manifest))
        return packages
