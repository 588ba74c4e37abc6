"""The edges of each file: those that an earlier network has and that no change affects, else resolved again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, partial

import numpy as np

from cairn.graph.code import Code
from cairn.graph.entities import How
from cairn.graph.network import Ints, Network
from cairn.graph.nodes import NODE_BITS, file_of, node_of
from cairn.graph.reader import FOR_USERS, Reader
from cairn.graph.recent import Recent
from cairn.graph.resolve import (
    ALL_KINDS,
    Edge,
    ImportEdge,
    Resolver,
    Spelling,
    kinds_written,
    local_names_of,
    renamings,
)
from cairn.source.expressions import called_name
from cairn.source.imports import ImportFlag

_HOWS = tuple(How)


class KnownEdges:
    """The edges of a network, by file.

    Attributes:
        network: with the numbers that files have now.
        stale: the files whose rows it lacks, since a change may affect them.
    """

    def __init__(self, network: Network, stale: Collection[int]) -> None:
        self.network = network
        self.stale = frozenset(stale)

    def edges(self, number: int) -> list[Edge]:
        """Return the edges of a file, in reading order."""
        network = self.network
        first, end = np.searchsorted(network.sources, (number << NODE_BITS, (number + 1) << NODE_BITS))
        return self._edges(np.arange(first, end)[np.argsort(network.order[first:end], kind="stable")])

    def edges_into(self, nodes: Iterable[int], kinds: Collection[int]) -> dict[int, list[Edge]]:
        """Return the edges of some kinds into some nodes by the files that they are in, in reading order."""
        network = self.network
        rows = np.concatenate([np.zeros(0, np.int64), *map(network.into, nodes)])
        rows = rows[np.isin(network.kinds[rows], np.array(sorted(kinds), np.uint8))]
        found: dict[int, list[Edge]] = {}
        for edge in self._edges(rows[np.lexsort((network.order[rows], network.sources[rows] >> NODE_BITS))]):
            found.setdefault(file_of(edge.source), []).append(edge)
        return found

    def _edges(self, rows: Ints) -> list[Edge]:
        network = self.network
        columns = (column[rows].tolist() for column in (network.sources, network.targets, network.kinds))
        hows = map(_HOWS.__getitem__, network.hows[rows].tolist())
        called = map(network.names.__getitem__, network.called[rows].tolist())
        return list(map(Edge, *columns, hows, network.lines[rows].tolist(), called))

    def imports(self, number: int) -> list[ImportEdge]:
        """Return the imports of a file, in reading order."""
        network = self.network
        first, end = np.searchsorted(network.importing, (number, number + 1))
        columns = (network.imported, network.import_lines, network.import_flags)
        rows = zip(*(column[first:end].tolist() for column in columns), strict=True)
        return [ImportEdge(number, file, line, ImportFlag(flags)) for file, line, flags in rows]

    def overridden(self, node: int) -> list[int]:
        """Return the methods of base types that a method overrides."""
        first, end = np.searchsorted(self.network.overriding, (node, node + 1))
        found: list[int] = self.network.overridden[first:end].tolist()
        return found

    def renamings(self, name: str) -> list[tuple[int, str]]:
        """Return the files that import or export something of a name under another one, each with that."""
        network = self.network
        place = self._places.get(name)
        rows = np.flatnonzero(network.renamed == place).tolist() if place is not None else []
        return [(int(network.renaming[row]), network.names[network.renamed_to[row]]) for row in rows]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.network.names)}


class Connections:
    """The edges of the files of one state of the code.

    Args:
        code: the files.
        resolver: resolves what is not known.
        known: what is known; None for nothing.
    """

    def __init__(self, code: Code, resolver: Resolver, known: KnownEdges | None) -> None:
        self.known = known
        self._code = code
        self._resolver = resolver
        self._renamings: dict[int, Sequence[tuple[str, str]]] = {}
        self._edges: Recent[int, list[Edge]] = Recent(code.room.rows, lambda edges: len(edges) + 10)

    def _known_of(self, number: int) -> KnownEdges | None:
        return self.known if self.known is not None and number not in self.known.stale else None

    def edges(self, number: int) -> list[Edge]:
        """Return the resolved references of a file, in reading order."""
        if (known := self._known_of(number)) is None:
            return self._resolver.edges(number)
        if (edges := self._edges.get(number)) is None:
            edges = self._edges.put(number, known.edges(number))
        return edges

    def edges_out_of(self, number: int, wanted: Collection[int], reader: Reader) -> list[Edge]:
        """Return the edges out of some definitions of a file, perhaps with others; as far as there is time for them."""
        if reader.is_patient or self._known_of(number) is not None:
            return self.edges(number)
        source = self._code.file(number)
        sources = [node_of(number, scope) for scope in source.facts.scopes]
        places = [place for place, node in enumerate(sources) if node in wanted]
        edges: list[Edge] = []
        for at, place in enumerate(places):
            found = None
            if reader.lasts(FOR_USERS):
                found = reader.attempt(FOR_USERS, partial(self._resolver.edges_at, source, (place,)))
            if found is None:
                reader.unresolved.update(sources[left] for left in places[at:])
                break
            edges += found
        return edges

    def edges_to(
        self, number: int, names: Collection[str], kinds: Collection[int] = ALL_KINDS, spelling: Spelling = "any"
    ) -> list[Edge]:
        """Return the resolved references of a file that may lead to something with one of some names.

        Args:
            number: the file.
            names: what it may be called.
            kinds: only references that are written as these are wanted.
            spelling: how it may be called there.
        """
        if self._known_of(number) is None:
            return self._resolver.edges_to(number, names, kinds, spelling)
        return self.only_to(number, self.edges(number), names, kinds, spelling)

    def edges_on(
        self, number: int, lines: Collection[int], names: Collection[str], spelling: Spelling = "any"
    ) -> list[Edge]:
        """Return those of what `edges_to` returns that are on some lines."""
        if not lines:
            return []
        if self._known_of(number) is None:
            return self._resolver.edges_to(number, names, spelling=spelling, lines=lines)
        return [edge for edge in self.edges_to(number, names, spelling=spelling) if edge.line in lines]

    def only_to(
        self, number: int, edges: list[Edge], names: Collection[str], kinds: Collection[int], spelling: Spelling
    ) -> list[Edge]:
        """Return those of a file's edges that `edges_to` returns."""
        if "__call__" in names:  # any instance may be called
            return edges
        wanted = kinds_written(kinds)
        edges = [edge for edge in edges if edge.kind in wanted]
        if all(called_name(edge.called) in names for edge in edges):
            return edges
        aliases = local_names_of(self._code.file(number), names, spelling)
        return [edge for edge in edges if called_name(edge.called) in aliases]

    def imports(self, number: int, saying: frozenset[str] | None = None) -> list[ImportEdge]:
        """Return the files of the project that a file imports, each with its line, in reading order.

        Args:
            number: the file.
            saying: imports that say none of these names may be left out.
        """
        known = self._known_of(number)
        return self._resolver.imports(number, saying) if known is None else known.imports(number)

    def renamings(self, number: int) -> Sequence[tuple[str, str]]:
        """Return the names that a file imports or exports something by, each with the other name that it gives it."""
        if (found := self._renamings.get(number)) is None:
            found = self._renamings[number] = tuple(renamings(self._code.file(number)))
        return found

    def overridden(self, node: int) -> list[int]:
        """Return the methods of base types that a method overrides."""
        known = self._known_of(file_of(node))
        return self._resolver.overridden(node) if known is None else known.overridden(node)
