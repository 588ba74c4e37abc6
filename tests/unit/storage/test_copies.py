from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cairn.storage.connection import connect, transaction
from cairn.storage.copies import MAX_COPIES, copy_database, find_copies
from truth import FIRST, NOTES, add_note, read_notes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the notes are."""
    return tmp_path / "memory.db"


@pytest.fixture
def connection(file: Path) -> Iterator[sqlite3.Connection]:
    """A database with one note, which is in its log alone."""
    with closing(connect(file, NOTES)) as connection:
        for statement in FIRST.statements:
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 3")
        add_note(connection, "one")
        yield connection


def test_a_copy_holds_what_is_in_the_log_and_needs_none(file: Path, connection: sqlite3.Connection) -> None:
    with transaction(connection):
        copy = copy_database(file)
        add_note(connection, "two")
    with closing(sqlite3.connect(f"file:{copy}?mode=ro&immutable=1", uri=True)) as copied:
        assert read_notes(copied) == ["one"]
        assert copied.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert read_notes(connection) == ["one", "two"]
    assert [path.name for path in file.parent.glob("memory.db.*")] == [copy.name]


def test_the_name_of_a_copy_says_its_version_and_time(file: Path, connection: sqlite3.Connection) -> None:
    copy = copy_database(file)
    (found,) = find_copies(file)
    assert (found.path, found.version) == (copy, 3)
    assert copy.name.startswith(f"memory.db.v3-{found.made}-")


def test_a_copy_has_the_permissions_of_the_database(file: Path, connection: sqlite3.Connection) -> None:
    file.chmod(0o600)
    assert stat.S_IMODE(copy_database(file).stat().st_mode) == 0o600


def test_the_newest_few_copies_are_kept_whatever_their_versions(file: Path, connection: sqlite3.Connection) -> None:
    made = []
    for version in range(9, 9 + MAX_COPIES + 2):  # 9, 10, ...: not in the order of their names
        connection.execute(f"PRAGMA user_version = {version}")
        made.append(copy_database(file))
    assert [copy.path for copy in find_copies(file)] == made[-MAX_COPIES:]


def test_files_with_other_names_are_no_copies_and_stay(file: Path, connection: sqlite3.Connection) -> None:
    other = file.with_name("memory.db.v3-mine")
    other.write_text("mine")
    for _ in range(MAX_COPIES + 1):
        copy_database(file)
    assert other.read_text() == "mine"
    assert len(find_copies(file)) == MAX_COPIES


def test_what_a_killed_process_left_is_removed(file: Path, connection: sqlite3.Connection) -> None:
    copy = copy_database(file)
    for suffix in ("", "-journal"):
        Path(f"{copy}.123.tmp{suffix}").write_bytes(b"half")
    copy_database(file)
    assert list(file.parent.glob("*.tmp*")) == []


def test_a_damaged_database_is_not_copied(file: Path, connection: sqlite3.Connection) -> None:
    for number in range(2_000):
        add_note(connection, f"{number:0200}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with file.open("r+b") as stream:
        stream.seek(40_000)
        stream.write(b"\xaa" * 8_000)
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        copy_database(file)
    assert list(file.parent.glob("memory.db.v*")) == []


def test_no_folder_holds_no_copies(tmp_path: Path) -> None:
    assert find_copies(tmp_path / "none" / "memory.db") == []
