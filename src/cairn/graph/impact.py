"""What a change may break: callers over any number of steps, with how sure each step is."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from cairn.graph.code import file_of, node_of, place_of
from cairn.graph.evaluate import How
from cairn.graph.graph import Graph
from cairn.graph.network import Network
from cairn.graph.resolve import IMPLEMENT, INHERIT, USE
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.selection import rank_tests, runnable_tests
from cairn.graph.symbols import symbol_of
from cairn.graph.values import Affected, Impact, TestChoice
from cairn.source.references import KINDS

# How likely a change is felt one step further on, by how the step was resolved.
CONFIDENCE = {How.EXACT: 1.0, How.IMPORT: 0.95, How.RECEIVER: 0.9, How.NAME: 0.5}
# What names a type or hands a function on feels a change less than what calls it.
_KIND_FACTOR = {USE: 0.7, INHERIT: 0.9, IMPLEMENT: 0.9}
_OVERRIDE = 0.6  # a call of a method may run any of those that override it
_FLOOR = 0.05  # ways less sure than this are not followed


def reach(graph: Graph, starts: Sequence[int]) -> dict[int, tuple[float, int, str]]:
    """Return {node: (confidence, depth, by way of what)} of all that a change of some nodes may be felt by.

    The surest way to each node counts; its depth is that way's length. The starts themselves are left out.
    """
    network = graph.network
    best: dict[int, tuple[float, int, str]] = {}
    begun = set(_begin(graph, starts))
    heap = [(-1.0, 0, node) for node in begun]
    heapq.heapify(heap)
    done: set[int] = set()
    while heap:
        negative, depth, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        for source, factor, via in _felt_by(graph, network, node):
            confidence = -negative * factor
            if source in begun or confidence < _FLOOR:
                continue
            if confidence > best.get(source, (0.0, 0, ""))[0]:
                best[source] = (confidence, depth + 1, via)
                heapq.heappush(heap, (-confidence, depth + 1, source))
    return best


def _begin(graph: Graph, starts: Sequence[int]) -> list[int]:
    """Return the changed nodes; a type with what it holds, and a constructor with its type."""
    wide = [node for node in starts if place_of(node) >= 0 and graph.code.definition(node).kind in TYPE_KINDS]
    found = [*starts, *(graph.within(wide) if wide else ())]
    for node in starts:
        found += [other for other in graph.called_by([node])[0] if other != node]
    return list(dict.fromkeys(found))


def _felt_by(graph: Graph, network: Network, node: int) -> list[tuple[int, float, str]]:
    """Return (who feels a change of a node, how likely, by way of what)."""
    found = []
    edges = network.into(node)
    for source, kind, how in zip(
        network.sources[edges].tolist(), network.kinds[edges].tolist(), network.hows[edges].tolist(), strict=True
    ):
        if place_of(source) < 0 and kind == USE:
            continue
        found.append((source, CONFIDENCE[How(how)] * _KIND_FACTOR.get(kind, 1.0), KINDS[kind]))
    found += [(base, _OVERRIDE, "override") for base in overridden(graph, node)]
    return found


def overridden(graph: Graph, node: int) -> list[int]:
    """Return the methods of base types that a method overrides."""
    if place_of(node) < 0:
        return []
    source = graph.code.file(file_of(node))
    one = source.definitions[place_of(node)]
    if one.parent < 0 or one.kind not in FUNCTION_KINDS or source.definitions[one.parent].kind not in TYPE_KINDS:
        return []
    return graph.resolver.meaning.overridden(node_of(source.number, one.parent), one.name)


def impact(graph: Graph, changed: Sequence[int], limit: int = 0, tests: int = 20) -> Impact:
    """Return what a change of some nodes may break, surest and nearest first.

    Args:
        limit: affected symbols at most, 0 for all.
        tests: test files at most.
    """
    code = graph.code
    reached = reach(graph, changed)
    order = sorted(reached, key=lambda node: (reached[node][1], -round(reached[node][0], 3), node))
    order = [node for node in order if not code.is_test(file_of(node))]
    files = {file_of(node) for node in changed}
    importers = {other for file in files for other in graph.network.importers.get(file, ())}
    ranked = rank_tests(graph, changed, reached)
    shown = order[: limit or None]
    return Impact(
        tuple(symbol_of(code, node) for node in _shown(graph, changed)),
        tuple(
            Affected(symbol_of(code, node), reached[node][1], round(reached[node][0], 3), reached[node][2])
            for node in shown
        ),
        tuple(code.paths[number] for number in sorted(importers - files)),
        tuple(ranked[:tests]),
        len(order) - len(shown),
        graph.notes,
    )


def choose_tests(graph: Graph, changed: Sequence[int], limit: int = 0) -> TestChoice:
    """Return the test files worth running for a change of some nodes, best first; `limit` 0 gives all."""
    ranked = rank_tests(graph, changed, reach(graph, changed))
    total = len(runnable_tests(graph))
    shown = ranked[: limit or None]
    symbols = tuple(symbol_of(graph.code, node) for node in _shown(graph, changed))
    return TestChoice(symbols, tuple(shown), total, len(ranked) - len(shown), graph.notes)


def _shown(graph: Graph, nodes: Sequence[int]) -> list[int]:
    """Return one node for each symbol."""
    return list(
        dict.fromkeys(graph.code.main_of(graph.code.group(node)) if place_of(node) >= 0 else node for node in nodes)
    )
