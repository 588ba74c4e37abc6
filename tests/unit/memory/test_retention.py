from __future__ import annotations

from pathlib import Path

import pytest

from cairn.memory.ids import new_id
from cairn.memory.retention import find_unneeded, prune
from cairn.memory.store import By, MemoryChange
from cairn.memory.usage import MemoryUsage
from memory_histories import CREATED, START, Replica
from shown_memories import note_injections

DAY = 86_400.0
LATER = START + 91 * DAY
AGENT, PERSON, RULE = By("agent:a", "agent"), By("person:ada", "person"), By("rule:capture", "rule")


@pytest.fixture
def replica(tmp_path: Path) -> Replica:
    return Replica(tmp_path / "state")


def make(replica: Replica, by: By = AGENT, **fields: object) -> str:
    id = new_id(START)
    replica.store.record([MemoryChange(id, "created", CREATED | {"importance": 4, "is_shared": False} | fields)], by)
    return id


def change(replica: Replica, id: str, kind: str, by: By, **value: object) -> None:
    replica.store.record([MemoryChange(id, kind, value)], by)


def unneeded(replica: Replica, days: float = 90, now: float = LATER) -> list[str]:
    return [observation.id for observation in find_unneeded(replica.store, days, now)]


def test_an_old_memory_of_little_importance_is_archived_by_rule(replica: Replica) -> None:
    id = make(replica)
    assert [observation.id for observation in prune(replica.store, 90, LATER)] == [id]
    archived = replica.store.history(id)[-1]
    assert (archived.actor, archived.authority) == ("rule:retention", "rule")
    assert replica.store.observation(id).status == "archived"
    assert prune(replica.store, 90, LATER) == []


def test_a_dry_run_archives_nothing(replica: Replica) -> None:
    id = make(replica)
    assert prune(replica.store, 90, LATER, dry_run=True)
    assert replica.store.observation(id).status == "active"


def test_it_is_kept_until_it_is_old_enough_or_for_ever(replica: Replica) -> None:
    id = make(replica)
    assert unneeded(replica, now=START + 89 * DAY) == unneeded(replica, days=0) == []
    assert unneeded(replica) == [id]


def test_what_matters_is_kept(replica: Replica) -> None:
    make(replica, importance=5)
    make(replica, type="decision")
    make(replica, is_shared=True)
    make(replica, by=PERSON)
    make(replica, origin="person")
    change(replica, make(replica), "link", AGENT, path="src/a.py", symbol="", hash="")
    change(replica, make(replica), "status", RULE, status="resolved")
    assert unneeded(replica) == []


@pytest.mark.parametrize("by", [AGENT, PERSON])
def test_what_somebody_reopened_is_kept(replica: Replica, by: By) -> None:
    id = make(replica)
    prune(replica.store, 90, LATER)
    change(replica, id, "status", by, status="active")
    assert unneeded(replica, now=LATER + 500 * DAY) == []


def test_what_a_person_changed_is_kept(replica: Replica) -> None:
    change(replica, make(replica), "set", PERSON, tags=["mine"])
    assert unneeded(replica) == []


def test_what_was_recalled_or_shown_since_is_kept(replica: Replica) -> None:
    asked, shown, old = make(replica), make(replica), make(replica)

    def now() -> float:
        return START + 30 * DAY

    usage = MemoryUsage(replica.store, now)
    usage.note_question("memory", "what of the cache?", 1, ids=[asked])
    note_injections(replica.store, "s", "prompt", [(shown, "says cache", 20)], now)
    assert unneeded(replica) == [old]
    assert len(unneeded(replica, now=LATER + 30 * DAY)) == 3


def test_where_nothing_was_remembered_nothing_is_made(replica: Replica) -> None:
    assert prune(replica.store, 90, LATER) == []
    assert not replica.store.exists
