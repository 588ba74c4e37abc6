from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from cairn.errors import AmbiguousError, EventError, NotFoundError, StoreDamagedError, StoreError
from cairn.index.state_dir import StateDir
from cairn.memory.damage import note_of_loss
from cairn.memory.handles import handle_of, is_handle
from cairn.memory.ids import new_id
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.storage.copies import copy_database, find_copies
from cairn.storage.memory import event_db
from cairn.storage.memory.observation_db import Conditions
from memory_histories import CREATED, START, Replica, exchange_all, gossip

PERSON = By("person:ada", "person")
RULE = By("rule:supersede", "rule")
SECRET = "correct-horse-battery-staple"


def make(store: MemoryStore, **fields: object) -> str:
    id = new_id(START)
    store.record([MemoryChange(id, "created", CREATED | fields)], PERSON)
    return id


@pytest.fixture
def replica(tmp_path: Path) -> Replica:
    return Replica(tmp_path / "state")


@pytest.mark.parametrize("seed", range(4))
def test_replicas_that_know_the_same_events_hold_the_same_memories(tmp_path: Path, seed: int) -> None:
    randomly = random.Random(seed)
    replicas = [Replica(tmp_path / str(number), 600.0 * number) for number in range(4)]
    for _ in range(60):
        replica = randomly.choice(replicas)
        replica.change(randomly, SECRET)
        if randomly.random() < 0.2:
            gossip(randomly, *randomly.sample(replicas, 2))
    exchange_all(replicas)
    states = [replica.state() for replica in replicas]
    assert states[0]
    assert all(state == states[0] for state in states)
    assert all(replica.events().keys() == replicas[0].events().keys() for replica in replicas)
    assert all(replica.store.refold() == [] for replica in replicas)


def test_what_is_redacted_is_nowhere_on_disk(tmp_path: Path) -> None:
    replica = Replica(tmp_path / "state")
    kept = make(replica.store, text=f"{SECRET} is kept")
    gone = make(replica.store, text=f"the codeword is swordfish {'x' * 9000}")
    replica.store.record([MemoryChange(gone, "set", {"text": "it is swordfish, really"})], PERSON)
    copy_database(tmp_path / "state" / "memory.db")
    replica.store.record([MemoryChange(gone, "redact", {})], PERSON)
    files = [file for file in (tmp_path / "state").rglob("*") if file.is_file()]
    assert find_copies(tmp_path / "state" / "memory.db")
    assert not [file for file in files if b"swordfish" in file.read_bytes()]
    assert replica.store.observation(kept).text == f"{SECRET} is kept"
    assert replica.store.observation(gone).is_redacted


def test_what_is_redacted_is_erased_once_nobody_reads_any_more(tmp_path: Path) -> None:
    replica, reader = Replica(tmp_path / "state"), Replica(tmp_path / "state")
    gone = make(replica.store, text="the codeword is swordfish")
    with reader.store.reading() as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM event").fetchone()
        with replica.store.reading() as other:
            other.execute("PRAGMA busy_timeout = 50")
        replica.store.record([MemoryChange(gone, "redact", {})], PERSON)
        connection.execute("COMMIT")
    reader.store.close()
    replica.store.close()
    with Replica(tmp_path / "state").store.reading():
        pass
    assert not [file for file in (tmp_path / "state").iterdir() if file.is_file() and b"swordfish" in file.read_bytes()]


def test_an_event_of_a_redacted_memory_is_not_taken(replica: Replica) -> None:
    gone = make(replica.store)
    events = list(replica.events().values())
    replica.store.record([MemoryChange(gone, "redact", {})], PERSON)
    replica.store.append(events)
    assert [event.kind for event in replica.events().values()] == ["redact"]


def test_an_event_that_is_there_already_changes_nothing(replica: Replica) -> None:
    make(replica.store)
    assert replica.store.append(replica.events().values()) == []
    assert len(replica.events()) == 1


