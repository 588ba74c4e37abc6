"""Tells which of several functions of one name a call means, by how many arguments it gives."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.graph.entities import Entity
from cairn.graph.inheritance import Inheritance
from cairn.graph.linkage import are_apart
from cairn.graph.namesakes import MAX_OWNED, is_one_type
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import arity_of, receiver_of
from cairn.graph.source_file import SourceFile
from cairn.source.arguments import OVERLOADING

_COUNTED_KINDS = FUNCTION_KINDS - {"alias", "macro", "test", "task"}


class Overloads:
    """The functions of one state of the code, by how many arguments they take."""

    def __init__(self, sight: Sight, inheritance: Inheritance) -> None:
        self._sight = sight
        self._inheritance = inheritance

    def taking(self, function: Entity, count: int) -> Entity | None:
        """Return the function of a name that takes so many arguments, None if there is none.

        Those in the same type come first, then those that it inherits.

        Args:
            function: what the name means by itself.
            count: as `cairn.source.arguments` has it; unless it is known, any function takes the call.
        """
        if count < 0 or function.tag != "function" or self._takes(function.node, count):
            return function
        node = self._sight.memo.recall(
            ("taking", function.node, count), -1, lambda: self._find_taking(function.node, count)
        )
        return function._replace(node=node) if node >= 0 else None

    def _find_taking(self, node: int, count: int) -> int:
        code = self._sight.code
        for nodes in self._candidates(node):
            if taking := [other for other in nodes if self._takes(other, count)]:
                return code.main_of(taking)
        return -1

    def _candidates(self, node: int) -> Iterator[list[int]]:
        """Yield functions that a call may mean instead, the nearest first."""
        code = self._sight.code
        source, place = self._sight.file(file_of(node)), place_of(node)
        yield code.group(node)
        yield self._elsewhere(source, place)
        definition = source.definitions[place]
        if definition.parent >= 0 and source.definitions[definition.parent].kind in TYPE_KINDS:
            for base in self._inheritance.overridden(node_of(source.number, definition.parent), definition.name):
                self._sight.file(file_of(base))
                yield code.group(base)

    def _elsewhere(self, source: SourceFile, place: int) -> list[int]:
        """Return the functions of the same full name in other files, such as those of an open type."""
        definition = source.definitions[place]
        if not source.rules.open_types and definition.parent >= 0:
            return []
        own = source.full_name(place)
        extended = receiver_of(definition.signature, definition.name)
        found = []
        for node in self._sight.nodes_named(definition.name)[:MAX_OWNED]:
            other = self._sight.code.file(file_of(node))
            if other.number == source.number or other.rules.family != source.rules.family:
                continue
            if are_apart(source, place, other, place_of(node)):
                continue
            full_name = other.full_name(place_of(node))
            is_same = full_name == own or (source.rules.family == "c" and is_one_type(full_name, own))
            if is_same and receiver_of(self._sight.code.definition(node).signature, definition.name) == extended:
                found.append(node)
        return found

    def _takes(self, node: int, count: int) -> bool:
        """Tell whether a function takes so many arguments, as far as its head tells."""
        source, place = self._sight.file(file_of(node)), place_of(node)
        if source.language not in OVERLOADING or place < 0:
            return True
        definition = source.definitions[place]
        if definition.kind not in _COUNTED_KINDS:
            return True
        arity = arity_of(definition.signature, definition.name, source.language)
        if arity is None:
            return True
        is_inside = definition.parent >= 0 and source.definitions[definition.parent].kind in TYPE_KINDS
        if source.language == "cpp" and not is_inside:
            arity = arity._replace(least=0)  # its declaration has the defaults
        return arity.takes(count, is_dotted=False)
