from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from cairn.errors import StoreError
from cairn.storage.connection import Kept, connect, in_lists
from cairn.storage.index.schema import INDEX


def test_who_opens_a_new_database_waits_for_another_that_is_writing_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE meta (key)")
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.2, other.execute, ["COMMIT"])
        timer.start()
        with closing(connect(file, INDEX)) as opened:
            assert opened.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        timer.join()


def test_a_path_that_is_too_long_for_sqlite_says_by_how_much(tmp_path: Path) -> None:
    parent = tmp_path / ("x" * 150) / ("x" * 150)
    longest = 504 - len(os.fsencode(parent)) - len("//index.db")
    fitting, longer = (parent / ("x" * length) for length in (longest, longest + 3))
    for folder in (fitting, longer):
        folder.mkdir(parents=True)
    connect(fitting / "index.db", INDEX).close()
    with pytest.raises(StoreError, match="SQLite opens no path of more than 504 bytes") as caught:
        connect(longer / "index.db", INDEX)
    assert "shorter by 3 bytes" in str(caught.value.hint)


def test_lists_of_few_sizes_hold_all_values() -> None:
    for count in (0, 1, 2, 13, 49, 499, 500, 501, 1_100):
        parts = list(in_lists(range(count)))
        assert [len(values) for _, values in parts] == [marks.count("?") for marks, _ in parts]
        assert sorted({value for _, values in parts for value in values}) == list(range(count))


def test_lists_have_few_sizes() -> None:
    assert len({marks for count in range(1_000) for marks, _ in in_lists(range(count))}) <= 6


def test_what_was_read_is_kept_until_another_question_or_any_change(tmp_path: Path) -> None:
    kept = Kept[int]()
    with closing(sqlite3.connect(tmp_path / "a.db")) as here, closing(sqlite3.connect(tmp_path / "a.db")) as there:
        here.execute("CREATE TABLE number (value INTEGER)")
        here.commit()
        reads: list[str] = []

        def count(asked: str) -> int:
            def read() -> int:
                reads.append(asked)
                return int(here.execute("SELECT count(*) FROM number").fetchone()[0])

            return kept.get(here, asked, read)

        assert [count("a"), count("a"), count("b")] == [0, 0, 0]
        assert reads == ["a", "b"]
        for connection in (here, there):
            connection.execute("INSERT INTO number VALUES (1)")
            connection.commit()
            count("b")
        assert count("b") == 2
    assert reads == ["a", "b", "b", "b"]
