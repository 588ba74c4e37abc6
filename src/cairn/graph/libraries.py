"""Tells which files belong to a package that others install."""

from __future__ import annotations

from cairn.graph.code import Code

_MANIFESTS = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "composer.json", "go.mod", "pom.xml")


class Libraries:
    """The packages of one state of the code that others install: their manifests give them a name to publish."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._is_published: dict[str, bool] = {}

    def holds(self, path: str) -> bool:
        """Tell whether a file belongs to such a package: the nearest manifest above it decides."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            for name in _MANIFESTS:
                manifest = f"{folder}/{name}" if folder else name
                if manifest in self._code.numbers:
                    if manifest not in self._is_published:
                        text = self._code.checkout.read_text(manifest)
                        self._is_published[manifest] = _publishes(text, name)
                    return self._is_published[manifest]
        return False


def _publishes(text: str, name: str) -> bool:
    if name == "package.json":
        return '"private": true' not in text and ('"main"' in text or '"exports"' in text or '"module"' in text)
    if name == "pyproject.toml":
        return "[project]" in text or "[tool.poetry]" in text
    if name == "Cargo.toml":
        return "[package]" in text
    return True
