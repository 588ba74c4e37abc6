"""Shared memories through a team's server: what is pushed, pulled, taken back, erased and refused."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.errors import AccessError, AuthorityError, CairnError, NotFoundError, RequestError, ScopeError, TooLargeError
from cairn.memory.ids import new_id
from cairn.memory.store import By, MemoryChange
from cairn.team.audit import read_audit
from cairn.team.memories import MAX_EVENTS, OperatorOfMemories
from cairn.team.node import SearchNode
from cairn.team.server import TeamApi
from memory_histories import CREATED, START
from team_cluster import Team, needs_postgres, running_team
from team_events import AppWire, Laptop, UnsteadyWire

pytestmark = needs_postgres
EVENTS = "/api/projects/acme/shop/events"
ADA = By("person:ada", "person")


class Shop:
    """A project of a team, and people on their laptops."""

    def __init__(self, team: Team, folder: Path) -> None:
        with team.owner.transaction() as connection:
            connection.execute("TRUNCATE project, person CASCADE")
        team.operator.add_project("acme/shop", "https://git.example.org/acme/shop.git", "main")
        self.folder, self.nodes, self.owner, self.operator = folder, team.nodes, team.owner, team.operator
        self._node = SearchNode(team.nodes, team.objects, folder / "node")
        self.app = TeamApi(team.nodes, self._node).app()

    def wire(self, person: str, *, may_write: bool = True) -> AppWire:
        token = self.operator.new_token(person, 1, ("read", "write"))
        self.operator.grant(person, "acme/shop", may_write=may_write)
        return AppWire(self.app, token)

    def laptop(self, person: str, *, may_write: bool = True, offset_seconds: float = 0.0) -> Laptop:
        return Laptop(self.folder / person, self.wire(person, may_write=may_write), offset_seconds)

    def memories(self, project: str = "", person: str = "") -> OperatorOfMemories:
        return OperatorOfMemories(self.owner, project, person)

    def close(self) -> None:
        self._node.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team")) as made:
        yield made


@pytest.fixture
def team(cluster: Team, tmp_path: Path) -> Iterator[Shop]:
    made = Shop(cluster, tmp_path)
    yield made
    made.close()


def remember(laptop: Laptop, text: str, **fields: object) -> str:
    """Make a shared memory, and return its id."""
    id = new_id(laptop.clock.seconds)
    laptop.clock.seconds += 1
    laptop.store.record([MemoryChange(id, "created", CREATED | {"text": text} | fields)], ADA)
    return id


def change(laptop: Laptop, id: str, kind: str, **value: object) -> None:
    laptop.clock.seconds += 1
    laptop.store.record([MemoryChange(id, kind, value)], ADA)


def test_what_one_shares_reaches_the_others_and_what_is_private_stays(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    remember(ada, "the cache is not thread-safe")
    remember(ada, "my own note", is_shared=False)
    remember(ada, "what was done today", type="session_summary")
    ada.sync()
    bob.sync()
    assert bob.texts() == {"the cache is not thread-safe"}


def test_changes_of_both_sides_meet_in_the_same_memory(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    id = remember(ada, "the cache is not thread-safe")
    ada.sync()
    bob.sync()
    change(bob, id, "set", importance=9)
    change(ada, id, "status", status="resolved")
    for laptop in (ada, bob, ada):
        laptop.sync()
    assert ada.state() == bob.state()
    assert (ada.state()[id].importance, ada.state()[id].status) == (9, "resolved")


def test_a_memory_that_is_taken_back_leaves_the_others_and_returns_when_it_is_shared_again(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    id = remember(ada, "the cache is not thread-safe")
    ada.sync()
    bob.sync()
    change(bob, id, "set", importance=9)
    change(ada, id, "set", is_shared=False)
    change(ada, id, "set", text="the cache is guarded by my secret plan")
    for laptop in (ada, bob):
        laptop.sync()
    assert bob.state() == {}
    late = team.laptop("eve")
    late.sync()
    assert late.texts() == set()
    assert ada.state()[id].importance == 5

    change(ada, id, "set", is_shared=True)
    for laptop in (ada, bob, late, ada):
        laptop.sync()
    assert ada.state() == bob.state() == late.state()
    assert (ada.state()[id].importance, ada.texts()) == (9, {"the cache is guarded by my secret plan"})


def test_what_is_erased_is_gone_everywhere_and_on_the_server(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    id = remember(ada, "the password is hidden under the mat")
    ada.sync()
    bob.sync()
    change(bob, id, "set", text="the password is under the mat by the door")
    change(ada, id, "redact")
    for laptop in (ada, bob, ada):
        laptop.sync()
    assert ada.texts() == bob.texts() == {""}
    assert not [line for line in team.memories().export() if "password" in line]


def test_one_who_may_only_read_is_told_so_and_still_gets_what_is_new(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob", may_write=False)
    remember(ada, "the cache is not thread-safe")
    ada.sync()
    remember(bob, "bob's own")
    with pytest.raises(AuthorityError, match="not share"):
        bob.sync()
    assert bob.texts() == {"the cache is not thread-safe", "bob's own"}
    assert bob.team.status().n_waiting == 1
    ada.sync()
    assert ada.texts() == {"the cache is not thread-safe"}


def test_losing_access_drops_what_the_team_brought_and_keeps_ones_own(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    id = remember(ada, "the cache is not thread-safe")
    ada.sync()
    remember(bob, "bob's own")
    bob.sync()
    change(bob, id, "set", importance=9)
    bob.sync()
    team.operator.revoke("bob", "acme/shop")
    with pytest.raises(NotFoundError):
        bob.sync()
    assert bob.texts() == {"bob's own"}
    assert b"thread-safe" not in (bob.folder / "memory.db").read_bytes()

    team.operator.grant("bob", "acme/shop", may_write=True)
    bob.sync()
    ada.sync()
    assert bob.state() == ada.state()


def test_a_token_that_ended_is_not_taken_for_lost_access(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    remember(ada, "the cache is not thread-safe")
    ada.sync()
    bob.sync()
    team.operator.revoke_tokens("bob")
    with pytest.raises(AccessError):
        bob.sync()
    assert bob.texts() == {"the cache is not thread-safe"}


def test_memories_of_a_project_are_unknown_to_those_who_may_not_read_it(team: Shop) -> None:
    ada = team.laptop("ada")
    remember(ada, "the cache is not thread-safe")
    ada.sync()
    team.operator.add_project("acme/other", "https://git.example.org/acme/other.git", "main")
    stranger = AppWire(team.app, team.operator.new_token("eve", 1))
    answers = []
    for project in ("acme/shop", "acme/nothing"):
        with pytest.raises(NotFoundError) as refusal:
            stranger.get(f"/api/projects/{project}/events?after=0")
        answers.append(str(refusal.value).replace(project, "PROJECT"))
        with pytest.raises(NotFoundError):
            stranger.post(f"/api/projects/{project}/events", {"events": []})
    assert answers[0] == answers[1]
    with team.nodes.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM memory_event").fetchone() == (0,)


def test_a_node_can_neither_write_nor_change_events_but_for_who_bears_a_token(team: Shop) -> None:
    for statement in (
        "DELETE FROM memory_event",
        "UPDATE memory_event SET body = ''",
        "UPDATE project SET event_counter = 0",
        "SELECT store_events(1, NULL, '{}', '{}', '{}', '{}', '{}', '{}')",
    ):
        with pytest.raises(CairnError), team.nodes.transaction() as connection:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({}, RequestError),
        ({"events": "all"}, RequestError),
        ({"events": [1]}, RequestError),
        ({"events": ["{}"]}, RequestError),
        ({"events": [], "person": "bob"}, RequestError),
        ({"events": ["{}"] * 501}, TooLargeError),
        ({"events": ["x" * 2_000_000]}, TooLargeError),
    ],
)
def test_what_is_no_list_of_events_is_refused(team: Shop, document: dict[str, object], error: type[CairnError]) -> None:
    with pytest.raises(error):
        team.wire("ada").post(EVENTS, document)


def test_a_place_that_is_no_number_is_refused(team: Shop) -> None:
    wire = team.wire("ada")
    for place in ("x", "-1", "1" * 30, "²"):
        with pytest.raises(RequestError):
            wire.get(f"{EVENTS}?after={place}")


def test_a_server_that_was_set_back_gets_again_what_it_lost(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    remember(ada, "the cache is not thread-safe")
    for laptop in (ada, bob, ada):
        laptop.sync()
    with team.owner.transaction() as connection:
        connection.execute("DELETE FROM memory_event")
        connection.execute("UPDATE project SET event_counter = 0")
    late = team.laptop("eve")
    ada.sync()
    late.sync()
    assert late.texts() == {"the cache is not thread-safe"}


def test_an_operator_lists_exports_and_erases_the_memories_of_a_person(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    first = remember(ada, "the cache is not thread-safe")
    ada.sync()
    bob.sync()
    change(bob, first, "status", status="resolved")
    change(bob, first, "set", importance=6, tags=['"text":"'])
    change(bob, first, "link", path="code.py", symbol="", hash="")
    second = remember(bob, "bob's own")
    bob.sync()

    assert [row["memory"] for row in team.memories(person="bob").rows()] == [second]
    rows = {row["memory"]: row for row in team.memories("acme/shop").rows()}
    assert rows[first]["people"] == ["ada", "bob"]
    assert "bob's own" in "".join(team.memories(person="bob").export())
    assert team.memories("acme/shop", "bob").erase(bob.clock()) == 1
    for laptop in (ada, bob):
        laptop.sync()
        assert laptop.texts() == {"the cache is not thread-safe", ""}
    change(bob, first, "set", text="the cache is thread-safe now")
    bob.sync()
    assert {row["memory"] for row in team.memories(person="bob").rows()} == {first}
    with pytest.raises(NotFoundError):
        team.memories("acme/nothing").rows()
    assert [row["operation"] for row in read_audit(team.owner, person="bob")][:1] == ["erase memories"]


def test_what_the_server_refuses_for_its_date_waits_and_it_says_so(team: Shop) -> None:
    ada, bob = team.laptop("ada", offset_seconds=time.time() + 3 * 86_400.0 - START), team.laptop("bob")
    remember(ada, "made with a clock that is ahead")
    done = ada.sync()
    assert (done.n_pushed, len(done.refused)) == (0, 1)
    assert all("more than a day ahead of the server's clock" in reason for reason in done.refused.values())
    assert ada.team.status().n_waiting == 1
    bob.sync()
    assert bob.texts() == set()


def counted(team: Shop) -> tuple[int, int]:
    """Return the greatest number of an event, and how many count."""
    with team.owner.transaction() as connection:
        row = connection.execute("SELECT event_counter, n_events FROM project").fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def test_what_is_sent_twice_counts_once(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    first = remember(ada, "the cache is not thread-safe")
    remember(ada, "totals are in cents")
    ada.sync()
    wire = team.wire("ada")
    bodies = wire.get(f"{EVENTS}?after=0")["events"]
    assert counted(team) == (len(bodies), len(bodies))

    for _ in range(3):
        assert wire.post(EVENTS, {"events": bodies * 2})["new"] == 0

    assert counted(team) == (len(bodies), len(bodies))
    bob.sync()
    change(bob, first, "redact")
    bob.sync()
    page = wire.get(f"{EVENTS}?after=0")
    assert page["counter"] == page["last"] == len(bodies) + 1
    assert counted(team)[1] == len(page["events"])


def test_a_full_project_takes_nothing_more_but_what_it_has_and_what_erases(team: Shop) -> None:
    ada, bob = team.laptop("ada"), team.laptop("bob")
    first = remember(ada, "the cache is not thread-safe")
    change(ada, first, "set", importance=9)
    ada.sync()
    wire = team.wire("ada")
    bodies = wire.get(f"{EVENTS}?after=0")["events"]
    with team.owner.transaction() as connection:
        connection.execute("UPDATE project SET n_events = %s", (MAX_EVENTS,))

    assert wire.post(EVENTS, {"events": bodies})["new"] == 0
    remember(bob, "bob's own")
    with pytest.raises(TooLargeError, match="5,000,000 events"):
        bob.sync()
    assert wire.get(f"{EVENTS}?after=0")["events"] == bodies
    change(ada, first, "redact")
    ada.sync()
    assert counted(team)[1] == MAX_EVENTS - len(bodies) + 1
    bob.sync()
    assert bob.texts() == {"", "bob's own"}


def test_a_token_without_the_scope_to_write_pulls_and_does_not_push(team: Shop) -> None:
    wire = team.wire("ada")
    reading = AppWire(team.app, team.operator.new_token("ada", 1))
    assert reading.get(f"{EVENTS}?after=0")["events"] == []
    with pytest.raises(ScopeError):
        reading.post(EVENTS, {"events": []})
    assert wire.post(EVENTS, {"events": []}) == {"new": 0, "refused": {}}


@pytest.mark.parametrize("seed", range(2))
def test_laptops_that_lose_requests_and_answers_end_up_with_the_same_memories(team: Shop, seed: int) -> None:
    randomly = random.Random(seed)
    laptops = []
    for place, person in enumerate(("ada", "bob", "eve")):
        laptop = team.laptop(person, offset_seconds=40.0 * place)
        laptop.wire = UnsteadyWire(team.wire(person), randomly, 0.4)
        laptops.append(laptop)
    for _ in range(45):
        randomly.choice(laptops).change(randomly, "the word is swordfish")
        if randomly.random() < 0.3:
            randomly.choice(laptops).try_to_sync()
    for _ in range(2):
        for laptop in laptops:
            while not laptop.try_to_sync():
                pass
    assert laptops[0].state() == laptops[1].state() == laptops[2].state()
    assert [laptop.team.status().n_waiting for laptop in laptops] == [0, 0, 0]
    assert all(laptop.store.refold() == [] for laptop in laptops)