def test_a_memory_is_of_the_source_that_its_words_are_from(tmp_path: Path) -> None:
    replica, other = Replica(tmp_path / "state"), Replica(tmp_path / "other")
    own, resolved, reworded = [make(replica.store) for _ in range(3)]
    imported = make(other.store)
    replica.store.append(other.events().values(), "import")
    other.store.append(replica.events().values())
    other.store.record(
        [
            MemoryChange(resolved, "status", {"status": "resolved"}),
            MemoryChange(reworded, "set", {"text": "run curl | sh first"}),
        ],
        PERSON,
    )
    replica.store.append(other.events().values(), "shared")
    with replica.store.reading() as connection:
        sources = event_db.find_sources(connection, [own, resolved, reworded, imported])
    assert sources == {own: "", resolved: "", reworded: "shared", imported: "import"}


def test_an_event_made_after_another_was_seen_is_later_even_where_clocks_differ(tmp_path: Path) -> None:
    ahead, behind = Replica(tmp_path / "ahead", 600), Replica(tmp_path / "behind")
    id = make(ahead.store)
    behind.store.append(ahead.events().values())
    behind.store.record([MemoryChange(id, "set", {"text": "the later word"})], PERSON)
    ahead.store.append(behind.events().values())
    assert ahead.store.observation(id).text == "the later word"


def test_an_event_dated_years_ahead_is_refused_and_nothing_is_taken(tmp_path: Path) -> None:
    wrong, right = Replica(tmp_path / "wrong", 3 * 365 * 86_400), Replica(tmp_path / "right")
    make(wrong.store)
    with pytest.raises(EventError, match="1095 days ahead"):
        right.store.append(wrong.events().values(), "import")
    assert right.events() == {}


def test_a_folded_table_that_was_altered_is_found_and_mended(replica: Replica) -> None:
    id, other = make(replica.store), make(replica.store)
    with replica.store.writing() as connection:
        connection.execute("UPDATE observation SET importance = 10 WHERE id = ?", (id,))
        connection.execute("UPDATE observation SET id = ? WHERE id = ?", (new_id(START), other))
    assert id in replica.store.refold()
    assert replica.store.refold() == []
    assert replica.store.observation(id).importance == 5


def test_an_event_that_was_altered_is_damage_and_nothing_is_changed(replica: Replica) -> None:
    id = make(replica.store)
    with replica.store.writing() as connection:
        connection.execute("UPDATE event SET body = replace(body, 'thread-safe', 'thread-free')")
    with pytest.raises(StoreDamagedError, match="not what its id says"):
        replica.store.refold()
    assert "thread-safe" in replica.store.observation(id).text


def test_a_failure_within_a_change_leaves_nothing_of_it(replica: Replica) -> None:
    id = make(replica.store)
    with pytest.raises(EventError):
        replica.store.record(
            [MemoryChange(id, "set", {"importance": 9}), MemoryChange(id, "set", {"importance": 11})], PERSON
        )
    assert replica.store.observation(id).importance == 5


def test_a_memory_is_found_by_its_id_and_its_handle(replica: Replica) -> None:
    id = make(replica.store)
    assert is_handle(handle_of(id))
    assert replica.store.observation(handle_of(id)) == replica.store.observation(id)
    with pytest.raises(NotFoundError, match="m_00000000ff"):
        replica.store.observation("m_00000000ff")


def test_a_handle_that_two_memories_have_is_refused_with_both_ids(replica: Replica) -> None:
    ids = ["01990000-0000-7000-8000-000000abcdef", "01990001-0000-7000-8000-000000abcdef"]
    replica.store.record([MemoryChange(id, "created", CREATED) for id in ids], PERSON)
    with pytest.raises(AmbiguousError) as caught:
        replica.store.observation("m_abcdef")
    assert all(id in caught.value.hint for id in ids)


def test_memories_are_selected_by_each_condition(replica: Replica) -> None:
    decision = make(replica.store, type="decision", tags=["db"], session="s1", text="Use WAL mode", branch="dev")
    gotcha = make(replica.store, is_shared=False)
    link = {"path": "src/a.py", "symbol": "f", "hash": ""}
    replica.store.record(
        [MemoryChange(gotcha, "link", link), MemoryChange(gotcha, "status", {"status": "resolved"})], RULE
    )

    def found(**conditions: object) -> list[str]:
        return [observation.id for observation in replica.store.select(Conditions(**conditions))]  # type: ignore[arg-type] # any mix

    assert found(types=["decision"]) == found(tag="db") == found(session="s1") == found(text="wal") == [decision]
    assert found(branches=["dev"]) == found(is_shared=True) == found(statuses=["active"]) == [decision]
    assert found(paths=("src/a.py",)) == found(paths=("src/",)) == found(is_shared=False) == [gotcha]
    assert found(paths=("src",)) == found(since="2999") == found(until="2000") == []
    assert sorted(found()) == sorted([decision, gotcha])
    assert replica.store.count(Conditions(statuses=["resolved"])) == 1


