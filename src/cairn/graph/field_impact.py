"""What a change of a field may break: what refers to it, which no edge says, and what that affects in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cairn.graph.effects import effects_of
from cairn.graph.empty import on_no_references, on_no_tests
from cairn.graph.entities import How
from cairn.graph.fields import Sought
from cairn.graph.graph import Graph
from cairn.graph.impact import affected_of
from cairn.graph.nodes import node_of
from cairn.graph.patience import shared_time
from cairn.graph.reach import CONFIDENCE, Reached
from cairn.graph.reader import note_on_unfollowed
from cairn.graph.references import look_for
from cairn.graph.resolve import USE
from cairn.graph.selection import rank_tests
from cairn.graph.unresolved import note_on
from cairn.graph.values import Impact, SymbolReference, TestChoice, Unfollowed, Unresolved
from cairn.hints import Hint


class _Uses(NamedTuple):
    """What a field affects, the lines that may refer to it as well, and what there was no time for."""

    reached: Reached
    unresolved: Unresolved | None
    unfollowed: Unfollowed | None

    def notes(self, field: Sought, what: str, *, has_known: bool) -> tuple[Hint, ...]:
        return note_on(self.unresolved, f"{what} of {field.target.name}", has_known=has_known)

    @property
    def is_whole(self) -> bool:
        return self.unresolved is None and self.unfollowed is None


def impact_of_field(graph: Graph, field: Sought, limit: int = 0, tests: int = 20) -> Impact:
    """Return what a change of a field may break, nearest and surest first; arguments as for `impact`."""

    def find() -> Impact:
        uses = _find_uses(graph, field, for_tests=False)
        affected, n_omitted = affected_of(graph, uses.reached, limit)
        ranked, _ = rank_tests(graph, (), uses.reached, lambda _: (), tests, verb="uses")
        notes = uses.notes(field, "use", has_known=bool(len(uses.reached.nodes)))
        if not affected and uses.is_whole:
            notes = on_no_references(graph, {field.target.name})
        said = (*graph.notes, *notes, *note_on_unfollowed(uses.unfollowed))
        shown = (field.namesakes or (field.symbol,), affected, (), tuple(ranked))
        return Impact(*shown, n_omitted, said, unresolved=uses.unresolved, unfollowed=uses.unfollowed)

    return graph.answers.give(("impact of field", field.target, limit, tests), find, keeps=False)


def choose_tests_of_field(graph: Graph, field: Sought, limit: int = 0) -> TestChoice:
    """Return the test files worth running for a change of a field, best first; `limit` 0 gives all."""

    def find() -> TestChoice:
        uses = _find_uses(graph, field, for_tests=True)
        ranked, n_omitted = rank_tests(graph, (), uses.reached, lambda _: (), limit, verb="uses")
        notes = uses.notes(field, "test", has_known=bool(ranked))
        if not ranked and uses.is_whole:
            notes = on_no_tests(graph, min(field.target.nodes))
        said = (*graph.notes, *notes, *note_on_unfollowed(uses.unfollowed))
        shown = (field.namesakes or (field.symbol,), tuple(ranked), len(graph.tests.all), n_omitted, said)
        return TestChoice(*shown, unresolved=uses.unresolved, unfollowed=uses.unfollowed)

    return graph.answers.give(("tests of field", field.target, limit), find, keeps=False)


def _find_uses(graph: Graph, field: Sought, *, for_tests: bool) -> _Uses:
    with shared_time(2):
        graph.patience.begin()
        reader = graph.reader()
        references, tally, _ = look_for(graph, field, reader)
        users = _users_of(graph, references)
        graph.patience.begin()
        effects = effects_of(graph, list(users), len(users), for_tests=for_tests)
        reached = _one_step_on(effects.reached, users)
        unfollowed = reader.unfollowed() or effects.unfollowed()
    return _Uses(reached, tally.result(), unfollowed)


def _users_of(graph: Graph, references: list[SymbolReference]) -> dict[int, float]:
    """Return the definitions in which a field is referred to, each with how sure that is."""
    users: dict[int, float] = {}
    for reference in references:
        source = graph.code.file(graph.code.numbers[reference.path])
        node = node_of(source.number, source.at_line(reference.line))
        users[node] = max(users.get(node, 0.0), CONFIDENCE[How[reference.how.upper()]])
    return users


def _one_step_on(reached: Reached, users: dict[int, float]) -> Reached:
    """Return what a field affects, going by what its users affect: these themselves, and that over one step more."""
    nodes = np.concatenate([np.array(list(users), np.int64), reached.nodes])
    sure = max(users.values(), default=0.0)
    confidence = np.concatenate([np.array(list(users.values()), np.float64), sure * reached.confidence])
    depth = np.concatenate([np.ones(len(users), np.int64), reached.depth + 1])
    ways = np.concatenate([np.full(len(users), USE, np.uint8), reached.ways])
    order = np.argsort(nodes, kind="stable")
    return Reached(nodes[order], confidence[order], depth[order], ways[order])
