"""Values that no database takes: whoever gave one is told so, and not that the server is broken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.cli.main import main
from cairn.errors import ConfigError, RequestError
from cairn.team.audit import AuditLog
from cairn.team.metrics import serve_worker_metrics
from cairn.team.node import SearchNode
from cairn.team.server import TeamApi
from cairn.team.serving import serve
from cairn.team.tokens import token_hash
from team_client import asking_node
from team_cluster import Team, needs_postgres, running_team

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team"), "acme/shop") as made:
        yield made


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/projects/acme/shop/search", rb'{"query": "x", "branch": "\ud800"}'),
        ("/api/projects/acme/shop/search", rb'{"query": "x", "branch": "a\u0000"}'),
        ("/api/projects/acme/%00/search", rb'{"query": "x"}'),
        ("/api/projects/acme/%00/events", rb'{"events": []}'),
        ("/api/admin/revoke", rb'{"person": "\udfff"}'),
        ("/api/admin/revoke", rb'{"person": "a\u0000"}'),
    ],
)
def test_a_value_that_cannot_be_asked_for_is_a_mistake_of_whoever_asks(
    team: Team, tmp_path: Path, path: str, body: bytes
) -> None:
    token = team.operator.new_token("ada", 1, ["read", "write", "admin"])

    async def ask() -> tuple[httpx.Response, object]:
        with closing(SearchNode(team.nodes, team.objects, tmp_path / "node")) as node:
            api = TeamApi(team.nodes, node)
            async with asking_node(api, token) as client:
                return await client.post(path, content=body), api.figures()["failed"]

    answer, n_failed = asyncio.run(ask())

    assert (answer.status_code, answer.json()["code"], n_failed) == (422, "request", 0)


@pytest.mark.parametrize("person", ["", "x" * 201, "odd-\udcff", "a\0"])
def test_nobody_is_called_what_cannot_be_kept(team: Team, person: str) -> None:
    with pytest.raises(RequestError):
        team.operator.new_token(person, 1)


@pytest.mark.parametrize("project", ["acme/sh op", "acme/..", f"{'x' * 101}/shop", "acme/odd-\udcff", "-a/b", "a/b/c"])
def test_a_project_has_a_name_that_clients_can_ask_for(team: Team, project: str) -> None:
    with pytest.raises(RequestError, match="is not the name of a team's project"):
        team.operator.add_project(project, "file:///nowhere", "main")


@pytest.mark.parametrize(
    "words",
    [
        ("token", "ada", "--days", "-1"),
        ("token", "ada", "--days", "0"),  # it would never hold
        ("token", "ada", "--days", "99999999"),  # whose end no list could show
        ("token", "ada", "--days", "nan"),
        ("token", "ada", "--revoke", "x"),
        ("audit", "-n", "0"),
        ("audit", "-n", "-1"),
        ("collect", "--grace-hours", "1e300"),
        ("worker", "--folder", "x", "--lease", "inf"),
        ("worker", "--folder", "x", "--metrics-port", "99999"),
        ("serve", "--folder", "x", "--port", "99999"),
        ("serve", "--folder", "x", "--projects", "0"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_before_anything_is_done(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["team", *words])

    assert ended.value.code == 2
    assert "must be " in capsys.readouterr().err


def test_what_somebody_asked_for_cannot_control_the_terminal_of_an_operator(
    team: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAIRN_TEAM_DATABASE", team.address)
    token = token_hash(team.operator.new_token("eve\x1b[2J", 1, name="\x1b[31m"))
    with closing(AuditLog(team.nodes, keeps_queries=True)) as audit:
        audit.add(token, "search", "acme/\x1b]0;owned\x07", "not-found", "\x1b[8m")

    main(["team", "audit"])
    main(["team", "tokens"])

    shown = capsys.readouterr().out
    assert "acme/\\x1b]0;owned\\x07" in shown
    assert "eve\\x1b[2J" in shown
    assert all(line.isprintable() for line in shown.splitlines())


def test_a_place_that_cannot_be_used_is_named(team: Team, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ConfigError, match=r"cannot keep copies in .*: Not a directory"):
        serve(team.nodes, team.objects, tmp_path / "file" / "node", "127.0.0.1", 0)
    with pytest.raises(ConfigError, match=r"cannot listen at nowhere\.invalid:9100"):
        serve_worker_metrics(team.workers, "nowhere.invalid", 9100)


def test_who_uses_a_database_without_tables_is_told_to_make_them(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    with team.owner._pool.connection() as connection:
        connection.autocommit = True
        connection.execute("CREATE DATABASE bare")
    address = team.address.replace("///team?", "///bare?")
    for command in (["status"], ["add", "acme/shop", "https://git.example.org/shop.git"], ["doctor"]):
        main(["team", *command, "--database", address, *(["--objects", team.url] if command == ["doctor"] else [])])
        shown = capsys.readouterr()
        assert "lacks tables or functions" in shown.out + shown.err
        assert "create or update them, as their owner: cairn team migrate" in shown.out + shown.err
