"""Finds import cycles: strongly connected files, after Tarjan, and a shortest cycle in each."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from cairn import waiting
from cairn.graph.empty import on_no_cycles
from cairn.graph.graph import Graph
from cairn.graph.rules import rules_of
from cairn.graph.values import Cycle, Cycles, Importer
from cairn.source.imports import ImportFlag

_Imports = Mapping[int, Mapping[int, tuple[int, int]]]  # {importing: {imported: (line, flags)}}
_LATER = int(ImportFlag.TYPE_ONLY | ImportFlag.DEFERRED)


def find_cycles(graph: Graph) -> Cycles:
    """Return a cycle for each set of files that reach each other by imports, those at run time first.

    Sets that are connected only by imports for types or inside functions are listed apart from those on loading.
    """
    imports = _imports(graph)
    loading = {
        source: {target: imported for target, imported in targets.items() if not imported[1] & _LATER}
        for source, targets in imports.items()
    }
    groups = components(loading)
    cycles = [_cycle(graph, loading, group) for group in groups]
    known = [set(group) for group in groups]
    later = [group for group in components(imports) if not any(members <= set(group) for members in known)]
    cycles += [_cycle(graph, imports, group) for group in later]
    order = {"runtime": 0, "deferred": 1, "typing": 2}
    cycles.sort(key=lambda cycle: (order[cycle.kind], -cycle.size, cycle.steps[0].path))
    return Cycles(tuple(cycles), (*graph.notes, *(() if cycles else on_no_cycles(graph))))


def _imports(graph: Graph) -> dict[int, dict[int, tuple[int, int]]]:
    network = graph.network
    imports: dict[int, dict[int, tuple[int, int]]] = {}
    columns = (network.importing, network.imported, network.import_lines, network.import_flags)
    for source, target, line, flags in zip(*(column.tolist() for column in columns), strict=True):
        if rules_of(graph.code.languages[source]).package == "directory":
            continue  # a folder is one package there, whose files do not import each other
        if flags & ImportFlag.WHOLE:
            continue  # a part and its library are one
        targets = imports.setdefault(source, {})
        # An import on loading outweighs those that run later.
        if target not in targets or (targets[target][1] & _LATER and not flags & _LATER):
            targets[target] = (line, flags)
    return imports


def components(edges: Mapping[int, Mapping[int, object]]) -> list[list[int]]:  # noqa: C901 - the algorithm as published
    """Return the sets of two or more nodes that all reach each other, each in ascending order.

    R. Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    components = []
    for root in sorted(edges):
        waiting.check()
        if root in order:
            continue
        work = [(root, iter(sorted(edges.get(root, ()))))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            following = next(targets, None)
            if following is not None:
                if following not in order:
                    order[following] = low[following] = len(order)
                    stack.append(following)
                    on_stack.add(following)
                    work.append((following, iter(sorted(edges.get(following, ())))))
                elif following in on_stack:
                    low[node] = min(low[node], order[following])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == order[node]:
                group = []
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    group.append(member)
                    if member == node:
                        break
                if len(group) > 1:
                    components.append(sorted(group))
    return components


def _cycle(graph: Graph, imports: _Imports, group: Sequence[int]) -> Cycle:
    members = set(group)
    cycle = min((_shortest(imports, members, start) for start in group[:50]), key=lambda cycle: (len(cycle), cycle))
    steps = []
    flags = 0
    for source, target in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        line, own = imports[source][target]
        flags |= own
        typing, deferred = bool(own & ImportFlag.TYPE_ONLY), bool(own & ImportFlag.DEFERRED)
        steps.append(Importer(graph.code.paths[source], line, typing, deferred))
    kind = "typing" if flags & ImportFlag.TYPE_ONLY else "deferred" if flags & ImportFlag.DEFERRED else "runtime"
    others = tuple(graph.code.paths[number] for number in group if number not in cycle)
    return Cycle(tuple(steps), len(group), kind, others)  # type: ignore[arg-type]  # one of the three words


def _shortest(imports: _Imports, members: set[int], start: int) -> list[int]:
    """Return the shortest cycle through a member of a strongly connected set."""
    came: dict[int, int] = {}
    queue = deque([start])
    while queue:
        waiting.check()
        node = queue.popleft()
        for target in sorted(imports.get(node, ())):
            if target == start:
                cycle = [node]
                while cycle[-1] != start:
                    cycle.append(came[cycle[-1]])
                return cycle[::-1]
            if target in members and target not in came:
                came[target] = node
                queue.append(target)
    raise AssertionError("every member of a strongly connected set lies on a cycle")
