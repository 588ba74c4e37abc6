"""What the symbol graph says about a project as a whole: dead code, circles of imports, a map."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.graph.cycles import find_cycles
from cairn.graph.dead import find_dead
from cairn.graph.graph import Graph
from cairn.graph.ranking import repository_map
from cairn.graph.symbols import file_named
from cairn.graph.values import Cycles, DeadCode, RepositoryMap


class WholeGraph:
    """Asks a symbol graph about all of it; see `GraphFacet`."""

    def dead_code(self, graph: Graph, limit: int) -> DeadCode:
        """Return the functions and types that no entry point seems to reach."""
        return find_dead(graph, limit)

    def import_cycles(self, graph: Graph) -> Cycles:
        """Return a circle for each set of files that reach each other by imports."""
        return find_cycles(graph)

    def map(self, graph: Graph, max_tokens: int, focus: Sequence[str]) -> RepositoryMap:
        """Return the most central files and definitions that fit, as seen from the files of `focus`."""
        return repository_map(graph, max_tokens, [file_named(graph.code, path) for path in focus])
