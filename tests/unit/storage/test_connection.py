from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from cairn.storage.connection import connect
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
