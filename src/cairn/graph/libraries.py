"""Tells which files belong to a package that others install."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from cairn.graph.code import Code
from cairn.graph.source_file import SourceFile

_MANIFESTS = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "composer.json", "go.mod", "pom.xml")
_PUBSPEC, _GEMSPEC = "pubspec.yaml", ".gemspec"
_STAYS_HERE = re.compile(r"^publish_to:\s*[\"']?none\b", re.MULTILINE)
_EXPORT = re.compile(rb"(?:@[^\n]*\s+)*export\b")
_EXPORTED = re.compile(rb"\bexport(?:[ \t]+(?:default|declare|abstract|async|const|let|var))*[ \t]*$")


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

    def offers(self, source: SourceFile, place: int) -> bool:
        """Tell whether a package lets others use a definition, where the head of this does not say so."""
        if source.rules.family == "ecmascript":
            return self.holds(source.path) and self._is_exported(source, place)
        if source.language == "dart":
            is_hidden = any(part.startswith("_") for part in source.definitions[place].qualified_name.split("."))
            return not is_hidden and self._is_below(source.path, self._folders_of_dart)
        return source.language == "ruby" and self._is_below(source.path, self._folders_of_gems)

    def _is_exported(self, source: SourceFile, place: int) -> bool:
        """Tell whether a file of JavaScript exports a definition, or the type that it is in."""
        while (outer := source.definitions[place].parent) >= 0:
            place = outer
        definition = source.definitions[place]
        if any(imported.name == definition.name for imported in source.facts.imports if not imported.module):
            return True
        data, start = self._code.checkout.read(source.number) or b"", definition.span.start_byte
        line = data[data.rfind(b"\n", 0, start) + 1 : start]
        return _EXPORT.match(data, start) is not None or _EXPORTED.search(line) is not None

    @staticmethod
    def _is_below(path: str, folders: frozenset[str]) -> bool:
        """Tell whether a file is in the code of one of some packages, which is in their folder `lib`."""
        while path:
            path, _, name = path.rpartition("/")
            if name == "lib" and path in folders:
                return True
        return False

    @cached_property
    def _folders_of_dart(self) -> frozenset[str]:
        manifests = (path for path in self._code.paths if posixpath.basename(path) == _PUBSPEC)
        read = self._code.checkout.read_text
        return frozenset(posixpath.dirname(path) for path in manifests if not _STAYS_HERE.search(read(path)))

    @cached_property
    def _folders_of_gems(self) -> frozenset[str]:
        return frozenset(posixpath.dirname(path) for path in self._code.paths if path.endswith(_GEMSPEC))


def _publishes(text: str, name: str) -> bool:
    if name == "package.json":
        return '"private": true' not in text and ('"main"' in text or '"exports"' in text or '"module"' in text)
    if name == "pyproject.toml":
        return "[project]" in text or "[tool.poetry]" in text
    if name == "Cargo.toml":
        return "[package]" in text
    return True
