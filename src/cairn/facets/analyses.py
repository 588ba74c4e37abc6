"""Analyses of the symbol graph beyond a single symbol: changes, a context, the project as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cairn.answers import OutlineSymbol
from cairn.errors import DiffError, QueryError
from cairn.graph.changes import find_change
from cairn.graph.cycles import find_cycles
from cairn.graph.dead import find_dead
from cairn.graph.field_impact import choose_tests_of_field, impact_of_field
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests, impact
from cairn.graph.ranking import repository_map
from cairn.graph.surroundings import OpenGraph, surroundings
from cairn.graph.symbols import file_named
from cairn.graph.values import Cycles, DeadCode, Impact, RepositoryMap, TestChoice
from cairn.hints import Hint
from cairn.source.git import Repository
from cairn.structure.context import ContextSection


class Analyses:
    """Analyses a symbol graph; see `GraphFacet`.

    Args:
        root: the folder of the project.
        repository: the checkout it belongs to, None outside git.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self._root = root
        self._repository = repository

    def impact(self, graph: Graph, place: str | None, diff: str | None, limit: int) -> Impact:
        """Return what may break when a symbol changes, or because of everything that differs from a revision."""
        change = find_change(graph, place, diff, self._root, self._repository)
        if change.field is not None:
            found = impact_of_field(graph, change.field, limit)
        else:
            found = impact(graph, change.nodes, limit, leftovers=change.leftovers)
        return replace(found, notes=(*change.notes, *found.notes)) if change.notes else found

    def tests(self, graph: Graph, place: str | None, diff: str | None, limit: int) -> TestChoice:
        """Return the test files worth running for such a change."""
        with _hints_at_tests():
            change = find_change(graph, place, diff, self._root, self._repository)
        if change.field is not None:
            found = choose_tests_of_field(graph, change.field, limit)
        else:
            found = choose_tests(graph, change.nodes, limit, change.leftovers)
        return replace(found, notes=(*change.notes, *found.notes)) if change.notes else found

    def dead_code(self, graph: Graph, limit: int) -> DeadCode:
        """Return the functions and types that no entry point seems to reach."""
        return find_dead(graph, limit)

    def import_cycles(self, graph: Graph) -> Cycles:
        """Return one import cycle for each set of files that reach each other by imports."""
        return find_cycles(graph)

    def map(self, graph: Graph, max_tokens: int, focus: Sequence[str]) -> RepositoryMap:
        """Return the most central files and definitions that fit, as seen from the files of `focus`."""
        return repository_map(graph, max_tokens, [file_named(graph.code, path) for path in focus])

    def surroundings(
        self, open_graph: OpenGraph, path: str, symbol: OutlineSymbol
    ) -> tuple[list[ContextSection], tuple[str, ...]]:
        """Return the sections of a context that need the index, and notes; see `cairn.graph.surroundings`."""
        return surroundings(open_graph, path, symbol)


@contextmanager
def _hints_at_tests() -> Iterator[None]:
    """Let hints at another change name the command that was given, not the one that shares it."""
    try:
        yield
    except (DiffError, QueryError) as error:
        if isinstance(error.hint, Hint) and error.hint.action == "impact":
            error.hint = Hint(error.hint.words, "tests", **error.hint.arguments)
        raise
