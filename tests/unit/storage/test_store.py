from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cairn.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexVersionError,
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreLockedError,
    StoreVersionError,
)
from cairn.storage.catalog import STORES
from cairn.storage.connection import connect, store_errors
from cairn.storage.copies import copy_database
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import file_lock, write_lock
from cairn.storage.migrations import schema_of
from cairn.storage.store import Store
from truth import FIRST, NOTES


def mapped(error: Exception, store: Store) -> StoreError:
    with pytest.raises(StoreError) as caught, store_errors(Path("/state") / store.file_name, store):
        raise error
    return caught.value


def test_damage_of_an_index_is_mended_by_building_it_anew() -> None:
    error = mapped(sqlite3.DatabaseError("file is not a database"), INDEX)
    assert type(error) is IndexDamagedError
    assert str(error) == "/state/index.db is damaged: file is not a database"
    assert error.hint == "cairn index --full"


def test_damage_of_a_store_of_truth_names_the_file_and_says_that_nothing_was_changed() -> None:
    error = mapped(sqlite3.DatabaseError("file is not a database"), NOTES)
    assert type(error) is StoreDamagedError
    assert str(error) == "/state/memory.db is damaged: file is not a database; nothing was changed"
    assert error.hint == "cairn doctor"


def test_text_that_cannot_be_decoded_is_damage_of_the_store_that_holds_it() -> None:
    wrong = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert type(mapped(wrong, NOTES)) is StoreDamagedError
    assert type(mapped(wrong, INDEX)) is IndexDamagedError


def test_the_hint_of_damage_says_how_to_go_back_to_the_newest_copy(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with closing(connect(file, NOTES)) as connection:
        for statement in FIRST.statements:
            connection.execute(statement)
        copies = [copy_database(file) for _ in range(2)]
    hint = NOTES.damage(file, "is damaged").hint
    assert hint.startswith("to go back to the copy of ")
    assert hint.endswith(f"cp {copies[1].name} memory.db; but first: cairn doctor")


@pytest.mark.parametrize(("store", "kind"), [(INDEX, IndexLockedError), (NOTES, StoreLockedError)])
def test_a_busy_database_is_a_lock_of_its_store(store: Store, kind: type[StoreError]) -> None:
    assert type(mapped(sqlite3.OperationalError("database is locked"), store)) is kind


@pytest.mark.parametrize(
    ("store", "hint"),
    [
        (INDEX, "free some space, then run: cairn index"),
        (NOTES, "nothing was kept; free some space, then run the command again"),
    ],
)
def test_a_full_disk_names_what_writes_the_store_again(store: Store, hint: str) -> None:
    error = mapped(sqlite3.OperationalError("database or disk is full"), store)
    assert error.code == "store"
    assert error.hint == hint


def test_a_lock_says_what_the_other_process_is_doing(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with file_lock(lock, 0):
        with pytest.raises(StoreLockedError, match="another process has been noting") as caught:
            write_lock(lock, 0, NOTES).__enter__()
        assert (caught.value.code, caught.value.hint) == ("store-locked", "wait for it, or stop it and run: cairn note")
        with pytest.raises(IndexLockedError, match="another process has been indexing"):
            write_lock(lock, 0, INDEX).__enter__()
        with pytest.raises(StoreLockedError, match=f"another process keeps {lock} locked"):
            file_lock(lock, 0).__enter__()


def test_only_what_can_be_rebuilt_offers_that_when_it_is_too_new() -> None:
    notes, index = NOTES.newer(7), INDEX.newer(70)
    assert (type(notes), type(index)) == (StoreVersionError, IndexVersionError)
    assert str(notes) == "the notes was written by a newer Cairn (schema 7, this one knows 1)"
    assert "rebuild" not in notes.hint
    assert "cairn index --full" in index.hint


def test_a_store_from_elsewhere_stays_and_the_hint_moves_it(tmp_path: Path) -> None:
    error = NOTES.foreign(tmp_path / "memory.db")
    assert type(error) is StoreForeignError
    assert "nothing was changed" in str(error)
    assert "mv memory.db" in error.hint


def test_every_store_has_a_name_a_file_and_a_schema_of_its_own() -> None:
    assert len({store.name for store in STORES}) == len({store.file_name for store in STORES}) == len(STORES)
    for store in STORES:
        assert schema_of(store.migrations).digest() == store.newest
        assert store.is_truth == (not store.rebuild)
