from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cairn.errors import IndexDamagedError, IndexVersionError, StoreError
from cairn.storage.catalog import STORES
from cairn.storage.connection import connect
from cairn.storage.copies import find_copies
from cairn.storage.index.schema import INDEX, MIGRATIONS, NEWEST
from cairn.storage.migrations import Schema, check_schema, migrate, read_schema, schema_of
from cairn.storage.store import Migration, Store
from truth import NEWER_NOTES, NOTES

FIRST = Migration("first", ("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"))
SECOND = Migration("second", ("ALTER TABLE a ADD COLUMN y DEFAULT 2",))
BROKEN = Migration("broken", ("INSERT INTO a VALUES (3, 4)", "CREATE TABLE a (x)"))
FILE = Path("index.db")


def index_of(migrations: tuple[Migration, ...], newest: str = "") -> Store:
    """An index with other tables."""
    return INDEX._replace(migrations=migrations, newest=newest)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A fresh database."""
    with closing(connect(tmp_path / "a.db", INDEX)) as connection:
        yield connection


def version(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def test_a_new_database_gets_every_step(connection: sqlite3.Connection) -> None:
    migrate(connection, index_of((FIRST, SECOND)), FILE)
    assert connection.execute("SELECT * FROM a").fetchall() == [(1, 2)]
    assert version(connection) == 2


def test_an_older_database_gets_only_the_steps_it_lacks(connection: sqlite3.Connection) -> None:
    migrate(connection, index_of((FIRST,)), FILE)
    migrate(connection, index_of((FIRST, SECOND)), FILE)
    assert connection.execute("SELECT * FROM a").fetchall() == [(1, 2)]


def test_a_current_database_is_left_alone(connection: sqlite3.Connection) -> None:
    migrate(connection, index_of((FIRST,)), FILE)
    migrate(connection, index_of((FIRST,)), FILE)
    assert connection.execute("SELECT * FROM a").fetchall() == [(1,)]


def test_a_step_that_fails_leaves_the_database_as_it_was(connection: sqlite3.Connection) -> None:
    migrate(connection, index_of((FIRST, SECOND)), FILE)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection, index_of((FIRST, SECOND, BROKEN)), FILE)
    assert connection.execute("SELECT * FROM a").fetchall() == [(1, 2)]
    assert version(connection) == 2


def test_a_newer_database_is_refused_with_the_next_command_and_not_touched(connection: sqlite3.Connection) -> None:
    migrate(connection, index_of((FIRST, SECOND)), FILE)
    with pytest.raises(IndexVersionError, match=r"newer Cairn \(schema 2, this one knows 1\)") as caught:
        migrate(connection, index_of((FIRST,)), FILE)
    assert "upgrade" in caught.value.hint
    assert caught.value.exit_code == 3
    assert version(connection) == 2


def test_the_schema_of_the_index_can_be_made_step_by_step(connection: sqlite3.Connection) -> None:
    for count in range(1, len(MIGRATIONS) + 1):
        migrate(connection, index_of(MIGRATIONS[:count]), FILE)
    assert version(connection) == len(MIGRATIONS)
    assert len({migration.name for migration in MIGRATIONS}) == len(MIGRATIONS)


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.file_name)
def test_the_digest_of_the_newest_schema_is_written_down(store: Store) -> None:
    assert schema_of(store.migrations).digest() == store.newest


@pytest.mark.parametrize("newest", [NEWEST, "another"])
def test_a_schema_that_the_steps_made_passes_at_every_step(newest: str, connection: sqlite3.Connection) -> None:
    check_schema(read_schema(connection), index_of(MIGRATIONS, newest), FILE)
    for count in range(1, len(MIGRATIONS) + 1):
        migrate(connection, index_of(MIGRATIONS[:count]), FILE)
        check_schema(read_schema(connection), index_of(MIGRATIONS, newest), FILE)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (x)",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more AFTER INSERT ON a BEGIN SELECT 1; END",
        "CREATE INDEX more ON a (x)",
        "ALTER TABLE a ADD COLUMN z",
        "DROP TABLE a",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = -1",
    ],
)
def test_any_other_schema_is_damage(statement: str, connection: sqlite3.Connection) -> None:
    migrate(connection, index_of((FIRST, SECOND)), FILE)
    connection.execute(statement)
    with pytest.raises(IndexDamagedError):
        check_schema(read_schema(connection), index_of((FIRST, SECOND)), FILE)


def test_a_newer_schema_is_not_judged() -> None:
    check_schema(Schema(3, (("table", "b", "b", "CREATE TABLE b (x)"),)), index_of((FIRST, SECOND)), FILE)


def test_a_new_database_begins_with_what_its_maker_writes(connection: sqlite3.Connection) -> None:
    def begin(new: sqlite3.Connection) -> None:
        new.execute("INSERT INTO a VALUES (7)")

    migrate(connection, index_of((FIRST,)), FILE, begin)
    migrate(connection, index_of((FIRST, SECOND)), FILE, begin)
    assert connection.execute("SELECT x FROM a").fetchall() == [(1,), (7,)]


def test_where_no_copy_can_be_made_a_store_of_truth_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with closing(connect(file, NOTES)) as notes:
        migrate(notes, NOTES, file)
        with pytest.raises(StoreError, match="the notes cannot be copied before its schema changes") as caught:
            migrate(notes, NEWER_NOTES, tmp_path / "gone" / "memory.db")
        assert "nothing was changed" in str(caught.value)
        assert version(notes) == 1


def test_an_index_is_not_copied_for_it_can_be_rebuilt(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    with closing(connect(file, INDEX)) as connection:
        migrate(connection, index_of((FIRST,)), file)
        migrate(connection, index_of((FIRST, SECOND)), file)
    assert find_copies(file) == []
