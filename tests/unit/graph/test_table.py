"""Where the definitions of all files are, by name and by kind."""

from __future__ import annotations

import numpy as np

from cairn.graph.table import DefinitionTable

BITS = 8
ROWS = [(5, 0, "class", "Cart"), (5, 1, "method", "fee"), (7, 0, "function", "fee"), (9, 0, "function", "gone")]


def node(file: int, place: int) -> int:
    return file << BITS | place


def test_each_file_has_the_definitions_of_the_blob_that_it_shows() -> None:
    table = DefinitionTable.of(ROWS, [7, 5, 7], {}, BITS)
    assert table.nodes.tolist() == [node(0, 1), node(1, 1), node(1, 2), node(2, 1)]
    assert table.nodes_named("fee") == [node(0, 1), node(1, 2), node(2, 1)]
    assert table.nodes_named("gone") == []
    assert table.of_kinds(["class", "method"]).tolist() == [node(1, 1), node(1, 2)]


def test_of_a_file_that_changed_nothing_of_its_blob_is_left() -> None:
    table = DefinitionTable.of(ROWS, [7, 5], {1: [("function", "total")]}, BITS)
    assert table.nodes.tolist() == [node(0, 1), node(1, 1)]
    assert table.nodes_named("Cart") == []
    assert table.nodes_named("fee") == [node(0, 1)]
    assert table.nodes_named("total") == [node(1, 1)]
    assert table.of_kinds(["class"]).tolist() == []


def test_the_nodes_ascend_whatever_the_order_of_the_names() -> None:
    table = DefinitionTable.of(ROWS, [9, 7, 5], {}, BITS)
    assert (np.diff(table.nodes) > 0).all()
    assert sorted(table.named.tolist()) == table.nodes.tolist()


def test_tests_are_apart_from_all_other_definitions_of_a_name() -> None:
    table = DefinitionTable.of([*ROWS[:2], (5, 2, "test", "fee")], [5], {}, BITS)
    assert (table.nodes_named("fee"), table.nodes_named("fee", are_tests=True)) == ([node(0, 2)], [node(0, 3)])
