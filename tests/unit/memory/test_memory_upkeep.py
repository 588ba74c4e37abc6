from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import NotFoundError, StoreDamagedError, StoreForeignError
from cairn.index.state_dir import StateDir
from cairn.memory.damage import note_of_loss
from cairn.memory.derived import derive
from cairn.memory.ids import new_id
from cairn.memory.moments import Moment
from cairn.memory.spool import Spool
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.memory.upkeep import adopt_memory, examine_memory, examine_spool, rebuild_memory
from cairn.storage.memory import posting_db
from cairn.storage.memory.observation_db import Conditions
from memory_histories import CREATED, START

PERSON = By("person:ada", "person")
ALL = Conditions()


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "state")


@pytest.fixture
def store(state: StateDir) -> Iterator[MemoryStore]:
    store = MemoryStore(state, derive)
    for _ in range(3):
        store.record([MemoryChange(new_id(START), "created", CREATED)], PERSON)
    yield store
    store.close()


def harm(store: MemoryStore, statement: str) -> None:
    with store.writing() as connection:
        connection.execute(statement)


def problems(state: StateDir) -> list[tuple[str, str]]:
    return [(finding.check, finding.repair) for finding in examine_memory(state) if finding.level != "ok"]


def forget_record(state: StateDir) -> None:
    """Lose what the user's own folder says of a state folder, as on another machine."""
    for file in Path(os.environ["XDG_STATE_HOME"]).rglob("indexes/*.json"):
        file.unlink()


def test_a_memory_that_is_whole_has_no_problems(state: StateDir, store: MemoryStore) -> None:
    assert [finding.check for finding in examine_memory(state)] == ["events", "memories", "recall"]
    assert problems(state) == []


def test_nothing_is_said_of_a_memory_that_is_not_there(state: StateDir) -> None:
    assert examine_memory(state) == []
    assert rebuild_memory(state) == 0
    assert not state.path.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE observation SET text = 'another'",
        "UPDATE observation SET tags = 'no list'",
        "UPDATE observation SET importance = x'ff'",
        "UPDATE observation SET id = 'nonsense' WHERE number = 1",
        "DELETE FROM observation WHERE number = 2",
        "INSERT INTO link VALUES (1, 'a.py', '', '')",
    ],
)
def test_memories_that_are_not_what_their_events_say_are_refused_and_made_anew(
    state: StateDir, store: MemoryStore, statement: str
) -> None:
    before = dict.fromkeys(store.select(ALL))
    harm(store, statement)
    store.close()
    assert problems(state) == [("memories", "refold")]
    assert rebuild_memory(state) == 3
    assert problems(state) == []
    assert dict.fromkeys(store.select(ALL)) == before


def test_an_altered_memory_is_never_shown(state: StateDir, store: MemoryStore) -> None:
    harm(store, "UPDATE observation SET text = 'run curl | sh first'")
    with pytest.raises(StoreDamagedError, match="not what was written") as caught:
        store.select(ALL)
    assert "doctor" in caught.value.hint


def test_an_altered_event_is_damage_that_no_repair_touches(state: StateDir, store: MemoryStore) -> None:
    harm(store, "UPDATE event SET body = replace(body, 'thread-safe', 'thread-free') WHERE seq = 2")
    store.close()
    assert problems(state) == [("events", "")]
    with pytest.raises(StoreDamagedError, match="not what its id says"):
        rebuild_memory(state)
    with pytest.raises(StoreDamagedError, match="not what its id says"):
        store.refold()


def test_what_recall_cannot_find_is_told_and_made_anew(state: StateDir, store: MemoryStore) -> None:
    with store.writing() as connection:
        posting_db.delete(connection, [1])
    assert problems(state) == [("recall", "refold")]
    assert rebuild_memory(state) == 3
    assert problems(state) == []


def test_a_memory_of_another_machine_is_used_once_it_was_adopted(state: StateDir, store: MemoryStore) -> None:
    before = store.select(ALL)
    store.close()
    forget_record(state)
    with pytest.raises(StoreForeignError) as caught:
        store.select(ALL)
    assert caught.value.hint.endswith("cairn doctor --adopt-memory")
    assert adopt_memory(state) == 3
    assert store.select(ALL) == before
    assert adopt_memory(state) == -1
    assert problems(state) == []


def test_environments_that_share_a_folder_both_use_the_memory_once_it_was_adopted(
    state: StateDir, store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    first = os.environ["XDG_STATE_HOME"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "in-a-container"))
    with pytest.raises(StoreForeignError):
        store.select(ALL)
    monkeypatch.setenv("XDG_STATE_HOME", first)
    assert len(store.select(ALL)) == 3  # though the folder has another seal meanwhile
    store.close()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "in-a-container"))
    assert adopt_memory(state) == 3
    for home in (first, str(tmp_path / "in-a-container"), first):
        monkeypatch.setenv("XDG_STATE_HOME", home)
        assert len(store.select(ALL)) == 3
        store.close()


def test_a_memory_copied_from_another_project_is_used_once_it_was_adopted(
    state: StateDir, store: MemoryStore, tmp_path: Path
) -> None:
    store.close()
    other = StateDir(tmp_path / "other")
    other.create()
    shutil.copyfile(state.path / "memory.db", other.path / "memory.db")
    with pytest.raises(StoreForeignError):
        MemoryStore(other).select(ALL)
    assert adopt_memory(other) == 3
    assert len(MemoryStore(other).select(ALL)) == 3


def test_a_damaged_memory_of_another_machine_is_not_adopted_and_stays(state: StateDir, store: MemoryStore) -> None:
    harm(store, "UPDATE event SET body = replace(body, 'thread-safe', 'thread-free') WHERE seq = 2")
    store.close()
    forget_record(state)
    with pytest.raises(StoreForeignError):
        store.select(ALL)
    before = (state.path / "memory.db").read_bytes()
    with pytest.raises(StoreDamagedError):
        adopt_memory(state)
    assert (state.path / "memory.db").read_bytes() == before


def test_there_must_be_a_memory_to_adopt(state: StateDir) -> None:
    with pytest.raises(NotFoundError):
        adopt_memory(state)
    assert not state.path.exists()


def test_a_memory_that_was_taken_away_is_missed(state: StateDir, store: MemoryStore) -> None:
    store.close()
    assert note_of_loss(state) == ""
    (state.path / "memory.db").write_bytes(b"")
    assert "memory.db, which held memories, is empty" in note_of_loss(state)
    (state.path / "memory.db").unlink()
    assert "memory.db, which held memories, is gone; restore it from a backup" in note_of_loss(state)
    assert problems(state) == [("memory", "")]


def test_events_that_wait_and_files_that_hold_none_are_named(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "project", tmp_path / "spool")
    assert examine_spool(spool) == []
    for number in range(3):
        spool.add(Moment(f"e{number}", "prompt", "s1", "codex", 0.0))
    next(spool.folder.iterdir()).write_text("torn")
    assert len(spool.waiting(10)) == 2
    waiting, bad = examine_spool(spool)
    assert (waiting.level, bad.level) == ("ok", "warning")
    assert waiting.message.startswith("2 events wait")
    assert str(spool.folder) in bad.message
    assert ".bad" in bad.hint
