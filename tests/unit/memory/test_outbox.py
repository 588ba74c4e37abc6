"""What of a memory waits for a team's server, whatever the server does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cairn.errors import NotFoundError, RequestError, TeamError
from cairn.index.state_dir import StateDir
from cairn.memory.events import Event, parse_event
from cairn.memory.ids import new_id
from cairn.memory.publication import FROM_REPOSITORY, FROM_TEAM
from cairn.memory.shared_memories import SharedMemories
from cairn.memory.store import By, MemoryStore
from cairn.memory.team_memories import SyncState, TeamLink, TeamMemories
from cairn.memory.team_sync import sync
from cairn.storage.memory import team_db
from cairn.storage.memory.observation_db import Conditions
from memory_histories import CREATED, START, Clock, MemoryWriter

ADA = By("person:ada", "person")
LINK = TeamLink("https://cairn.example.org", "acme/shop")


class ShelfWire:
    """A server that keeps what it gets, in order, and hands it out."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.pushes: list[int] = []

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        after = int(path.rpartition("=")[2])
        page = self.bodies[after : after + 2]
        last = after + len(page)
        return {"events": page, "last": last, "counter": len(self.bodies), "more": last < len(self.bodies)}

    def post(self, path: str, document: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        assert path == "/api/projects/acme/shop/events"
        bodies = document["events"]
        assert isinstance(bodies, list)
        self.bodies += bodies
        self.pushes.append(len(bodies))
        return {"refused": {}}


class DatedWire(ShelfWire):
    """A server that takes nothing that is dated after some day."""

    day = "9999"

    def post(self, path: str, document: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        bodies = document["events"]
        assert isinstance(bodies, list)
        events = [parse_event(body) for body in bodies]
        late = {event.id: "it is dated too late" for event in events if event.time > self.day}
        super().post(path, {"events": [event.body for event in events if event.id not in late]})
        return {"refused": late}


class Laptop(MemoryWriter):
    """A memory in a checkout, shared with a team from the start."""

    def __init__(self, root: Path, *, joins: bool = True) -> None:
        self.root, self.clock, self.by = root, Clock(), ADA
        (root / ".cairn").mkdir(parents=True)
        self.shared = SharedMemories(root, lambda _: None, now=self.clock)
        self.store = MemoryStore(StateDir(root / ".cairn"), now=self.clock, shared=self.shared)
        self.team = TeamMemories(self.store, self.clock)
        if joins:
            self.team.join(LINK)

    def waiting(self) -> list[tuple[str, Any]]:
        return [(event.kind, event.value.get("text", "")) for event in self.team.waiting(LINK, 100)]

    def n_due(self) -> int:
        with self.store.reading() as connection:
            return team_db.count(connection).get(team_db.DUE, 0)

    def files(self) -> int:
        return len(list((self.root / ".cairn" / "shared").glob("*.json")))


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path / "ada")


def event_of(id: str, kind: str, value: dict[str, object], seconds: int = 0) -> Event:
    return Event(id, "elsewhere", f"2025-10-10T00:00:{seconds:02d}.000Z-0000", "person:eve", "person", kind, value)


def test_only_shared_memories_of_what_was_learned_wait(laptop: Laptop) -> None:
    laptop.make(text="shared")
    laptop.make(text="private", is_shared=False)
    laptop.make(text="a digest", type="session_summary")
    assert laptop.waiting() == [("created", "shared")]


def test_nothing_waits_where_no_team_was_joined(tmp_path: Path) -> None:
    laptop = Laptop(tmp_path / "ada", joins=False)
    laptop.make(text="shared")
    assert laptop.n_due() == 0
    assert laptop.team.status().link is None
    assert laptop.files() == 1


def test_who_joins_sends_what_is_shared_already_but_not_what_the_repository_brought(tmp_path: Path) -> None:
    laptop = Laptop(tmp_path / "ada", joins=False)
    laptop.make(text="mine")
    laptop.store.append([event_of(new_id(START), "created", CREATED | {"text": "theirs"})], FROM_REPOSITORY)
    laptop.team.join(LINK)
    assert laptop.waiting() == [("created", "mine")]


def test_what_the_team_has_is_not_written_to_the_repository_unless_it_is_there(tmp_path: Path) -> None:
    laptop = Laptop(tmp_path / "ada", joins=False)
    first = laptop.make(text="in the repository")
    laptop.team.join(LINK)
    laptop.make(text="with the team")
    assert laptop.files() == 1
    laptop.change(first, "status", status="resolved")
    assert laptop.files() == 2


def test_a_change_before_it_was_sent_waits_after_the_creation(laptop: Laptop) -> None:
    id = laptop.make(text="first")
    laptop.change(id, "set", text="second")
    assert laptop.waiting() == [("created", "first"), ("set", "second")]


def test_what_is_taken_back_before_it_was_sent_never_leaves(laptop: Laptop) -> None:
    id = laptop.make(text="a slip")
    laptop.change(id, "set", is_shared=False)
    laptop.change(id, "set", text="a secret")
    assert laptop.waiting() == [("set", "")]


def test_of_what_is_erased_only_that_waits(laptop: Laptop) -> None:
    id = laptop.make(text="a slip")
    laptop.change(id, "redact")
    assert laptop.waiting() == [("redact", "")]


def test_an_event_with_a_secret_from_an_older_version_is_put_aside(laptop: Laptop) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    laptop.make(text=f"aws_access_key_id = {key}")
    laptop.make(text="harmless")
    assert laptop.waiting() == [("created", "harmless")]
    assert laptop.team.status().n_kept == 1


def test_what_was_acknowledged_is_not_sent_again(laptop: Laptop) -> None:
    wire = ShelfWire()
    laptop.make(text="one")
    sync(laptop.team, wire)
    laptop.make(text="two")
    sync(laptop.team, wire)
    assert wire.pushes == [1, 1]
    assert (laptop.team.status().n_waiting, laptop.team.status().n_sent) == (0, 2)


def test_much_is_sent_in_parts_that_fit(laptop: Laptop) -> None:
    wire = ShelfWire()
    for _ in range(120):
        laptop.make(text="x" * 9_999)
    sync(laptop.team, wire)
    assert sum(wire.pushes) == 120
    assert len(wire.pushes) == 2


@pytest.mark.parametrize(
    "answer", [None, [], {"events": "x"}, {"events": [], "last": -1, "counter": 0, "more": False}, {"events": [1]}]
)
def test_an_answer_that_makes_no_sense_changes_nothing(laptop: Laptop, answer: object) -> None:
    class Nonsense(ShelfWire):
        def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
            return answer

    laptop.make(text="one")
    with pytest.raises(TeamError):
        sync(laptop.team, Nonsense())
    assert laptop.team.status().n_waiting == 1
    assert "not an answer about memories" in laptop.team.status().state.problem


def test_an_event_that_cannot_be_read_is_pulled_again_a_day_later(laptop: Laptop) -> None:
    wire = ShelfWire()
    body = event_of(new_id(START), "created", CREATED | {"text": "theirs"}).body
    wire.bodies = [body.replace('"created"', '"painted"')]
    sync(laptop.team, wire)
    wire.bodies = [body]  # as a later version of Cairn would read it
    sync(laptop.team, wire)
    assert laptop.team.status().state.after == 1
    laptop.clock.seconds += 90_000
    sync(laptop.team, wire)
    with laptop.store.reading() as connection:
        assert connection.execute("SELECT text FROM observation").fetchall() == [("theirs",)]


def test_the_team_has_no_say_in_private_memories(laptop: Laptop) -> None:
    id = laptop.make(text="private", is_shared=False)
    laptop.team.take(LINK, [event_of(id, "set", {"is_shared": True}, 1).body, event_of(id, "redact", {}, 2).body], 2)
    assert laptop.store.observation(id).text == "private"
    assert laptop.waiting() == []


def test_words_from_the_team_keep_their_source(laptop: Laptop) -> None:
    id = new_id(START)
    laptop.team.take(LINK, [event_of(id, "created", CREATED | {"text": "theirs"}).body], 1)
    with laptop.store.reading() as connection:
        assert connection.execute("SELECT source FROM event").fetchall() == [(FROM_TEAM,)]


def test_who_leaves_keeps_their_own_and_drops_what_the_team_brought(laptop: Laptop) -> None:
    own = laptop.make(text="mine")
    theirs = new_id(START)
    laptop.team.take(LINK, [event_of(theirs, "created", CREATED | {"text": "theirs"}).body], 1)
    assert laptop.team.leave() == 1
    assert laptop.store.observation(own).text == "mine"
    with pytest.raises(NotFoundError):
        laptop.store.observation(theirs)
    assert (laptop.team.status().link, laptop.n_due()) == (None, 0)


OTHER = TeamLink("https://other.example.org", "acme/shop")


class LeavingWire(ShelfWire):
    """A server that answers after another process has left its team, and perhaps joined another."""

    def __init__(self, team: TeamMemories, then: TeamLink | None) -> None:
        super().__init__()
        self._team, self._then = team, then

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        self._team.leave()
        if self._then is not None:
            self._team.join(self._then)
        return super().get(path)


@pytest.mark.parametrize("then", [None, OTHER])
def test_what_arrives_after_the_team_was_left_is_not_taken_and_nothing_is_sent(
    laptop: Laptop, then: TeamLink | None
) -> None:
    laptop.make(text="mine")
    wire = LeavingWire(laptop.team, then)
    wire.bodies = [event_of(new_id(START), "created", CREATED | {"text": "theirs"}).body]
    with pytest.raises(RequestError, match="any more"):
        sync(laptop.team, wire)
    assert wire.pushes == []
    assert (laptop.team.status().link, laptop.team.status().state) == (then, SyncState())
    with laptop.store.reading() as connection:
        assert connection.execute("SELECT text FROM observation").fetchall() == [("mine",)]


def test_another_team_is_sent_what_is_shared_and_pulled_from_its_start(laptop: Laptop) -> None:
    laptop.make(text="mine")
    wire = ShelfWire()
    sync(laptop.team, wire)
    sync(laptop.team, wire)
    assert laptop.team.status().state.after == 1
    laptop.team.join(OTHER)
    status = laptop.team.status()
    assert (status.link, status.n_waiting, status.n_sent, status.state.after) == (OTHER, 1, 0, 0)


def test_a_lost_team_that_was_changed_for_another_costs_the_other_nothing(laptop: Laptop) -> None:
    laptop.team.join(OTHER)
    laptop.team.take(OTHER, [event_of(new_id(START), "created", CREATED | {"text": "theirs"}).body], 1)
    with pytest.raises(RequestError):
        laptop.team.lose_access(LINK)
    assert laptop.team.status().state.after == 1


def test_what_may_leave_waits_behind_any_number_of_secrets(laptop: Laptop) -> None:
    for letter in "ABCDE":
        laptop.make(text="aws_access_key_id = AKIA" + f"IOSFODNN7EXAMPL{letter}")
    laptop.make(text="harmless")
    assert [event.value["text"] for event in laptop.team.waiting(LINK, 2)] == ["harmless"]
    assert laptop.team.status().n_kept == 5


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = {paths}
from test_outbox import Laptop, ShelfWire
from cairn.memory.team_sync import sync
laptop = Laptop(Path({root!r}))
for n in range(3):
    laptop.make(text=f"memory {{n}}")
    print(n, flush=True)
class Killing(ShelfWire):
    def post(self, path, document):
        if {when!r} == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = super().post(path, document)
        Path({kept!r}).write_text("\\n".join(self.bodies))
        os.kill(os.getpid(), signal.SIGKILL)
sync(laptop.team, Killing())
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_process_killed_while_it_sends_loses_nothing_it_had_acknowledged(tmp_path: Path, when: str) -> None:
    root, kept = tmp_path / "ada", tmp_path / "kept"
    folder = str(Path(__file__).parent)
    script = KILLED.format(paths=[folder, *sys.path], root=str(root), when=when, kept=str(kept))
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert result.returncode == -signal.SIGKILL, result.stderr.decode()
    assert result.stdout.decode().split() == ["0", "1", "2"]

    wire = ShelfWire()
    wire.bodies = kept.read_text().split("\n") if kept.exists() else []
    store = MemoryStore(StateDir(root / ".cairn"), now=Clock())
    sync(TeamMemories(store, Clock()), wire)
    texts = {json.loads(body)["value"]["text"] for body in wire.bodies}
    assert texts == {"memory 0", "memory 1", "memory 2"}


def test_what_is_dated_too_late_for_the_server_waits_until_it_is_not(laptop: Laptop) -> None:
    wire = DatedWire()
    laptop.make(text="early")
    wire.day = laptop.store.select(Conditions())[0].created
    late = laptop.make(text="late")
    laptop.change(late, "set", importance=8)
    done = sync(laptop.team, wire)
    assert (done.n_pushed, set(done.refused.values()), len(done.refused)) == (1, {"it is dated too late"}, 2)
    assert laptop.n_due() == 2
    assert sync(laptop.team, wire).n_pushed == 0

    wire.day = "9999"
    done = sync(laptop.team, wire)
    assert (done.n_pushed, done.refused, laptop.n_due()) == (2, {}, 0)


def test_what_was_refused_once_is_sent_with_the_next_change_of_its_memory(laptop: Laptop) -> None:
    id = laptop.make(text="refused by an older version")
    with laptop.store.writing() as connection:
        team_db.mark(connection, [event.id for event in laptop.store.history(id)], team_db.REFUSED)
    assert laptop.waiting() == []
    laptop.change(id, "set", importance=8)
    assert laptop.waiting() == [("created", "refused by an older version"), ("set", "")]
