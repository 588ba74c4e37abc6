"""Finds Rust modules: from the crate, from the module around, or from another crate of the project."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from cairn.graph.modules.places import Place, ProjectPaths

_CRATE_FOLDERS = frozenset({"tests", "examples", "benches"})


_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


class _Crate(NamedTuple):
    """A crate of the project: the folder of its modules, and the file of its root where the manifest names one."""

    folder: str
    root: str


class RustModules:
    """The Rust modules of a project."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, path: str) -> Place:
        """Return the file of the longest part of a module's path that is a file, as the file at `path` means it."""
        parts = module.split("::")
        folder, stem = posixpath.dirname(path), posixpath.basename(path).removesuffix(".rs")
        is_root = stem in ("mod", "lib", "main") or self._is_crate(folder) or path in self._roots
        inner = folder if is_root else posixpath.join(folder, stem)
        if parts[0] == "crate":
            around = [
                crate
                for crate in self._crates.values()
                if f"/{path}".startswith(f"/{crate.folder}/".replace("//", "/"))
            ]
            crate = max(around, key=lambda crate: len(crate.folder), default=_Crate(folder, ""))
            return self._at(crate.folder, parts[1:], crate.root)
        if parts[0] in ("self", "super"):
            base = inner
            while parts and parts[0] in ("self", "super"):
                base = posixpath.dirname(base) if parts[0] == "super" else base
                parts = parts[1:]
            return self._at(base, parts)
        if (named := self._crates.get(parts[0])) is not None:
            return self._at(named.folder, parts[1:], named.root)
        place = self._at(inner, parts)
        return place if parts and place != self._at(inner, []) else None

    def _is_crate(self, folder: str) -> bool:
        """Tell whether each file of a folder is a crate of its own: a test, an example, a benchmark or a program."""
        above, _, name = folder.rpartition("/")
        if name == "bin":
            return above.endswith("src")
        manifest = f"{above}/Cargo.toml" if above else "Cargo.toml"
        return name in _CRATE_FOLDERS and manifest in self._paths.manifests("Cargo.toml")

    def names_of(self, number: int) -> frozenset[str]:
        """Return by what names of its crate others may import a file: none unless it is the root of one."""
        path = self._paths.paths[number]
        return frozenset(
            name
            for name, crate in self._crates.items()
            if self._at(crate.folder, (), crate.root) == number or path == crate.root
        )

    def _at(self, base: str, parts: Sequence[str], root: str = "") -> Place:
        """Return the file of the longest part of a path that is one.

        Args:
            base: the folder of a module.
            parts: what is below it.
            root: the file that is this module, if that has a name of its own.
        """
        for length in range(len(parts), -1, -1):
            target = posixpath.join(base, *parts[:length])
            files = [f"{target}.rs", f"{target}/mod.rs"]
            if not length:
                files = [*filter(None, [root]), *files, *(posixpath.join(base, name) for name in ("lib.rs", "main.rs"))]
            if (number := self._paths.first_of(files)) is not None:
                return number
        return None

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The files that manifests name as roots of crates."""
        return frozenset(crate.root for crate in self._crates.values())

    @cached_property
    def _crates(self) -> dict[str, _Crate]:
        """The crates of the project, by their names in code, and by those that other crates of it call them."""
        crates: dict[str, _Crate] = {}
        others: dict[str, str] = {}
        for path in self._paths.manifests("Cargo.toml"):
            folder, manifest = posixpath.dirname(path), _parse(self._paths.read(path))
            others |= _renamed_in(manifest)
            if manifest and "package" not in manifest:
                continue
            library = _as_dict(manifest.get("lib"))
            name = library.get("name") or _as_dict(manifest.get("package")).get("name") or posixpath.basename(folder)
            root = library.get("path")
            root = posixpath.normpath(posixpath.join(folder, root)) if isinstance(root, str) else ""
            inner = posixpath.dirname(root) if root else posixpath.join(folder, "src")
            crates[_in_code(name)] = _Crate(inner, root)
        return {name: crates[crate] for name, crate in others.items() if crate in crates} | crates


def _renamed_in(manifest: dict[str, Any]) -> dict[str, str]:
    """Return the names in code that a manifest gives other crates, each with the one that the crate itself has."""
    owners = [manifest, _as_dict(manifest.get("workspace")), *_as_dict(manifest.get("target")).values()]
    tables = [_as_dict(_as_dict(owner).get(kind)) for owner in owners for kind in _DEPENDENCIES]
    renamed = {name: _as_dict(entry).get("package") for table in tables for name, entry in table.items()}
    return {_in_code(name): _in_code(package) for name, package in renamed.items() if package}


def _in_code(name: object) -> str:
    """Return a crate's name as code has it."""
    return str(name).replace("-", "_")


def _parse(text: str) -> dict[str, Any]:
    """Read a manifest; empty if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _as_dict(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any TOML
    return value if isinstance(value, dict) else {}
