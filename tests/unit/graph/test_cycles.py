from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cairn.graph.cycles import components


def reaches(edges: dict[int, dict[int, None]], start: int, end: int) -> bool:
    seen, queue = set(), [start]
    while queue:
        for target in edges.get(queue.pop(), ()):
            if target == end:
                return True
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return False


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_two_nodes_are_together_exactly_if_they_reach_each_other(pairs: set[tuple[int, int]]) -> None:
    edges: dict[int, dict[int, None]] = {}
    for source, target in sorted(pairs):
        edges.setdefault(source, {})[target] = None
    group_of = {member: place for place, group in enumerate(components(edges)) for member in group}
    for one in range(8):
        for other in range(one):
            together = reaches(edges, one, other) and reaches(edges, other, one)
            assert together == (one in group_of and group_of[one] == group_of.get(other))


def test_a_long_chain_needs_no_recursion() -> None:
    chain = {number: {number + 1: None} for number in range(20_000)}
    chain[20_000] = {0: None}
    assert [len(group) for group in components(chain)] == [20_001]
