from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, CairnError, NotAvailableError, ProjectError, QueryError, ServerAwayError
from cairn.registry import AllowedProject, Registry, is_team_name
from cairn.remote.connection import TeamConnection
from cairn.remote.finding import find_project, search_elsewhere
from cairn.remote.servers import TeamServer
from cairn.remote.team import Team, TeamListing, TeamProject
from cairn.remote.threads import start
from cairn.runtime import StateFolder
from scripted_server import Asked, Reply, ScriptedServer, scripted

COMMIT = "a" * 40
SEARCH = {
    "query": "q", "mode": "hybrid", "view": "", "branch": "main", "generation": 1, "memory": [],
    "total_tokens_available": 0, "omitted": 0, "coverage": {"indexed": 1, "eligible": 1, "pending": 0}, "took_ms": 1,
    "code": [{"id": "c_1", "kind": "f", "name": "f", "filepath": "f.py", "start_line": 1, "end_line": 1}],
}  # fmt: skip


def row(name: str, host: str = "git.example.org", **more: object) -> dict[str, object]:
    whole = {"project": name, "branch": "main", "default": True, "commit": COMMIT, "repository": f"{host}/{name}"}
    return whole | more


def listing(*rows: object) -> Reply:
    return Reply(document={"projects": list(rows)})


def team_of(*servers: ScriptedServer, seconds: float = 20.0) -> Team:
    def connect(server: TeamServer) -> TeamConnection:
        return TeamConnection(server, seconds, seconds)

    return Team([TeamServer(server.url, "t") for server in servers], connect, seconds)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(StateFolder(tmp_path / "state"))


def check_out(registry: Registry, folder: Path, address: str, *, known: bool = True) -> str:
    folder.mkdir()
    for arguments in (("init", "-q"), ("remote", "add", "origin", address)):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    if known:
        registry.add(folder, folder.name)
    return str(folder)


def test_a_project_that_is_not_here_is_one_of_the_server(registry: Registry) -> None:
    with scripted(lambda _: listing(row("acme/shop"), row("acme/tools"))) as server:
        found = find_project("acme/shop", registry, team_of(server))
        assert found.project == TeamProject(
            "acme/shop", "main", COMMIT, "git.example.org/acme/shop", TeamServer(server.url, "t")
        )
        assert found.note == ""


def test_a_checkout_is_meant_before_the_server_however_its_address_is_written(
    registry: Registry, tmp_path: Path
) -> None:
    root = check_out(registry, tmp_path / "clone", "ssh://git@git.example.org:7999/acme/shop.git")
    check_out(registry, tmp_path / "fork", "git@git.example.org:eve/shop.git")
    with scripted(lambda _: listing(row("acme/shop"))) as server:
        found = find_project("acme/shop", registry, team_of(server))
    assert isinstance(found.project, AllowedProject)
    assert found.project.root == root
    assert root in found.note


def test_a_checkout_whose_remote_changes_is_another_repository(registry: Registry, tmp_path: Path) -> None:
    root = check_out(registry, tmp_path / "clone", "https://git.example.org/acme/shop")
    with scripted(lambda _: listing(row("acme/shop"))) as server:
        assert isinstance(find_project("acme/shop", registry, team_of(server)).project, AllowedProject)
        moved = "https://git.example.org/acme/workshop"
        subprocess.run(["git", "remote", "set-url", "origin", moved], cwd=root, check=True)
        assert isinstance(find_project("acme/shop", registry, team_of(server)).project, TeamProject)


def test_a_checkout_in_which_one_stands_counts_before_it_is_known(registry: Registry, tmp_path: Path) -> None:
    here = check_out(registry, tmp_path / "clone", "https://git.example.org/acme/shop", known=False)
    with scripted(lambda _: listing(row("acme/shop"))) as server:
        assert isinstance(find_project("acme/shop", registry, team_of(server)).project, TeamProject)
        assert isinstance(find_project("acme/shop", registry, team_of(server), here).project, AllowedProject)


def test_another_repository_of_that_name_is_not_the_one_of_the_server(registry: Registry, tmp_path: Path) -> None:
    check_out(registry, tmp_path / "clone", "https://elsewhere.example.org/acme/shop")
    with scripted(lambda _: listing(row("acme/shop"))) as server:
        assert isinstance(find_project("acme/shop", registry, team_of(server)).project, TeamProject)


