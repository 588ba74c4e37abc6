"""A map of the repository: its most central files and definitions, by PageRank, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.graph.entities import How
from cairn.graph.graph import Graph
from cairn.graph.network import Ints, Network
from cairn.graph.nodes import NODE_BITS, PLACE_MASK, place_of
from cairn.graph.reach import CONFIDENCE
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.source_file import SourceFile, declaration_of
from cairn.graph.values import MapEntry, RepositoryMap
from cairn.source.roles import FOREIGN, Role
from cairn.source.text import cut_at_word, estimate_tokens

_DAMPING = 0.85
_ROUNDS = 40
_MINOR_ROLES = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.LEGACY | Role.OLD_VERSION | Role.TRANSLATION | FOREIGN
_MINOR_WEIGHT = 0.05  # of a file that shows or tests the others
_FOCUS_WEIGHT = 50.0  # of a file that is asked about
_SYMBOLS_OF_FILE = 8
_MAX_HEAD_CHARS = 120

Floats = npt.NDArray[np.float64]


def repository_map(graph: Graph, max_tokens: int, focus: Sequence[int] = ()) -> RepositoryMap:
    """Return the map; with `focus`, as seen from these files.

    An estimate of its size (bytes / 4) never exceeds `max_tokens`.
    """
    nodes, ranks = definition_ranks(graph, focus)
    code = graph.code
    files = nodes >> NODE_BITS
    numbers, totals = np.unique(files), np.bincount(files, ranks)
    order = numbers[np.lexsort((numbers, -totals[numbers]))]
    entries: list[MapEntry] = []
    used = 0
    for number in order.tolist():
        waiting.check()
        first, end = np.searchsorted(files, (number, number + 1))
        best = _best(code.file(number), nodes[first:end], ranks[first:end])
        total = float(totals[number])
        entry = _entry(graph, number, total, best)
        size = entry_size(entry)
        while used + size > max_tokens * 4 and entry.symbols:
            entry = _entry(graph, number, total, best[: len(entry.symbols) - 1])
            size = entry_size(entry)
        if not entry.symbols or used + size > max_tokens * 4:
            break
        entries.append(entry)
        used += size
    return RepositoryMap(tuple(entries), estimate_tokens(used) if used else 0, len(order) - len(entries), graph.notes)


def _best(source: SourceFile, nodes: Ints, ranks: Floats) -> list[int]:
    """Return the most central definitions of a file, given with the file itself, the first of them first.

    What several branches of an `#if` declare counts once.
    """
    inner = np.flatnonzero(nodes & PLACE_MASK)
    found: dict[object, int] = {}
    for node in nodes[inner[np.lexsort((nodes[inner], -ranks[inner]))]].tolist():
        found.setdefault(declaration_of(source.definitions[place_of(node)]), node)
        if len(found) == _SYMBOLS_OF_FILE:
            break
    return list(found.values())


def entry_size(entry: MapEntry) -> int:
    """Return how many bytes an entry takes as it is printed."""
    return (
        len(entry.path.encode("utf-8", "surrogateescape"))
        + 2
        + sum(len(f"  {line}: {head}\n".encode("utf-8", "surrogateescape")) for line, head in entry.symbols)
    )


def _entry(graph: Graph, number: int, rank: float, nodes: Sequence[int]) -> MapEntry:
    source = graph.code.file(number)
    heads = []
    for node in sorted(nodes):
        definition = source.definitions[place_of(node)]
        owner = definition.qualified_name.rpartition(".")[0]
        text = definition.signature if definition.signature else definition.name
        prefix = f"{owner}: " if owner and definition.kind in FUNCTION_KINDS else ""
        heads.append((definition.span.start_line, cut_at_word(f"{prefix}{text}", _MAX_HEAD_CHARS)))
    return MapEntry(source.path, round(rank, 5), tuple(heads))


def definition_ranks(graph: Graph, focus: Sequence[int] = ()) -> tuple[Ints, Floats]:
    """Return files, functions and types with their PageRank: how much what is important leads to each.

    Edges count as sure as they are; a reference counts less the more often its target's name is defined elsewhere.
    The surfer starts over in files of code rather than in tests, or in `focus`.

    Returns:
        nodes and ranks, shapes (n,), in ascending order of the nodes; files that show or test others are left out.
    """
    code = graph.code
    network = graph.network  # before all else: it may be what reads the files
    files = np.arange(len(code.paths), dtype=np.int64) << NODE_BITS
    nodes = np.union1d(files, code.table.of_kinds(FUNCTION_KINDS | TYPE_KINDS))
    sources, targets, weights = _edges(network, nodes)
    n = len(nodes)
    if not n:
        return nodes, np.zeros(0)
    start = _start(graph, nodes, focus)
    out = np.bincount(sources, weights, n)
    shared_by = out[sources]
    ranks = start.copy()
    for _ in range(_ROUNDS):
        waiting.check()
        flow = np.bincount(targets, ranks[sources] * weights / shared_by, n) if len(sources) else np.zeros(n)
        dangling = ranks[out == 0].sum()
        ranks = (1 - _DAMPING) * start + _DAMPING * (flow + dangling * start)
    numbers = nodes >> NODE_BITS
    minor = (graph.code.snapshot.files.roles & int(_MINOR_ROLES) > 0)[numbers]
    shown = ~minor | np.isin(numbers, np.array(list(focus), np.int64))
    return nodes[shown], ranks[shown]


def _edges(network: Network, nodes: Ints) -> tuple[Ints, Ints, Floats]:
    """Return the edges between some nodes, as places among them, with how sure they are."""
    sure = np.array([CONFIDENCE[how] for how in How])
    sources, targets = np.searchsorted(nodes, network.sources), np.searchsorted(nodes, network.targets)
    last = max(0, len(nodes) - 1)
    known = nodes[np.minimum(sources, last)] == network.sources
    known &= nodes[np.minimum(targets, last)] == network.targets
    kept = np.flatnonzero(known & (sources != targets))
    return sources[kept], targets[kept], sure[network.hows[kept]]


def _start(graph: Graph, nodes: Ints, focus: Sequence[int]) -> Floats:
    minor = graph.code.snapshot.files.roles & int(_MINOR_ROLES) > 0
    of_file = np.where(minor, _MINOR_WEIGHT, 1.0)
    of_file[list(focus)] = _FOCUS_WEIGHT
    weights = of_file[nodes >> NODE_BITS]
    shares: Floats = weights / weights.sum()
    return shares
