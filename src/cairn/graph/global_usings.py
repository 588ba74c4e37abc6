"""Knows what `global using` of C# imports into all files of a project."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cached_property

from cairn.graph.memo import GLOBAL_USINGS
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile
from cairn.source.imports import Import, ImportFlag


class GlobalUsings:
    """The imports of C# that count in all files below the folder of a `.csproj`."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    def stars(self, source: SourceFile) -> list[str]:
        """Return the namespaces, and the types with `using static`, that are imported into a file in this way."""
        return [imported.module for imported in self._of(source) if imported.name == "*"]

    def aliases(self, source: SourceFile, name: str) -> list[Import]:
        """Return what a name stands for in a file in this way."""
        return [imported for imported in self._of(source) if imported.alias == name]

    def _of(self, source: SourceFile) -> list[Import]:
        if source.language != "csharp":
            return []
        folder = self._project_of(source.path)
        none: list[Import] = []
        return self._sight.memo.recall(("global usings", folder), none, lambda: list(self._find(folder)))

    def _find(self, folder: str) -> Iterator[Import]:
        self._sight.memo.need(GLOBAL_USINGS)
        for number in self._files.get(folder, ()):
            yield from global_imports(self._sight.file(number))

    @cached_property
    def _files(self) -> dict[str, list[int]]:
        """The files that have some, by the folder of their project."""
        code = self._sight.code
        files = (number for number in code.mentions.may_mention("global") if code.languages[number] == "csharp")
        by_folder: dict[str, list[int]] = {}
        for number in sorted(code.mentions.iter_mentioning(["global using"], files)):
            by_folder.setdefault(self._project_of(code.paths[number]), []).append(number)
        return by_folder

    @cached_property
    def _projects(self) -> frozenset[str]:
        return frozenset(posixpath.dirname(path) for path in self._sight.code.paths if path.endswith(".csproj"))

    def _project_of(self, path: str) -> str:
        """Return the folder of the project that compiles a file."""
        folder = posixpath.dirname(path)
        while folder and folder not in self._projects:
            folder = posixpath.dirname(folder)
        return folder


def global_imports(source: SourceFile) -> list[Import]:
    """Return what a file of C# imports into all files of its project."""
    if source.language != "csharp":
        return []
    return [imported for imported in source.facts.imports if imported.flags & ImportFlag.REEXPORT]
