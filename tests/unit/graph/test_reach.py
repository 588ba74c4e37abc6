"""What feels a change is found by the surest way, and by the shorter one of two as sure."""

from __future__ import annotations

import numpy as np
import pytest

from cairn.graph.entities import How
from cairn.graph.network import Network
from cairn.graph.nodes import node_of
from cairn.graph.reach import WAYS, Feelers, Reached, with_overriding
from cairn.graph.resolve import CALL, INHERIT, USE, Edge

# Who refers to whom, by place in one file.
Row = tuple[int, int, int, How]


def reached(
    rows: list[Row], start: int, overrides: list[tuple[int, int]] | None = None
) -> dict[int, tuple[float, int, str]]:
    """Return {place: (confidence, depth, last step)} of all that feels a change of one place."""
    edges = np.array([(node_of(0, a), node_of(0, b), kind, how) for a, b, kind, how in rows], np.int64).reshape(-1, 4)
    pairs = np.array([(node_of(0, a), node_of(0, b)) for a, b in overrides or ()], np.int64).reshape(-1, 2)
    none = np.zeros(0, np.int64)
    network = Network(
        blobs=none,
        identity=none.astype(np.uint8),
        path_bytes=none.astype(np.uint8),
        needs=none.astype(np.uint32),
        first_needs=none,
        sources=edges[:, 0],
        targets=edges[:, 1],
        kinds=edges[:, 2].astype(np.uint8),
        hows=edges[:, 3].astype(np.uint8),
        lines=none.astype(np.int32),
        called=none.astype(np.uint32),
        order=none.astype(np.uint32),
        name_bytes=none.astype(np.uint8),
        renaming=none,
        renamed=none.astype(np.uint32),
        renamed_to=none.astype(np.uint32),
        importing=none,
        imported=none,
        import_lines=none.astype(np.int32),
        import_flags=none.astype(np.uint8),
        overriding=pairs[:, 0],
        overridden=pairs[:, 1],
    )
    found = Feelers(network).reach([node_of(0, start)])
    columns = (found.nodes, found.confidence.round(6), found.depth, found.ways)
    rows_found = zip(*(column.tolist() for column in columns), strict=True)
    return {node - node_of(0, 0): (sure, depth, WAYS[way]) for node, sure, depth, way in rows_found}


def test_confidence_is_that_of_all_steps_together() -> None:
    rows = [(1, 0, CALL, How.IMPORT), (2, 1, CALL, How.RECEIVER), (3, 2, USE, How.EXACT)]
    assert reached(rows, 0) == {1: (0.95, 1, "call"), 2: (0.855, 2, "call"), 3: (0.5985, 3, "use")}


def test_the_surest_way_counts_though_it_is_longer() -> None:
    rows = [(1, 0, CALL, How.NAME), (2, 0, CALL, How.EXACT), (1, 2, INHERIT, How.EXACT)]
    assert reached(rows, 0)[1] == (0.9, 2, "inherit")


def test_of_ways_as_sure_the_one_of_fewer_steps_counts() -> None:
    rows = [(1, 0, CALL, How.EXACT), (2, 1, CALL, How.EXACT), (2, 0, CALL, How.EXACT)]
    assert reached(rows, 0)[2] == (1.0, 1, "call")


def test_circles_end_and_the_start_does_not_feel_itself() -> None:
    rows = [(1, 0, CALL, How.EXACT), (0, 1, CALL, How.EXACT), (1, 1, CALL, How.EXACT)]
    assert reached(rows, 0) == {1: (1.0, 1, "call")}


def test_ways_that_are_hardly_sure_are_not_followed() -> None:
    rows: list[Row] = [(place + 1, place, CALL, How.NAME) for place in range(8)]
    assert sorted(reached(rows, 0)) == [1, 2, 3, 4]


def test_who_calls_a_method_of_a_base_may_run_what_overrides_it() -> None:
    assert reached([(2, 1, CALL, How.EXACT)], 0, [(0, 1)]) == {1: (0.6, 1, "override"), 2: (0.6, 2, "call")}


@pytest.mark.parametrize("start", [0, 5])
def test_where_nothing_refers_to_anything_nothing_feels_a_change(start: int) -> None:
    assert reached([], start) == {}


def test_a_file_that_only_names_something_does_not_feel_it() -> None:
    assert reached([(-1, 0, USE, How.EXACT), (-1, 1, CALL, How.EXACT)], 0) == {}
    assert reached([(-1, 0, CALL, How.EXACT)], 0) == {-1: (1.0, 1, "call")}


def test_what_overrides_is_added_by_the_surer_way() -> None:
    reached = Reached(np.array([3, 5, 7]), np.array([0.2, 0.95, 0.5]), np.array([4, 1, 2]), np.zeros(3, np.uint8))
    edges = [Edge(node, 1, INHERIT, How.EXACT, 1, "Base") for node in (3, 4, 5)]
    found = with_overriding(reached, edges)
    columns = (found.nodes, found.confidence, found.depth, (WAYS[way] for way in found.ways))
    assert list(zip(*(list(column) for column in columns), strict=True)) == [
        (3, 0.9, 1, "override"),
        (4, 0.9, 1, "override"),
        (5, 0.95, 1, "call"),
        (7, 0.5, 2, "call"),
    ]
