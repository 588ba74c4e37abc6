"""Finds the method that all others of its name override: what a call means whatever it is called on."""

from __future__ import annotations

from cairn.graph.entities import How
from cairn.graph.inheritance import Inheritance
from cairn.graph.namesakes import Namesake, Namesakes
from cairn.graph.nodes import file_of, node_of
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile


class Roots:
    """The methods of one state of the code that all namesakes override."""

    def __init__(self, sight: Sight, namesakes: Namesakes, inheritance: Inheritance) -> None:
        self._sight = sight
        self._namesakes = namesakes
        self._inheritance = inheritance

    def find(self, source: SourceFile, name: str) -> Namesake | None:
        """Return the method that all others of its name override, in files that a file can call.

        Code beside tests calls none of these, and what is called on something is a method.
        """
        kin = source.rules.family or source.language
        in_tests = bool(self._sight.code.tests[source.number])
        key = ("root", name, kin, in_tests)
        return self._sight.memo.recall(key, None, lambda: self._find(source, name, in_tests=in_tests))

    def _find(self, source: SourceFile, name: str, *, in_tests: bool) -> Namesake | None:
        code = self._sight.code
        named = self._namesakes.functions(source, name)
        nodes = [node for node in named if in_tests or not code.tests[file_of(node)]]
        nodes = [node for node in nodes if code.definition(node).parent >= 0]
        above = {node: self._overridden(node, name) for node in nodes}
        roots = [node for node in nodes if not above[node]]
        is_only = len(roots) == 1 and all(roots[0] in above[node] for node in nodes if node != roots[0])
        return Namesake(roots[0], How.NAME) if is_only else None

    def _overridden(self, node: int, name: str) -> list[int]:
        """Return the methods of base types that a method overrides."""
        parent = self._sight.code.definition(node).parent
        return self._inheritance.overridden(node_of(file_of(node), parent), name) if parent >= 0 else []
