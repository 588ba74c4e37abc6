"""A map of the repository: its most central files and definitions, by PageRank, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.graph.code import file_of, node_of, place_of
from cairn.graph.entities import How
from cairn.graph.graph import Graph
from cairn.graph.reach import CONFIDENCE
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.values import MapEntry, RepositoryMap
from cairn.source.roles import Role
from cairn.source.text import estimate_tokens

_DAMPING = 0.85
_ROUNDS = 40
_MINOR_ROLES = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.LEGACY | Role.OLD_VERSION
_MINOR_WEIGHT = 0.05  # of a file that shows or tests the others
_FOCUS_WEIGHT = 50.0  # of a file that is asked about
_SYMBOLS_OF_FILE = 8
_MAX_HEAD_CHARS = 120

Floats = npt.NDArray[np.float64]


def repository_map(graph: Graph, max_tokens: int, focus: Sequence[int] = ()) -> RepositoryMap:
    """Return the map; with `focus`, as seen from these files.

    An estimate of its size (bytes / 4) never exceeds `max_tokens`.
    """
    ranks = definition_ranks(graph, focus)
    by_file: dict[int, list[tuple[float, int]]] = {}
    for node, rank in ranks.items():
        by_file.setdefault(file_of(node), []).append((rank, node))
    totals = {number: sum(rank for rank, _ in ranked) for number, ranked in by_file.items()}
    order = sorted(totals, key=lambda number: (-totals[number], number))
    entries: list[MapEntry] = []
    used = 0
    for number in order:
        waiting.check()
        best = sorted((one for one in by_file[number] if place_of(one[1]) >= 0), key=lambda one: (-one[0], one[1]))
        entry = _entry(graph, number, totals[number], [node for _, node in best[:_SYMBOLS_OF_FILE]])
        size = entry_size(entry)
        while used + size > max_tokens * 4 and entry.symbols:
            lines = [node for _, node in best[: len(entry.symbols) - 1]]
            entry = _entry(graph, number, totals[number], lines)
            size = entry_size(entry)
        if not entry.symbols or used + size > max_tokens * 4:
            break
        entries.append(entry)
        used += size
    return RepositoryMap(tuple(entries), estimate_tokens(used) if used else 0, len(order) - len(entries), graph.notes)


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
        one = source.definitions[place_of(node)]
        owner = one.qualified_name.rpartition(".")[0]
        text = one.signature if one.signature else one.name
        prefix = f"{owner}: " if owner and one.kind in FUNCTION_KINDS else ""
        heads.append((one.span.start_line, f"{prefix}{text}"[:_MAX_HEAD_CHARS]))
    return MapEntry(source.path, round(rank, 5), tuple(heads))


def definition_ranks(graph: Graph, focus: Sequence[int] = ()) -> dict[int, float]:
    """Return the PageRank of every function and type: how much what is important leads to it.

    Edges count as sure as they are; a reference counts less the more often its target's name is defined elsewhere.
    The surfer starts over in files of code rather than in tests, or in `focus`.
    """
    code = graph.code
    code.load_all(graph.progress)
    nodes = [
        node_of(number, place)
        for number in range(len(code.paths))
        for place, one in enumerate((None, *code.file(number).definitions), -1)
        if one is None or one.kind in FUNCTION_KINDS or one.kind in TYPE_KINDS
    ]
    numbers = {node: place for place, node in enumerate(nodes)}
    sources, targets, weights = _edges(graph, numbers)
    n = len(nodes)
    if not n:
        return {}
    start = _start(graph, nodes, focus)
    out = np.bincount(sources, weights, n)
    ranks = start.copy()
    for _ in range(_ROUNDS):
        waiting.check()
        flow = np.bincount(targets, ranks[sources] * weights / out[sources], n) if len(sources) else np.zeros(n)
        dangling = ranks[out == 0].sum()
        ranks = (1 - _DAMPING) * start + _DAMPING * (flow + dangling * start)
    minor = graph.code.snapshot.files.roles & int(_MINOR_ROLES) > 0
    return {
        node: float(ranks[place])
        for place, node in enumerate(nodes)
        if not minor[file_of(node)] or file_of(node) in focus
    }


def _edges(graph: Graph, numbers: dict[int, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    network = graph.network
    sure = np.array([CONFIDENCE[how] for how in How])
    sources, targets, weights = [], [], []
    for source, target, weight in zip(
        network.sources.tolist(), network.targets.tolist(), sure[network.hows].tolist(), strict=True
    ):
        if source in numbers and target in numbers and source != target:
            sources.append(numbers[source])
            targets.append(numbers[target])
            weights.append(weight)
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64), np.array(weights)


def _start(graph: Graph, nodes: Sequence[int], focus: Sequence[int]) -> Floats:
    roles = graph.code.snapshot.files.roles
    focused = set(focus)
    weights = np.array(
        [
            _FOCUS_WEIGHT
            if file_of(node) in focused
            else _MINOR_WEIGHT
            if roles[file_of(node)] & int(_MINOR_ROLES)
            else 1.0
            for node in nodes
        ]
    )
    shares: Floats = weights / weights.sum()
    return shares
