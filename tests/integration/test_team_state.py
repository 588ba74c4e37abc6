"""How a team's server is: what operators are told, by the command line and over HTTP, and nobody else."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.errors import AccessError, CatalogError, ScopeError
from cairn.remote.conforming import conform
from cairn.remote.operating import StateDocument
from cairn.team.catalog import WorkList, read_queue
from cairn.team.node import SearchNode
from cairn.team.server import TeamApi
from cairn.team.state import Presence, Problems, read_state, show_state
from cairn.team.tokens import token_hash
from postgres import postgres
from team_cluster import PROGRAMS, Repository, Team, needs_postgres, running_team

pytestmark = needs_postgres
_FIGURES: dict[str, object] = {"answered": 1, "failed": 0, "waiting": 0, "open_projects": 1, "problems": []}


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with running_team(tmp_path) as made:
        yield made


def ask(team: Team, folder: Path, token: str, *paths: str) -> list[httpx.Response]:
    """Return what a node answers."""

    async def get() -> list[httpx.Response]:
        with closing(SearchNode(team.nodes, team.objects, folder / "node")) as node:
            transport = httpx.ASGITransport(app=TeamApi(team.nodes, node).app())
            async with httpx.AsyncClient(transport=transport, base_url="http://team") as client:
                headers = {"authorization": f"Bearer {token}"}
                return [await client.get(path, headers=headers) for path in paths]

    return asyncio.run(get())


def hear(team: Team, kind: str, name: str) -> None:
    """Have a node or a worker say that it is there."""
    catalog = team.nodes if kind == "node" else team.workers
    with catalog.transaction() as connection:
        statement = f"SELECT hear_{kind}(%s, '1.0', '1 min', %s)".encode()
        connection.execute(statement, (name, json.dumps(_FIGURES)))


def without_time(state: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a state without what grows from one moment to the next."""
    return {**state, "at": "", "queue": {**state["queue"], "oldest_seconds": 0}}


def test_a_worker_survives_an_address_whose_complaint_is_not_unicode(team: Team, tmp_path: Path) -> None:
    team.operator.add_project("acme/gone", f"file://{tmp_path}/gone%FF", "main")
    worker = team.worker()

    assert worker.look(timedelta(0))

    (branch,) = read_state(team.owner)["branches"]
    assert "gone\ufffd" in branch["look_problem"]
    with closing(Presence(team.workers, "worker", "one", worker.figures)) as presence:
        presence.tell(worker.figures())
        (told,) = read_state(team.owner)["workers"]
    assert "gone\ufffd" in told["figures"]["problems"][0]["message"]


def test_operators_get_over_http_what_the_command_line_shows(team: Team, tmp_path: Path) -> None:
    shop = Repository(tmp_path / "shop")
    shop.commit("Begin", {"shop.py": "def total():\n    return 0\n"})
    team.operator.add_project("acme/shop", shop.url, "main")
    team.operator.add_project("acme/gone", f"file://{tmp_path}/gone", "main")
    team.publish()
    hear(team, "node", "one:37700")

    (answer,) = ask(team, tmp_path, team.operator.new_token("olga", 1, ["admin"]), "/api/admin/state")

    here = read_state(team.owner)
    assert without_time(answer.json()) == without_time(here)
    state: StateDocument = conform(StateDocument, answer.json())
    assert [(row["project"], row["state"]) for row in state["branches"]] == [
        ("acme/gone", "waiting"),
        ("acme/shop", "published"),
    ]
    gone, published = state["branches"]
    assert "git cannot" in gone["look_problem"]
    assert gone["fresh_at"] is None
    assert published["fresh_at"] == published["seen_at"]
    assert state["freshness"]["within_5_minutes"] == state["freshness"]["never_published"] == 1
    assert state["freshness"]["unreachable"] == 1
    assert [node["name"] for node in state["nodes"]] == ["one:37700"]
    assert read_queue(team.workers)[:4] == (1, 1, 0, 0)


