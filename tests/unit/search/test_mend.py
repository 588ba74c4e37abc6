from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cairn.search.hits import MISSING, FileText, focus_on
from cairn.search.mend import MAX_MENDED_BYTES, Mender
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.workspace import Workspace

SOURCE = """import os


class Store:
    def load(self, key):
        return self.rows[key]

    def save(self, key, row):
        self.rows[key] = row


def load(path):
    return open(path).read()
"""


@pytest.fixture
def mender(tmp_path: Path) -> Iterator[tuple[Mender, list[ChunkRow]]]:
    (tmp_path / "store.py").write_text(SOURCE)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        with closing(workspace.state.open_for_reading()) as connection:
            ids = [row[0] for row in connection.execute("SELECT id FROM chunk")]
            rows = chunk_db.read_chunks(connection, ids).values()
            yield Mender(connection), list(rows)


def row_and_place(rows: list[ChunkRow], name: str) -> tuple[ChunkRow, int | None]:
    for row in rows:
        for place, one in enumerate(row.definitions):
            if one.qualified_name == name:
                return row, place if len(row.definitions) > 1 else None
    raise AssertionError(name)


def shown(mender: Mender, rows: list[ChunkRow], name: str, text: str) -> tuple[int, int, str, bool]:
    row, place = row_and_place(rows, name)
    ordinal = None if place is None else row.chunk.definitions[0] + place
    focus = focus_on(row, frozenset(), ordinal)
    found, file = mender.refresh("store.py", FileText(text.encode(), True), row, focus)
    assert found.place == focus.place
    return found.span.start_line, found.span.end_line, found.signature, file.stale


def test_a_definition_is_found_where_it_moved_to(mender: tuple[Mender, list[ChunkRow]]) -> None:
    one, rows = mender
    text = "# more\n" * 5 + SOURCE.replace("load(path)", "load(path, mode)")
    assert shown(one, rows, "Store.save", text) == (13, 14, "def save(self, key, row)", False)
    assert shown(one, rows, "Store.load", text) == (10, 11, "def load(self, key)", False)
    assert shown(one, rows, "load", text) == (17, 18, "def load(path, mode)", False)


def test_of_several_of_one_name_the_one_most_alike_is_meant(mender: tuple[Mender, list[ChunkRow]]) -> None:
    one, rows = mender
    text = "def load(other):\n    return other + 1\n\n\n" + SOURCE
    assert shown(one, rows, "load", text)[:3] == (16, 17, "def load(path)")


def test_a_definition_that_is_gone_stays_stale(mender: tuple[Mender, list[ChunkRow]]) -> None:
    one, rows = mender
    assert shown(one, rows, "Store.save", SOURCE.replace("save", "put"))[3]


def test_a_file_that_was_only_touched_is_as_it_was(mender: tuple[Mender, list[ChunkRow]]) -> None:
    one, rows = mender
    assert shown(one, rows, "load", SOURCE) == (12, 13, "def load(path)", False)


def test_a_file_that_is_gone_stays_stale(mender: tuple[Mender, list[ChunkRow]]) -> None:
    one, rows = mender
    row, place = row_and_place(rows, "load")
    assert one.find("store.py", MISSING, row, place) is None
    assert one.rows("store.py", MISSING) is None


def test_no_more_is_parsed_than_an_answer_can_wait_for(mender: tuple[Mender, list[ChunkRow]]) -> None:
    one, _ = mender
    half = FileText(b"a = 1\n" * (MAX_MENDED_BYTES // 11), True)
    assert one.rows("one.py", half)
    assert one.rows("two.py", half) is None
    assert one.rows("one.py", half)