def test_without_a_server_that_answers_the_only_checkout_of_that_name_is_meant(
    registry: Registry, tmp_path: Path
) -> None:
    check_out(registry, tmp_path / "clone", "https://git.example.org/acme/shop")
    with scripted(lambda _: Reply(503)) as server:
        assert isinstance(find_project("acme/shop", registry, team_of(server)).project, AllowedProject)
        assert isinstance(find_project("acme/shop", registry, Team([])).project, AllowedProject)
        with pytest.raises(ServerAwayError):
            find_project("acme/tools", registry, team_of(server))
        check_out(registry, tmp_path / "other", "https://other.example.org/acme/shop")
        with pytest.raises(ServerAwayError):
            find_project("acme/shop", registry, team_of(server))


def test_an_unknown_project_names_where_it_was_looked_for(registry: Registry) -> None:
    with scripted(lambda _: listing(row("acme/tools"))) as server:
        with pytest.raises(ProjectError, match=f"here or on 127.0.0.1:{server.port}"):
            find_project("acme/shop", registry, team_of(server))
        with pytest.raises(ProjectError) as raised:
            find_project("acme/shop", registry, Team([]))
    assert raised.value.hint.action == "login"


def test_a_name_that_two_servers_know_is_ambiguous(registry: Registry) -> None:
    def answer(_: Asked) -> Reply:
        return listing(row("acme/shop"))

    with scripted(answer) as one, scripted(answer) as two, pytest.raises(AmbiguousError):
        find_project("acme/shop", registry, team_of(one, two))


@pytest.mark.parametrize(
    "rows",
    [
        [row("acme/shop", commit="x"), row("acme/shop", default=False), row("../etc"), row("a b/c"), row("acme")],
        [],
    ],
)
def test_a_listing_counts_only_as_far_as_it_makes_sense(registry: Registry, rows: list[object]) -> None:
    with scripted(lambda _: listing(*rows)) as server:
        assert team_of(server).listing() == TeamListing((), ())


@pytest.mark.parametrize("document", [{}, [], {"projects": {}}, {"projects": [1]}, {"projects": [{"project": 1}]}])
def test_a_senseless_listing_is_a_problem_of_the_server(registry: Registry, document: object) -> None:
    with scripted(lambda _: Reply(document=document)) as server:
        (problem,) = team_of(server).listing().problems
    assert isinstance(problem, ServerAwayError)


def test_a_listing_is_asked_for_once_in_a_while(registry: Registry) -> None:
    with scripted(lambda _: listing(row("acme/shop"))) as server:
        team = team_of(server)
        team.listing()
        team.listing()
        assert len(server.asked) == 1


# -- questions ---------------------------------------------------------------------------------------------------------


def project_of(server: ScriptedServer, name: str = "acme/shop") -> TeamProject:
    return TeamProject(name, "main", COMMIT, "", TeamServer(server.url, "t"))


def test_a_question_tells_the_server_nothing_of_this_machine() -> None:
    newer = "b" * 40
    reply = Reply(document={**SEARCH, "remote": {"project": "acme/shop", "commit": newer}})
    with scripted(lambda _: reply) as server:
        fields = {"query": "q", "project": "/home/ada", "update": True, "session": "s", "repeat": True, "branch": None}
        document = team_of(server).ask(project_of(server), "search", fields)
    (asked,) = server.asked
    assert (asked.path, asked.body) == ("/api/projects/acme/shop/search", b'{"query": "q"}')
    assert document["remote"] == {"project": "acme/shop", "commit": newer}


def test_what_needs_a_checkout_is_not_asked() -> None:
    with scripted(lambda _: Reply(document=SEARCH)) as server:
        team = team_of(server)
        with pytest.raises(QueryError, match="not checked out here"):
            team.ask(project_of(server), "graph/impact", {"diff": "HEAD"})
        with pytest.raises(NotAvailableError):
            team.ask(project_of(server), "history/why", {"place": "a.py:1"})
        assert server.asked == []


@pytest.mark.parametrize("document", [{}, [], [1], {**SEARCH, "code": [{"id": 1}]}, "x"])
def test_an_answer_of_another_shape_is_not_shown(document: object) -> None:
    with (
        scripted(lambda _: Reply(document=document)) as server,
        pytest.raises(ServerAwayError, match="sends what is not"),
    ):
        team_of(server).ask(project_of(server), "search", {"query": "q"})


