"""Computes the dependences in a control-flow graph: which writes reach which reads, and which steps decide what runs.

Sets of steps are integers, one bit a step: functions are small, and `&` and `|` are fast.

Control dependence follows Ferrante, Ottenstein and Warren (1987) on a graph in which a jump also has an edge to what
would come next without it, after Ball and Horwitz (1993): so what a `break` or an early `return` skips depends on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cairn.structure.names import affects, base_of
from cairn.structure.steps import CONTROL_ONLY, DATA_ONLY, ControlFlow


@dataclass(frozen=True, slots=True)
class Dependence:
    """`target` reads `variable` as `source` wrote it; or, `variable` being empty, `source` decides if `target` runs."""

    source: int
    target: int
    variable: str


def dependences(flow: ControlFlow) -> list[Dependence]:
    """Return all dependences within a function, each once."""
    dependences = dict.fromkeys([*_data(flow), *_control(flow)])
    return list(dependences)


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _data(flow: ControlFlow) -> Iterator[Dependence]:
    """Find the writes that reach each read, by iteration until nothing changes."""
    writes = [
        (step, name, sure) for step, writer in enumerate(flow.steps) for name, sure in writer.access.writes.items()
    ]
    own = [0] * len(flow.steps)
    kills = [0] * len(flow.steps)
    by_base: dict[str, int] = {}
    for number, (step, name, _) in enumerate(writes):
        own[step] |= 1 << number
        by_base[base_of(name)] = by_base.get(base_of(name), 0) | 1 << number
    for step, name, sure in writes:
        if sure:
            same = by_base[base_of(name)]
            if base_of(name) != name:
                same = sum(1 << number for number in _bits(same) if writes[number][1] == name)
            kills[step] |= same
    before = _reaching(flow, own, kills)
    for target, reader in enumerate(flow.steps):
        for read in sorted(reader.access.reads):
            for number in _bits(before[target] & by_base.get(base_of(read), 0)):
                source, name, _ = writes[number]
                if affects(name, read):
                    yield Dependence(source, target, name)


def _reaching(flow: ControlFlow, own: list[int], kills: list[int]) -> list[int]:
    before = [0] * len(flow.steps)
    waiting = deque(range(len(flow.steps)))
    queued = set(waiting)
    while waiting:
        number = waiting.popleft()
        queued.discard(number)
        after = own[number] | (before[number] & ~kills[number])
        for target, kind in flow.steps[number].successors:
            # What is raised half-way through a step may come before or after what it writes.
            coming = after | before[number] if kind == DATA_ONLY else after
            if kind != CONTROL_ONLY and coming & ~before[target]:
                before[target] |= coming
                if target not in queued:
                    queued.add(target)
                    waiting.append(target)
    return before


def _control(flow: ControlFlow) -> Iterator[Dependence]:
    successors = [sorted({target for target, kind in step.successors if kind != DATA_ONLY}) for step in flow.steps]
    after = _post_dominators(successors)
    for source, targets in enumerate(successors):
        if len(targets) > 1:
            for target in targets:
                for decided in _bits(after[target] & ~(after[source] & ~(1 << source))):
                    yield Dependence(source, decided, "")
                    if flow.steps[target].kind in ("case", "handler") and decided != target:
                        yield Dependence(target, decided, "")  # which decides nothing, but says when


def _post_dominators(successors: list[list[int]]) -> list[int]:
    """Return for each step the steps that every way from it to the exit leads through, itself included."""
    count = len(successors)
    everything = (1 << count) - 1
    dominators = [everything] * count
    dominators[count - 1] = 1 << (count - 1)
    changed = True
    while changed:
        changed = False
        for number in range(count - 2, -1, -1):
            common = everything
            for target in successors[number]:
                common &= dominators[target]
            common |= 1 << number
            if common != dominators[number]:
                dominators[number], changed = common, True
    return dominators


def closure(edges: Iterable[Dependence], start: Iterable[int], *, forward: bool) -> set[int]:
    """Return the steps that `start` depends on, or `forward` those that depend on it, itself included."""
    beside: dict[int, list[int]] = {}
    for edge in edges:
        source, target = (edge.source, edge.target) if forward else (edge.target, edge.source)
        beside.setdefault(source, []).append(target)
    reached, waiting = set(start), list(start)
    while waiting:
        for step in beside.get(waiting.pop(), ()):
            if step not in reached:
                reached.add(step)
                waiting.append(step)
    return reached
