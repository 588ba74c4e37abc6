"""Finds which of several definitions a file sees by what it includes, itself or by way of other headers."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import NamedTuple

from cairn.graph.linkage import SOURCES_OF_C, keeps_to_itself
from cairn.graph.memo import INCLUDES
from cairn.graph.nodes import file_of
from cairn.graph.recent import Recent
from cairn.graph.rules import NAMESPACE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile

_MAX_INCLUDED = 1_000  # files that a file includes, also by way of others


class _Included(NamedTuple):
    """What a file includes, itself or by way of others, and itself.

    Attributes:
        files: their numbers.
        levels: 1 for what it includes itself, 2 for what these include, and so on, by the paths without their endings,
            for a header stands for its source.
    """

    files: frozenset[int]
    levels: dict[str, int]


class Includes:
    """Knows what files include."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._code = sight.code
        self._known: Recent[int, _Included] = Recent(self._code.room.names, lambda found: 2 * len(found.files) + 8)

    def sees(self, source: SourceFile, other: SourceFile, place: int) -> bool:
        """Tell whether a file sees a definition of another, which a source file of C may keep to itself."""
        if other.number == source.number or not other.path.endswith(SOURCES_OF_C):
            return True
        is_own = keeps_to_itself(other, place) or other.definitions[place].signature.endswith(";")  # a prototype
        return not is_own or other.number in self._of(source).files

    def may_see(self, source: SourceFile, other: SourceFile, place: int) -> bool:
        """Tell whether a file may see a definition of another: whatever that does not keep to itself may be shared."""
        is_apart = other.number != source.number and keeps_to_itself(other, place)
        return not is_apart or other.number in self._of(source).files

    def choose(self, source: SourceFile, nodes: Sequence[int]) -> list[int]:
        """Return those of some definitions of one name that a file sees, with what may be their body, near by."""
        included = self._nearest(source, nodes)
        if not included or any(self._has_body(node) for node in included):
            return included
        bodies = [node for node in nodes if self._has_body(node) and not self._is_static(node)]
        common = {node: self._common_folders(node, included[0]) for node in bodies}
        return included + [node for node in bodies if common[node] == max(common.values())]

    def _has_body(self, node: int) -> bool:
        """Tell whether a definition is more than declared; prototypes are in headers as a rule, and not static."""
        return self._code.paths[file_of(node)].endswith(SOURCES_OF_C) or self._is_static(node)

    def _is_static(self, node: int) -> bool:
        return "static " in self._code.definition(node).signature

    def _common_folders(self, node: int, other: int) -> int:
        """Return how many folders around two definitions are the same, counted from the top."""
        folders = [self._code.paths[file_of(each)].split("/")[:-1] for each in (node, other)]
        return len(posixpath.commonprefix(folders))

    def _nearest(self, source: SourceFile, nodes: Sequence[int]) -> list[int]:
        """Return those of some definitions that a file sees by what it includes, and of these the nearest.

        A namespace, and what is in it, counts only where the file includes it itself: a name alone leaves open which.
        """
        by_level: dict[int, list[int]] = {}
        levels = self._of(source).levels
        for node in nodes:
            level = levels.get(_stem(self._code.paths[file_of(node)]), 0)
            definition = self._code.definition(node)
            is_plain = definition.qualified_name == definition.name and definition.kind not in NAMESPACE_KINDS
            if level == 1 or (level and is_plain):
                by_level.setdefault(level, []).append(node)
        return by_level[min(by_level)] if by_level else []

    def _of(self, source: SourceFile) -> _Included:
        """Return what a file includes."""
        self._sight.memo.need(INCLUDES)
        known = self._known.get(source.number)
        return known or self._known.put(source.number, self._find(source))

    def _find(self, source: SourceFile) -> _Included:
        files = {source.number: 0}
        for number in (queue := [source.number]):
            including = self._code.file(number)
            for imported in including.stars:
                place = self._code.modules.look_up(imported.module, including.path, including.rules.finder).place
                if isinstance(place, int) and place not in files and len(files) < _MAX_INCLUDED:
                    files[place] = files[number] + 1
                    queue.append(place)
        levels: dict[str, int] = {}
        for number in queue[1:]:
            levels.setdefault(_stem(self._code.paths[number]), files[number])
        return _Included(frozenset(files), levels)


def _stem(path: str) -> str:
    return posixpath.splitext(path)[0]