def test_a_limit_leaves_out_those_that_are_well(team: Team, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        team.operator.add_project(f"acme/{name}", f"file://{tmp_path}/{name}", "main")
    with team.owner.transaction() as connection:
        connection.execute(
            "UPDATE branch SET problem = 'broken' WHERE project_id = (SELECT max(project_id) FROM branch)"
        )
    token = team.operator.new_token("olga", 1, ["admin"])

    some, none, wrong = ask(team, tmp_path, token, *(f"/api/admin/state?limit={n}" for n in ("1", "0", "-1")))

    assert [row["project"] for row in some.json()["branches"]] == ["acme/c"]
    assert (none.json()["branches"], none.json()["freshness"]["branches"]) == ([], 3)
    assert wrong.status_code == 422


def test_nobody_else_is_told_anything(team: Team, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", "file:///nowhere", "main")
    reads = team.operator.new_token("ada", 1, ["read", "write"])
    team.operator.grant("ada", "acme/shop", may_write=True)

    with pytest.raises(ScopeError):
        show_state(team.nodes, token_hash(reads), 10)
    with pytest.raises(AccessError):
        show_state(team.nodes, token_hash("cairn_guessed"), 10)
    with team.nodes.transaction(token_hash(reads)) as connection:
        assert connection.execute("SELECT show_state(10)").fetchone() == (None,)
    for statement in (
        b"SELECT state(10)",
        b"SELECT * FROM shown_branch",
        b"SELECT * FROM part",
        b"SELECT parts('node')",
    ):
        for catalog in (team.nodes, team.workers):
            with pytest.raises(CatalogError, match="permission denied"), catalog.transaction() as connection:
                connection.execute(statement)
    refused, listing = ask(team, tmp_path, reads, "/api/admin/state", "/api/projects")
    assert (refused.status_code, "shop" in refused.text) == (403, False)
    assert listing.json() == {"projects": []}
    (operated,) = ask(team, tmp_path, team.operator.new_token("olga", 1, ["read", "admin"]), "/api/projects")
    assert operated.json() == {"projects": [], "operator": True}


def test_a_part_is_shown_until_it_ends_in_order(team: Team) -> None:
    asked = threading.Event()

    def figures() -> dict[str, object]:
        asked.set()
        return _FIGURES

    presence = Presence(team.nodes, "node", "one", figures)
    assert asked.wait(60)
    deadline = time.monotonic() + 60
    while not (nodes := read_state(team.owner)["nodes"]):
        assert time.monotonic() < deadline
        time.sleep(0.01)

    presence.close()

    assert [(node["name"], node["is_silent"], node["figures"]) for node in nodes] == [("one", False, _FIGURES)]
    assert read_state(team.owner)["nodes"] == []


def test_a_part_that_falls_silent_is_shown_so_for_a_day(team: Team) -> None:
    def is_silent() -> dict[str, bool]:
        return {worker["name"]: worker["is_silent"] for worker in read_state(team.owner)["workers"]}

    hear(team, "worker", "first")
    with team.owner.transaction() as connection:
        connection.execute("UPDATE part SET heard_at = now() - interval '2 minutes'")
    hear(team, "worker", "second")
    assert is_silent() == {"first": True, "second": False}
    hear(team, "worker", "first")
    assert is_silent() == {"first": False, "second": False}
    with team.owner.transaction() as connection:
        connection.execute("UPDATE part SET heard_at = now() - interval '25 hours' WHERE name = 'first'")
    hear(team, "worker", "second")
    assert is_silent() == {"second": False}


def test_a_node_cannot_pass_for_a_worker(team: Team) -> None:
    for catalog, statement in (
        (team.nodes, b"SELECT hear_worker('x', '1', '1 s', '{}')"),
        (team.workers, b"SELECT hear_node('x', '1', '1 s', '{}')"),
    ):
        with pytest.raises(CatalogError, match="permission denied"), catalog.transaction() as connection:
            connection.execute(statement)


def test_a_repository_that_answers_again_is_reached_again(team: Team, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", f"file://{tmp_path}/shop", "main")
    worker = team.worker()
    assert worker.look(timedelta(0))
    assert read_state(team.owner)["branches"][0]["look_problem"]
    assert [problem["times"] for problem in worker.figures()["problems"]] == [1]  # type: ignore[attr-defined] # JSON
    Repository(tmp_path / "shop").commit("Begin", {"shop.py": "x = 1\n"})

    assert worker.look(timedelta(0))
    assert worker.work()

    (row,) = read_state(team.owner)["branches"]
    assert (row["look_problem"], row["state"]) == ("", "published")
    assert worker.figures()["published"] == 1


def test_what_is_published_is_as_fresh_as_the_last_look_until_something_newer_is_wanted(
    team: Team, tmp_path: Path
) -> None:
    shop = Repository(tmp_path / "shop")
    shop.commit("Begin", {"shop.py": "x = 1\n"})
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    work = WorkList(team.workers, "w", timedelta(seconds=60))
    (before,) = read_state(team.owner)["branches"]
    assert work.look(timedelta(0)) is not None
    with team.owner.transaction() as connection:
        (number,) = connection.execute("SELECT id FROM branch").fetchone() or (0,)

    work.want(number, before["published"])
    (same,) = read_state(team.owner)["branches"]
    work.want(number, "a" * 40)
    (newer,) = read_state(team.owner)["branches"]

    assert before["fresh_at"] < same["fresh_at"] == same["seen_at"]
    assert newer["fresh_at"] == newer["wanted_at"] > same["fresh_at"]
    assert newer["state"] == "waiting"


def test_what_goes_wrong_in_a_node_is_told_in_words_but_not_in_those_of_a_question(team: Team, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", "file:///nowhere", "main")
    token = team.operator.new_token("ada", 1)

    async def figures() -> Any:  # noqa: ANN401 - JSON
        with closing(SearchNode(team.nodes, team.objects, tmp_path / "node")) as node:
            api = TeamApi(team.nodes, node)
            transport = httpx.ASGITransport(app=api.app(), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://team") as client:
                headers = {"authorization": f"Bearer {token}"}
                await client.get("/api/projects", headers=headers)
                await client.post("/api/projects/acme/shop/search", json={"query": "words"}, headers=headers)
                before = api.figures()
                team.nodes.close()
                await client.get("/api/projects", headers=headers)
                return before, api.figures()

    before, after = asyncio.run(figures())

    assert (before["answered"], before["failed"], before["problems"]) == (2, 0, [])
    assert (after["answered"], after["failed"]) == (3, 1)
    (problem,) = after["problems"]
    assert (problem["code"], problem["times"]) == ("catalog", 1)
    assert "words" not in json.dumps(after)


def test_problems_are_counted_by_kind_and_only_so_many_kinds_are_kept() -> None:
    problems = Problems()
    for number in range(25):
        problems.note(f"code-{number}", "x" * 1_000)
    problems.note("code-24", "last")

    rows = problems.rows()

    assert (len(rows), problems.count) == (20, 26)
    assert (rows[0]["code"], rows[0]["times"], rows[0]["message"]) == ("code-24", 2, "last")
    assert len(str(rows[1]["message"])) == 300


def test_a_part_is_told_of_whatever_it_is_called(team: Team) -> None:
    with closing(Presence(team.nodes, "node", "odd-\udcff\0", lambda: _FIGURES)) as presence:
        presence.tell(_FIGURES)

        assert [node["name"] for node in read_state(team.owner)["nodes"]] == ["odd-?"]


def test_a_part_that_ends_while_the_database_is_away_is_left_as_it_was(tmp_path: Path) -> None:
    assert PROGRAMS is not None
    with postgres(PROGRAMS) as server:
        team = Team(server, tmp_path, "away")
        hear(team, "node", "one")
        server.stop()
        with closing(Presence(team.nodes, "node", "one", lambda: _FIGURES)) as presence, pytest.raises(CatalogError):
            presence.tell(_FIGURES)

        server.start()

        assert [node["name"] for node in read_state(team.owner)["nodes"]] == ["one"]
        team.close()
