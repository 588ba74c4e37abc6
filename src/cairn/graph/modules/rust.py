"""Finds Rust modules: from the crate, from the module around, or from another crate of the project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import cached_property

from cairn.graph.modules.places import Place, ProjectPaths

_PACKAGE_NAME = re.compile(r"^\[package\][^\[]*?^name\s*=\s*\"([^\"]+)\"", re.MULTILINE | re.DOTALL)

_CRATE_FOLDERS = frozenset({"tests", "examples", "benches"})


class RustModules:
    """The Rust modules of a project."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, path: str) -> Place:
        """Return the file of the longest part of a module's path that is a file, as the file at `path` means it."""
        parts = module.split("::")
        folder, stem = posixpath.dirname(path), posixpath.basename(path).removesuffix(".rs")
        is_root = stem in ("mod", "lib", "main") or self._is_crate(folder)
        inner = folder if is_root else posixpath.join(folder, stem)
        if parts[0] == "crate":
            roots = [root for root in self._crates.values() if path.startswith(f"{root}/")]
            return self._at(max(roots, key=len, default=folder), parts[1:])
        if parts[0] in ("self", "super"):
            base = inner
            while parts and parts[0] in ("self", "super"):
                base = posixpath.dirname(base) if parts[0] == "super" else base
                parts = parts[1:]
            return self._at(base, parts)
        if parts[0] in self._crates:
            return self._at(self._crates[parts[0]], parts[1:])
        place = self._at(inner, parts)
        return place if parts and place != self._at(inner, []) else None

    def _is_crate(self, folder: str) -> bool:
        """Tell whether each file of a folder is a crate of its own: a test, an example, a benchmark or a program."""
        above, _, name = folder.rpartition("/")
        if name == "bin":
            return above.endswith("src")
        manifest = f"{above}/Cargo.toml" if above else "Cargo.toml"
        return name in _CRATE_FOLDERS and manifest in self._paths.manifests("Cargo.toml")

    def _at(self, base: str, parts: Sequence[str]) -> Place:
        """Return the file of the longest part of a path that is one."""
        for length in range(len(parts), -1, -1):
            target = posixpath.join(base, *parts[:length])
            roots = [] if length else [f"{target}/lib.rs", f"{target}/main.rs"]
            if (number := self._paths.first_of([f"{target}.rs", f"{target}/mod.rs", *roots])) is not None:
                return number
        return None

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The source folder of each crate of the project, by its name in code."""
        crates = {}
        for path in self._paths.manifests("Cargo.toml"):
            folder = posixpath.dirname(path)
            declared = _PACKAGE_NAME.search(self._paths.read(path))
            name = declared[1] if declared else posixpath.basename(folder)
            crates[name.replace("-", "_")] = posixpath.join(folder, "src")
        return crates
