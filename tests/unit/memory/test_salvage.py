"""A damaged memory is not the end: what can be read of it is saved, and the damaged file is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import NotFoundError, RequestError, StoreDamagedError, StoreForeignError
from cairn.index.state_dir import StateDir
from cairn.memory.derived import derive
from cairn.memory.ids import new_id
from cairn.memory.publication import LINK
from cairn.memory.salvage import salvage_memory
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.memory.upkeep import examine_memory
from cairn.storage.copies import copy_database
from cairn.storage.memory import event_db, sharing_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.sealed import read_meta, write_meta
from memory_histories import CREATED, START

ADA = By("person:ada", "person")
N_MEMORIES = 120
_PAGE_BYTES = 4096


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    """A state folder with a memory of several pages, shared with a team, some of it through git."""
    state = StateDir(tmp_path / "state")
    store = MemoryStore(state, derive)
    texts = [f"number {number}: {'so ' * 100}" for number in range(N_MEMORIES)]
    store.record([MemoryChange(new_id(START), "created", CREATED | {"text": text}) for text in texts], ADA)
    with store.writing() as connection:
        write_meta(connection, LINK, '{"server": "https://cairn.example.org", "project": "acme/shop"}')
        connection.execute("UPDATE event SET sharing = 2, source = 'shared' WHERE seq = 1")
    store.close()
    return state


def file_of(state: StateDir) -> Path:
    return state.path / "memory.db"


def harm(state: StateDir, text: str) -> None:
    """Overwrite the page of the database that says something first."""
    content = bytearray(file_of(state).read_bytes())
    page = content.index(text.encode()) // _PAGE_BYTES * _PAGE_BYTES
    content[page : page + _PAGE_BYTES] = b"\x5a" * _PAGE_BYTES
    file_of(state).write_bytes(content)


def texts(state: StateDir) -> set[str]:
    store = MemoryStore(state, derive)
    try:
        return {observation.text.partition(":")[0] for observation in store.select(Conditions())}
    finally:
        store.close()


def test_what_can_be_read_is_saved_and_the_damaged_file_is_kept(state: StateDir) -> None:
    harm(state, "number 60:")
    damaged = file_of(state).read_bytes()
    assert [finding.level for finding in examine_memory(state)] != ["ok"] * 3
    done = salvage_memory(state)
    found = texts(state)
    assert len(found) == done.n_memories == done.n_events
    assert N_MEMORIES - 20 < len(found) < N_MEMORIES
    assert done.n_lost == N_MEMORIES - len(found)
    assert {"number 0", f"number {N_MEMORIES - 1}"} <= found
    assert done.kept.read_bytes() == damaged
    assert [finding.level for finding in examine_memory(state)] == ["ok"] * 3


def test_with_whom_it_is_shared_is_saved(state: StateDir) -> None:
    harm(state, "number 60:")
    salvage_memory(state)
    store = MemoryStore(state, derive)
    with store.reading() as connection:
        assert "acme/shop" in read_meta(connection, LINK)
        (first,) = event_db.rows_between(connection, 1, 1)
        assert first[2:4] == ("shared", sharing_db.SHARED)
    store.close()


def test_what_only_a_copy_has_is_saved_too_but_nothing_that_was_erased(state: StateDir) -> None:
    store = MemoryStore(state, derive)
    gone = next(observation.id for observation in store.select(Conditions()) if "number 3:" in observation.text)
    store.record([MemoryChange(gone, "redact", {})], ADA)
    store.close()
    copy_database(file_of(state))
    harm(state, "number 60:")
    salvage_memory(state)
    assert texts(state) == {f"number {number}" for number in range(N_MEMORIES)} - {"number 3"}


def test_a_memory_whose_events_were_altered_is_saved_without_these(state: StateDir) -> None:
    store = MemoryStore(state, derive)
    with store.writing() as connection:
        connection.execute("UPDATE event SET body = replace(body, 'so', 'no') WHERE seq = 5")
    store.close()
    done = salvage_memory(state)
    assert (done.n_events, done.n_lost) == (N_MEMORIES - 1, 1)


def test_a_memory_that_is_whole_or_not_there_is_left_alone(state: StateDir, tmp_path: Path) -> None:
    before = file_of(state).read_bytes()
    with pytest.raises(RequestError, match="is whole"):
        salvage_memory(state)
    assert file_of(state).read_bytes() == before
    with pytest.raises(NotFoundError):
        salvage_memory(StateDir(tmp_path / "nothing"))


def test_where_nothing_can_be_read_nothing_is_changed(state: StateDir) -> None:
    file_of(state).write_bytes(b"\x5a" * 100_000)
    with pytest.raises(StoreDamagedError):
        salvage_memory(state)
    assert file_of(state).stat().st_size == 100_000
    assert not list(state.path.glob("*.damaged-*"))


def test_a_damaged_memory_that_was_made_elsewhere_is_not_taken_over(state: StateDir, tmp_path: Path) -> None:
    other = StateDir(tmp_path / "other")
    store = MemoryStore(other, derive)
    store.record([MemoryChange(new_id(START), "created", CREATED)], ADA)
    store.close()
    harm(state, "number 60:")
    file_of(other).write_bytes(file_of(state).read_bytes())
    with pytest.raises(StoreForeignError):
        salvage_memory(other)
