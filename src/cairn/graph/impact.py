"""What a change may break: callers over any number of steps, with how sure each step is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cairn.graph.deleted import NOTHING_LEFT, Leftovers
from cairn.graph.effects import Effects, effects_of
from cairn.graph.empty import on_no_change, on_no_effect, on_no_tests, on_unread
from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.overriding import overriding
from cairn.graph.reach import WAYS, Reached, with_overriding
from cairn.graph.reader import note_on_unfollowed
from cairn.graph.rules import TYPE_KINDS
from cairn.graph.selection import NAMED_AFTER, NAMES_DELETED, TWIN, Evidence, rank_tests
from cairn.graph.symbols import symbol_of
from cairn.graph.unresolved import note_on, on_nothing_in_time, unresolved_calls
from cairn.graph.values import Affected, Impact, TestChoice, Unresolved


def _begin(graph: Graph, starts: Sequence[int]) -> list[int]:
    """Return the changed nodes; a type with what it holds, and a constructor with its type."""
    wide = [node for node in starts if place_of(node) >= 0 and graph.code.definition(node).kind in TYPE_KINDS]
    found = [*starts, *(graph.within(wide) if wide else ())]
    for node in starts:
        found += [other for other in graph.call_targets([node])[0] if other != node]
    return list(dict.fromkeys(found))


def impact(
    graph: Graph, changed: Sequence[int], limit: int = 0, tests: int = 20, leftovers: Leftovers = NOTHING_LEFT
) -> Impact:
    """Return what a change of some nodes and the deletion of files may break, nearest and surest first.

    Args:
        limit: affected symbols at most, 0 for all.
        tests: test files at most.
    """

    def find() -> Impact:
        return _find_impact(graph, changed, limit, tests, leftovers)

    key = ("impact", tuple(changed), limit, tests)
    return find() if leftovers != NOTHING_LEFT else graph.answers.give(key, find, keeps=False)


def _find_impact(graph: Graph, changed: Sequence[int], limit: int, tests: int, leftovers: Leftovers) -> Impact:
    code = graph.code
    starts = [*changed, *leftovers.nodes]
    effects = effects_of(graph, _begin(graph, starts), len(starts), for_tests=False)
    reached = _reached(graph, changed, effects)
    affected, n_omitted = affected_of(graph, reached, limit)
    files = {file_of(node) for node in changed}
    importers = {other for file in files for other in effects.importers(file)}
    ranked, _ = rank_tests(graph, changed, reached, effects.importers, tests, _of_deleted(graph, leftovers))
    unresolved, notes = _unknown(graph, changed, effects, "use", has_known=bool(len(reached.nodes)))
    unfollowed = effects.unfollowed()
    if changed and not affected and unresolved is None and unfollowed is None:
        notes = on_no_effect(graph, changed[0])
    if changed and not affected:
        notes = (*on_unread(graph, changed[0]), *notes)
    cut = note_on_unfollowed(unfollowed)
    if unfollowed is not None and not affected and unresolved is None:
        cut = (*cut, *on_nothing_in_time({code.definition(node).name for node in changed if place_of(node) >= 0}))
    if not starts and not leftovers.deleted:
        notes = on_no_change()
    return Impact(
        tuple(symbol_of(code, node) for node in _representatives(graph, changed)),
        affected,
        tuple(code.paths[number] for number in sorted(importers - files)),
        tuple(ranked),
        n_omitted,
        (*_notes(graph, leftovers), *notes, *cut),
        leftovers.deleted,
        unresolved,
        unfollowed,
    )


def affected_of(graph: Graph, reached: Reached, limit: int) -> tuple[tuple[Affected, ...], int]:
    """Return what is reached, nearest and surest first, and how many the limit leaves out; tests are not among these.

    Args:
        limit: how many at most, 0 for all.
    """
    confidence = reached.confidence.round(3)
    order = np.lexsort((reached.nodes, -confidence, reached.depth))
    order = order[~graph.tests.hold(reached.nodes[order])]  # they are listed by themselves
    shown = order[: limit or None]
    rows = zip(
        reached.nodes[shown].tolist(),
        reached.depth[shown].tolist(),
        confidence[shown].tolist(),
        reached.ways[shown].tolist(),
        strict=True,
    )
    affected = (Affected(symbol_of(graph.code, node), depth, sure, WAYS[way]) for node, depth, sure, way in rows)
    return tuple(affected), len(order) - len(shown)


def _reached(graph: Graph, changed: Sequence[int], effects: Effects) -> Reached:
    edges = overriding(graph, changed, effects.reader)
    return with_overriding(effects.reached, [edge for edge in edges if edge.source not in changed])


def choose_tests(
    graph: Graph, changed: Sequence[int], limit: int = 0, leftovers: Leftovers = NOTHING_LEFT
) -> TestChoice:
    """Return the test files worth running for a change of some nodes, best first; `limit` 0 gives all."""

    def find() -> TestChoice:
        return _find_tests(graph, changed, limit, leftovers)

    key = ("tests", tuple(changed), limit)
    return find() if leftovers != NOTHING_LEFT else graph.answers.give(key, find, keeps=False)


def _find_tests(graph: Graph, changed: Sequence[int], limit: int, leftovers: Leftovers) -> TestChoice:
    starts = [*changed, *leftovers.nodes]
    effects = effects_of(graph, _begin(graph, starts), len(starts), for_tests=True)
    more = _of_deleted(graph, leftovers)
    reached = _reached(graph, changed, effects)
    ranked, omitted = rank_tests(graph, changed, reached, effects.importers, limit, more)
    unresolved, notes = _unknown(graph, changed, effects, "test", has_known=bool(ranked), among=graph.tests.all)
    unfollowed = effects.unfollowed()
    if changed and not ranked and unresolved is None and unfollowed is None:
        notes = on_no_tests(graph, changed[0])
    if changed and not ranked:
        notes = (*on_unread(graph, changed[0]), *notes)
    if not starts and not leftovers.deleted:
        notes = on_no_change()
    return TestChoice(
        tuple(symbol_of(graph.code, node) for node in _representatives(graph, changed)),
        tuple(ranked),
        len(graph.tests.all),
        omitted,
        (*_notes(graph, leftovers), *notes, *note_on_unfollowed(unfollowed)),
        leftovers.deleted,
        unresolved,
        unfollowed,
    )


def _unknown(
    graph: Graph,
    changed: Sequence[int],
    effects: Effects,
    what: str,
    *,
    has_known: bool,
    among: Collection[int] | None = None,
) -> tuple[Unresolved | None, tuple[str, ...]]:
    """Return the lines that may call what changed, and what to say of them."""
    shown = _representatives(graph, changed)
    outer = [node for node in shown if not _is_within(graph, node, shown)]
    unresolved = unresolved_calls(graph, outer, effects.calls_to(outer), among, reader=effects.reader)
    names = ", ".join(unresolved.names[:3]) if unresolved is not None else ""
    return unresolved, note_on(unresolved, f"{what} of {names}", has_known=has_known)


def _is_within(graph: Graph, node: int, others: Collection[int]) -> bool:
    """Tell whether a changed definition is a part of another one."""
    parent = graph.code.definition(node).parent if place_of(node) >= 0 else -1
    return parent >= 0 and node_of(file_of(node), parent) in others


def _notes(graph: Graph, leftovers: Leftovers) -> tuple[str, ...]:
    return (*graph.notes, *leftovers.notes)


def _of_deleted(graph: Graph, leftovers: Leftovers) -> list[Evidence]:
    """Return the test files that name what was deleted, or are named after it."""
    named = {file_of(node) for node in leftovers.nodes}
    twins = {number for file in leftovers.deleted for number in graph.tests.twins(file.path)}
    return [
        *(Evidence(number, "names what was deleted", NAMES_DELETED, is_use=True) for number in sorted(named)),
        *(Evidence(number, NAMED_AFTER, TWIN) for number in sorted(twins)),
    ]


def _representatives(graph: Graph, nodes: Sequence[int]) -> list[int]:
    """Return one node for each symbol."""
    shown: dict[int, int] = {}  # of each definition the one that stands for it and its overloads
    for node in nodes:
        if node not in shown:
            group = graph.code.group(node)
            shown |= dict.fromkeys(group, graph.code.main_of(group))
    return list(dict.fromkeys(shown[node] for node in nodes))