def test_a_search_of_all_says_who_did_not_answer_in_time_and_shows_the_rest() -> None:
    names = ["acme/late", *(f"acme/p{number}" for number in range(12)), "acme/wrong"]

    def answer(asked: Asked) -> Reply:
        if "late" in asked.path:
            return Reply(waits=True)
        if "wrong" in asked.path:
            return Reply(404, {"code": "not-found", "message": "gone", "hint": ""})
        return Reply(document=SEARCH)

    with scripted(answer) as server:
        projects = [project_of(server, name) for name in names]
        found = team_of(server, seconds=30.0).search(projects, {"query": "q"}, time.monotonic() + 3)
    assert [project.name for project, _ in found.answers] == names[1:-1]
    assert found.problems == ["acme/late: no answer in time", "acme/wrong: gone"]


def test_a_server_that_went_away_is_asked_about_few_projects_only() -> None:
    with scripted(lambda _: Reply(500)) as server:
        projects = [project_of(server, f"acme/p{number}") for number in range(100)]
        found = team_of(server).search(projects, {"query": "q"}, time.monotonic() + 30)
        assert len(server.asked) < 50
    assert found.answers == []
    assert found.problems[0].startswith("acme/p0, ")
    assert all("127.0.0.1" in problem for problem in found.problems)


def test_a_project_that_cannot_be_asked_hides_no_other_of_its_server() -> None:
    names = ["acme/damaged", "acme/busy", *(f"acme/p{number}" for number in range(20))]

    def answer(asked: Asked) -> Reply:
        if "damaged" in asked.path:
            return Reply(500, {"code": "object-damaged", "message": "an object is damaged", "hint": ""})
        if "busy" in asked.path:
            return Reply(503, {"code": "busy", "message": "too many questions", "hint": ""})
        return Reply(document=SEARCH)

    with scripted(answer) as server:
        projects = [project_of(server, name) for name in names]
        found = team_of(server).search(projects, {"query": "q"}, time.monotonic() + 30)
    assert [project.name for project, _ in found.answers] == names[2:]
    assert [problem.partition(":")[0] for problem in found.problems] == names[:2]


def test_a_question_is_not_waited_for_beyond_its_deadline() -> None:
    with scripted(lambda _: Reply(waits=True)) as server, pytest.raises(ServerAwayError, match="no answer"):
        team_of(server, seconds=30.0).ask(project_of(server), "search", {"query": "q"}, time.monotonic())


def test_a_server_that_lists_too_much_says_so_and_branches_do_not_count() -> None:
    many = [row("acme/shop", default=False, branch=f"b{number}") for number in range(20_000)]
    with scripted(lambda _: listing(*many, row("acme/shop"))) as server:
        assert [project.name for project in team_of(server).listing().projects] == ["acme/shop"]
    with scripted(lambda _: listing(*(row(f"acme/p{number}") for number in range(20_001)))) as server:
        found = team_of(server).listing()
    assert len(found.projects) == 20_000
    assert "has 20,001 projects" in str(found.problems[0])


def test_work_that_runs_cannot_be_cancelled() -> None:
    may_end = threading.Event()
    future = start(lambda: may_end.wait(30))
    assert not future.cancel()
    may_end.set()
    assert future.result(30)


def test_all_leaves_out_what_is_checked_out_here(registry: Registry, tmp_path: Path) -> None:
    check_out(registry, tmp_path / "clone", "https://git.example.org/acme/shop")

    def answer(asked: Asked) -> Reply:
        if asked.method == "GET":
            return listing(row("acme/shop"), row("acme/tools"))
        return Reply(document=SEARCH)

    with scripted(answer) as server, scripted(lambda _: Reply(401)) as other:
        found = search_elsewhere(team_of(server, other), registry, {"query": "q"})
    ((project, document),) = found.answers
    assert project.name == "acme/tools"
    assert document["code"][0]["remote"] == {"project": "acme/tools", "commit": COMMIT}
    (problem,) = found.problems
    assert "does not accept the token" in problem


def test_an_error_of_a_thread_reaches_whoever_asked() -> None:
    gone = Reply(404, {"code": "not-found", "message": "gone", "hint": ""})
    with scripted(lambda _: gone) as server, pytest.raises(CairnError, match="gone"):
        team_of(server).ask(project_of(server), "fetch", {"ids": ["c_1"]})


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("acme/shop", True), ("a.b-c/d_e.f", True), ("acme/..", False), ("acme", False), ("/acme/shop", False),
     ("acme/shop/x", False), ("../shop", False), ("acme/", False), ("", False), ("all", False), ("a b/c", False)],
)  # fmt: skip
def test_names_of_a_team_have_a_form_of_their_own(name: str, is_one: bool) -> None:
    assert is_team_name(name) is is_one
