"""Definitions as the index has them, found by their names or in a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cairn.storage.index import chunk_db
from cairn.workspace import Workspace

SOURCE = "class Store:\n    def load(self):\n        pass\n\n\ndef load():\n    pass\n\n\ndef Load():\n    pass\n"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (tmp_path / "store.py").write_text(SOURCE)
    (tmp_path / "other.py").write_text("def load():\n    return 1\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        with closing(workspace.state.open_for_reading()) as opened:
            yield opened


@pytest.mark.parametrize("most", [1, 2, 100])
def test_names_that_are_looked_up_together_are_found_as_each_alone(connection: sqlite3.Connection, most: int) -> None:
    names = ["load", "Load", "store", "Store"]
    found = chunk_db.definitions_of_names(connection, names, most)
    assert found == {name: chunk_db.definitions_called(connection, name, most) for name in names}
    assert len(found["load"]) == min(3, most)
    assert chunk_db.definitions_of_names(connection, [], most) == {}


def test_one_file_is_asked_for_its_definitions_of_a_name(connection: sqlite3.Connection) -> None:
    for blob_id, definitions in chunk_db.read_definitions(connection, [1, 2]).items():
        own = [one for one in definitions if one.name in ("load", "Store")]
        assert chunk_db.definitions_of_blob_called(connection, blob_id, {"load", "Store"}) == own


def test_a_definition_is_read_by_its_id(connection: sqlite3.Connection) -> None:
    found = chunk_db.definitions_called(connection, "load", 100)
    definitions = chunk_db.definitions_at(connection, [*(one.id for one in found), 1 << 40])
    assert [definitions[one.id].qualified_name for one in found] == [one.qualified_name for one in found]
    assert len(definitions) == 3
