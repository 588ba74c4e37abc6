"""Finds Go packages, which are folders, by the module paths that go.mod files declare."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from cairn.graph.modules.places import Place, ProjectPaths

_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


class GoModules:
    """The Go packages of a project."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, _path: str) -> Place:
        """Return the folder of a package."""
        for name, folder in self._modules:
            if module == name or module.startswith(f"{name}/"):
                target = posixpath.join(folder, module[len(name) + 1 :]).rstrip("/")
                return target if self._paths.is_folder(target) or not target else None
        return None

    @cached_property
    def _modules(self) -> list[tuple[str, str]]:
        """The (module path, folder) of each go.mod, the longest path first."""
        declared = [
            (_MODULE.search(self._paths.read(path)), posixpath.dirname(path))
            for path in self._paths.manifests("go.mod")
        ]
        modules = [(match[1], folder) for match, folder in declared if match is not None]
        return sorted(modules, key=lambda module: -len(module[0]))
