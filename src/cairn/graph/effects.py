"""What a change affects, and what imports its files: by all edges where these are known, else as far as time allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cairn.graph.graph import Graph
from cairn.graph.nearest import NearestWalk, keep_walk, walk_from
from cairn.graph.questions import calls_to
from cairn.graph.reach import Reached
from cairn.graph.reader import Reader
from cairn.graph.resolve import Edge
from cairn.graph.values import Unfollowed

# Shares of the time of a question, in the order in which they are used up.
_FOR_LIKELY, _FOR_USERS, _FOR_IMPORTERS = 0.4, 0.6, 0.8  # the rest is for lines that cannot be resolved


class Effects(Protocol):
    """What a change of some nodes affects."""

    @property
    def reached(self) -> Reached:
        """The nodes that it may affect, the changed ones left out."""

    def importers(self, number: int) -> Sequence[int]:
        """Return the files that import a file."""

    def calls_to(self, nodes: Sequence[int]) -> list[Edge]:
        """Return the calls of some of the changed nodes and of the methods that they override, by file and line."""

    @property
    def reader(self) -> Reader:
        """What looks for lines that could not be resolved, as long as there is time."""

    def unfollowed(self) -> Unfollowed | None:
        """Return what is left out for want of time, None if that is nothing; to be called at the end."""


class _AllEffects:
    """By all edges."""

    def __init__(self, graph: Graph, starts: Sequence[int]) -> None:
        self._graph = graph
        self._starts = starts

    @property
    def reached(self) -> Reached:
        return self._graph.feelers.reach(self._starts)

    def importers(self, number: int) -> Sequence[int]:
        return self._graph.network.importers(number)

    def calls_to(self, nodes: Sequence[int]) -> list[Edge]:
        return calls_to(self._graph, _with_overridden(self._graph, nodes))

    @property
    def reader(self) -> Reader:
        return self._graph.reader(is_patient=True)

    def unfollowed(self) -> Unfollowed | None:
        return None


class _NearestEffects:
    """As far as time allows to follow them."""

    def __init__(self, graph: Graph, starts: Sequence[int], n_asked: int, *, for_tests: bool) -> None:
        self._graph = graph
        self._starts = starts
        self._walk: NearestWalk = walk_from(graph, starts, n_asked, for_tests=for_tests)
        self._walk.go_on(
            lambda: graph.patience.lasts(_FOR_USERS),
            lambda: graph.patience.lasts(_FOR_LIKELY),
        )
        self.reader = graph.reader()

    @property
    def reached(self) -> Reached:
        return self._walk.reached

    def importers(self, number: int) -> Sequence[int]:
        return self._walk.importers(number, lambda: self._graph.patience.lasts(_FOR_IMPORTERS))

    def calls_to(self, nodes: Sequence[int]) -> list[Edge]:
        if not set(nodes) <= set(self._starts):  # one of several overloads changed, and another stands for all
            return calls_to(self._graph, nodes, self.reader)
        return self._walk.edges_into(*self._graph.call_targets(_with_overridden(self._graph, nodes)))

    def unfollowed(self) -> Unfollowed | None:
        keep_walk(self._graph, self._starts, self._walk)
        return self._walk.unfollowed(self.reader)


def _with_overridden(graph: Graph, nodes: Sequence[int]) -> list[int]:
    """Return some definitions with the methods that they override, however far above."""
    found = list(dict.fromkeys(nodes))
    for node in found:
        found += [base for base in graph.connections.overridden(node) if base not in found]
    return found


def effects_of(graph: Graph, starts: Sequence[int], n_asked: int, *, for_tests: bool) -> Effects:
    """Return what a change affects; nothing is left out where all edges are known or soon will be.

    Args:
        graph: the graph.
        starts: the nodes that changed.
        n_asked: how many of them, the first ones, were asked about; the others are parts of these.
        for_tests: whether tests matter most, rather than what is no test.
    """
    return (
        _AllEffects(graph, starts)
        if graph.is_prepared
        else _NearestEffects(graph, starts, n_asked, for_tests=for_tests)
    )