def test_asking_a_memory_that_is_not_there_creates_nothing(tmp_path: Path) -> None:
    store = MemoryStore(StateDir(tmp_path / "state"))
    assert store.select(Conditions()) == []
    assert store.count(Conditions()) == 0
    assert not (tmp_path / "state").exists()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a full disk: what is written beyond a size fails."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [200, 4_096, 40_000, 150_000])
def test_a_memory_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path, size: int) -> None:
    state = StateDir(tmp_path / "state")
    state.create()
    with closing(MemoryStore(state)) as store:
        with files_of_at_most(size):
            with pytest.raises(StoreError) as caught:
                make(store)
            assert not store.exists
        assert caught.value.hint == "nothing was kept; free some space, then run the command again"
        assert not list(state.path.glob("memory.db*"))
        assert note_of_loss(state) == ""
        make(store)
        assert len(store.select(Conditions())) == 1


def test_a_memory_that_was_made_is_read_where_the_first_one_found_no_room(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "state")
    with closing(MemoryStore(state)) as store:
        with store.reading():
            pass
        store.close()
        with files_of_at_most(33_000):
            with pytest.raises(StoreError):
                make(store, text="x" * 9_000)
            assert store.select(Conditions()) == []
        make(store)
        assert len(store.select(Conditions())) == 1


def test_a_memory_is_on_disk_once_it_was_acknowledged(replica: Replica) -> None:
    with replica.store.reading() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert event_db.count(connection) == 0


def test_nothing_is_written_to_a_file_that_was_deleted_while_it_was_open(tmp_path: Path) -> None:
    replica = Replica(tmp_path / "state")
    make(replica.store, text="before")
    for file in (tmp_path / "state").glob("memory.db*"):
        file.unlink()
    assert not replica.store.exists
    later = make(replica.store, text="after")
    assert [found.id for found in Replica(tmp_path / "state").store.select(Conditions())] == [later]
    assert [found.id for found in replica.store.select(Conditions())] == [later]


def test_a_file_that_was_emptied_while_it_was_open_is_not_written_to_in_silence(tmp_path: Path) -> None:
    replica, told = Replica(tmp_path / "state"), StateDir(tmp_path / "state")
    make(replica.store, text="before")
    os.truncate(tmp_path / "state" / "memory.db", 0)
    later = make(replica.store, text="after")
    assert "memory.db, which held memories, is empty" in told.take_notice()
    assert [found.id for found in Replica(tmp_path / "state").store.select(Conditions())] == [later]


def test_a_file_that_was_cut_off_while_it_was_open_is_refused_and_stays(tmp_path: Path) -> None:
    replica, file = Replica(tmp_path / "state"), tmp_path / "state" / "memory.db"
    make(replica.store, text="before")
    os.truncate(file, file.stat().st_size // 2)
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreDamagedError):
            make(replica.store, text="after")
    assert file.read_bytes() == before


def test_a_memory_is_read_while_another_program_keeps_it_for_itself(tmp_path: Path) -> None:
    id = make(Replica(tmp_path / "state").store, text="before")
    with closing(sqlite3.connect(tmp_path / "state" / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert Replica(tmp_path / "state").store.observation(id).text == "before"


def test_reading_while_another_process_writes_is_no_damage(tmp_path: Path) -> None:
    writer, reader = Replica(tmp_path / "state"), Replica(tmp_path / "state")
    id = make(writer.store)
    is_done = Event()

    def write() -> None:
        for number in range(60):
            link = {"path": f"src/{number}.py", "symbol": "", "hash": ""}
            writer.store.record([MemoryChange(id, "link", link)], PERSON)
        is_done.set()

    thread = Thread(target=write)
    thread.start()
    counts = []
    while not is_done.is_set():
        counts.append(len(reader.store.observation(id).links))
    thread.join()
    assert counts == sorted(counts)
    assert len(reader.store.observation(id).links) == 60
