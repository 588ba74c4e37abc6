"""What was made while this machine's clock was wrong does no harm to what is made later, and is mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.index.state_dir import StateDir
from cairn.memory.events import Event, parse_event
from cairn.memory.publication import FROM_TEAM
from cairn.memory.redating import examine_dates, redate
from cairn.memory.store import By, MemoryStore
from cairn.storage.memory import event_db, sharing_db
from memory_histories import START, Clock, MemoryWriter

TEN_YEARS = 10 * 365 * 86_400.0
MINE = {"is_shared": False}


class Machine(MemoryWriter):
    """A memory on a machine whose clock is off by some seconds."""

    by = By("person:ada", "person")

    def __init__(self, folder: Path, offset_seconds: float) -> None:
        self.clock = Clock(START + offset_seconds)
        self.store = MemoryStore(StateDir(folder), now=self.clock)

    def events(self) -> list[Event]:
        """Return all that it knows."""
        with self.store.reading() as connection:
            return [parse_event(body) for _, body in event_db.iter_events(connection)]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "state", TEN_YEARS)
    yield machine
    machine.store.close()


def years(store: MemoryStore) -> list[str]:
    with store.reading() as connection:
        return sorted(time[:4] for (time,) in connection.execute("SELECT time FROM event"))


def problems(machine: Machine) -> list[tuple[str, str]]:
    with machine.store.reading() as connection:
        return [(finding.check, finding.repair) for finding in examine_dates(connection, machine.clock)]


def test_a_memory_that_a_wrong_clock_made_keeps_nothing_from_being_written_with_a_right_one(machine: Machine) -> None:
    old = machine.make(text="made ten years ahead", **MINE)
    machine.clock.seconds = START
    new = machine.make(text="made now", **MINE)
    machine.change(old, "set", text="changed now")
    machine.change(old, "status", status="resolved")
    assert machine.store.observation(old).text == "changed now"
    assert machine.store.observation(old).status == "resolved"
    assert machine.store.observation(new).created.startswith("2025-10")
    machine.change(old, "redact")
    assert machine.store.observation(old).is_redacted
    assert years(machine.store) == ["2025", "2025"]


def test_what_a_colleague_dates_tomorrow_does_not_date_what_others_make(tmp_path: Path) -> None:
    ahead, behind = Machine(tmp_path / "ahead", 23 * 3600.0), Machine(tmp_path / "behind", 0.0)
    theirs = ahead.make()
    behind.store.append(ahead.events(), FROM_TEAM)
    own = behind.make()
    behind.change(own, "set", importance=7)
    assert behind.store.observation(own).changed[:10] < behind.store.observation(theirs).created[:10]


def test_what_a_wrong_clock_made_is_dated_anew_in_its_order(machine: Machine) -> None:
    old = machine.make(text="first", **MINE)
    machine.change(old, "set", text="second")
    other = machine.make(text="another", **MINE)
    machine.change(other, "status", status="superseded", superseded_by=old)
    machine.clock.seconds = START
    machine.make(**MINE)
    assert problems(machine) == [("dates", "redate")]
    assert redate(machine.store, machine.clock) == 4
    assert problems(machine) == []
    assert years(machine.store) == ["2025"] * 5
    assert machine.store.observation(old).text == "second"
    assert machine.store.observation(other).superseded_by == old
    assert machine.store.refold() == []


def test_what_is_shared_already_keeps_its_date(machine: Machine) -> None:
    id = machine.make(text="shared")
    with machine.store.writing() as connection:
        sharing_db.mark_written(connection, event_db.find_known(connection, [event.id for event in machine.events()]))
    machine.clock.seconds = START
    assert problems(machine) == [("dates", "")]
    assert redate(machine.store, machine.clock) == 0
    assert machine.store.observation(id).created.startswith("2035")
