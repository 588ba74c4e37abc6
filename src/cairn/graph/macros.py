"""Finds the macros that calls such as `name!(…)` mean, in Rust: they are visible by file, by crate and by import."""

from __future__ import annotations

import posixpath

from cairn.graph.entities import Entity, How
from cairn.graph.nodes import file_of
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile


class Macros:
    """The macros of one state of the code."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._code = sight.code

    def look_up(self, source: SourceFile, expression: str) -> Entity | None:
        """Return the macro that an expression such as `tokio.select!` means in a file, None if that is unknown."""
        path, _, name = expression.rstrip("!").rpartition(".")
        nodes = [node for node in self._sight.nodes_named(name) if self._code.definition(node).kind == "macro"]
        if not nodes:
            return None
        own = [node for node in nodes if file_of(node) == source.number]
        if own and not path:
            return Entity("function", self._code.main_of(own))
        crates = self._crates(source, path, name)
        for crate in crates:
            if found := [node for node in nodes if self._code.paths[file_of(node)].startswith(crate)]:
                return Entity("function", self._code.main_of(found), How.IMPORT)
        return None

    def _crates(self, source: SourceFile, path: str, name: str) -> list[str]:
        """Return the folders of the crates whose macros a name may mean, the nearest first."""
        own = self._crate_of(source)
        if path:
            first = path.partition(".")[0]
            if first in ("crate", "$crate", "self", "super"):
                return [own]
            modules = [imported.module or imported.name for imported in source.aliases.get(first, ())] or [first]
            return self._crates_of(source, modules)
        modules = [imported.module for imported in source.aliases.get(name, ()) if imported.name]
        if modules:
            return self._crates_of(source, modules)
        others = [imported.module or imported.alias for imported in source.facts.imports]
        return [own, *self._crates_of(source, others)]

    def _crates_of(self, source: SourceFile, modules: list[str]) -> list[str]:
        places = (self._sight.place(source, module.partition("::")[0]) for module in dict.fromkeys(modules))
        files = (self._sight.file(place) for place in places if isinstance(place, int))
        return list(dict.fromkeys(self._crate_of(file) for file in files))

    def _crate_of(self, source: SourceFile) -> str:
        """Return the folder of a file's crate, with a slash at its end; that of the file itself where there is none."""
        root = self._sight.place(source, "crate")
        folder = posixpath.dirname(self._code.paths[root] if isinstance(root, int) else source.path)
        return f"{folder}/" if folder else ""
