"""What a change may break, and which tests to run for it."""

from __future__ import annotations

from pathlib import Path

from cairn.graph.changes import find_change
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests, impact
from cairn.graph.values import Impact, TestChoice
from cairn.source.git import Repository


class ChangeQuestions:
    """Asks a symbol graph about changes; see `GraphFacet`.

    Args:
        root: the folder of the project.
        repository: the checkout it belongs to, None outside git.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self._root = root
        self._repository = repository

    def impact(self, graph: Graph, place: str | None, diff: str | None, limit: int) -> Impact:
        """Return what a change of a symbol, or of all that differs from a revision, may break."""
        change = find_change(graph, place, diff, self._root, self._repository)
        return impact(graph, change.nodes, limit, leftovers=change.leftovers)

    def tests(self, graph: Graph, place: str | None, diff: str | None, limit: int) -> TestChoice:
        """Return the test files worth running for such a change."""
        change = find_change(graph, place, diff, self._root, self._repository)
        return choose_tests(graph, change.nodes, limit, change.leftovers)
