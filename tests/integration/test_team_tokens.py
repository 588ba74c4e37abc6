"""Tokens of a team: scopes, names, their last use, and what an operator sees, revokes and deletes of a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.errors import AccessError, CatalogError, NotFoundError, RequestError, ScopeError
from cairn.team.audit import read_audit
from cairn.team.catalog import Scope, list_projects, require_scope, revoke_all_tokens
from cairn.team.node import SearchNode
from cairn.team.server import TeamApi
from cairn.team.tokens import token_hash
from team_cluster import Team, needs_postgres, running_team

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team"), "acme/shop") as made:
        yield made


def may(team: Team, token: str, scope: Scope) -> bool:
    with team.nodes.transaction(token_hash(token)) as connection:
        try:
            require_scope(connection, scope)
        except ScopeError:
            return False
    return True


def writable(team: Team, token: str) -> int:
    with team.nodes.transaction(token_hash(token)) as connection:
        return len(connection.execute("SELECT writable()").fetchall())


def test_a_token_is_good_for_its_scopes_alone(team: Team) -> None:
    reads = team.operator.new_token("ada", 1)
    writes = team.operator.new_token("ada", 1, ["write"])

    assert [may(team, reads, scope) for scope in ("read", "write", "admin")] == [True, False, False]
    assert [may(team, writes, scope) for scope in ("read", "write", "admin")] == [False, True, False]
    with pytest.raises(ScopeError):
        list_projects(team.nodes, token_hash(writes))


def test_memories_are_written_by_whom_both_the_token_and_the_grant_allow_it(team: Team) -> None:
    both = team.operator.new_token("bob", 1, ["read", "write"])
    reads = team.operator.new_token("bob", 1)

    team.operator.grant("bob", "acme/shop")
    assert writable(team, both) == 0
    team.operator.grant("bob", "acme/shop", may_write=True)
    assert (writable(team, both), writable(team, reads)) == (1, 0)


@pytest.mark.parametrize("state", ["guessed", "expired", "revoked"])
def test_a_token_that_does_not_hold_is_refused_without_a_reason(team: Team, state: str) -> None:
    token = team.operator.new_token(state, 0 if state == "expired" else 1)
    if state == "revoked":
        assert team.operator.revoke_tokens(state) == 1

    with pytest.raises(AccessError, match="does not hold") as caught:
        list_projects(team.nodes, token_hash("cairn_guessed" if state == "guessed" else token))
    assert not isinstance(caught.value, ScopeError)


def test_tokens_are_listed_with_the_day_of_their_last_use_and_revoked_one_by_one(team: Team) -> None:
    first = team.operator.new_token("eve", 1, name="laptop")
    second = team.operator.new_token("eve", 1, ["read", "admin"], name="desk")
    list_projects(team.nodes, token_hash(first))
    days = {day.date().isoformat() for day in (datetime.now(UTC), datetime.now())}

    rows = team.people.tokens("eve")

    assert [(row["name"], row["scopes"], row["state"]) for row in rows] == [
        ("desk", ["read", "admin"], "valid"),
        ("laptop", ["read"], "valid"),
    ]
    assert rows[0]["used_on"] is None
    assert rows[1]["used_on"] in days
    assert not any(secret in str(rows) for secret in (first, second))
    number = rows[1]["id"]
    assert isinstance(number, int)
    team.people.revoke_token("eve", number)
    with pytest.raises(AccessError):
        list_projects(team.nodes, token_hash(first))
    assert list_projects(team.nodes, token_hash(second)).projects == []
    for person, wrong in (("eve", number), ("ada", number), ("eve", 999_999)):
        with pytest.raises(NotFoundError):
            team.people.revoke_token(person, wrong)


def test_a_service_is_no_person_and_stays_one(team: Team) -> None:
    team.operator.new_token("nightly", 1, is_service=True)

    assert team.people.everything("nightly")["service"] is True
    with pytest.raises(RequestError, match="nightly is a service"):
        team.operator.new_token("nightly", 1)


def test_everything_of_a_person_is_shown_revoked_and_deleted(team: Team) -> None:
    token = team.operator.new_token("zoe", 1)
    team.operator.grant("zoe", "acme/shop")

    shown = team.people.everything("zoe")
    assert (shown["person"], shown["projects"]) == ("zoe", [{"project": "acme/shop", "may_write": False}])
    team.people.revoke_everything("zoe")
    assert team.people.everything("zoe")["projects"] == []
    with pytest.raises(AccessError):
        list_projects(team.nodes, token_hash(token))
    team.people.delete("zoe")
    for gone in (team.people.everything, team.people.delete, team.people.revoke_everything):
        with pytest.raises(NotFoundError, match="nobody called zoe"):
            gone("zoe")


def test_an_administrator_who_revokes_their_own_tokens_is_noted_too(team: Team) -> None:
    token = token_hash(team.operator.new_token("self", 1, ["admin"]))

    assert revoke_all_tokens(team.nodes, token, "self") == 1

    assert [row["operation"] for row in read_audit(team.owner, person="self") if row["actor"] == "self"] == [
        "revoke tokens"
    ]


@pytest.mark.parametrize(
    ("path", "branch", "status"),
    [
        (f"acme/shop{'p' * 97}", None, 404),
        (f"{'o' * 101}/shop", None, 404),
        ("acme/shop", "b" * 251, 422),
        ("acme/shop", "b" * 250, 404),
    ],
    ids=["a project", "an organisation", "a branch", "as long as may be"],
)
def test_a_name_that_is_longer_than_any_there_is_never_gets_to_the_node(
    team: Team, tmp_path: Path, path: str, branch: str | None, status: int
) -> None:
    token = team.operator.new_token("long", 1)
    node = SearchNode(team.nodes, team.objects, tmp_path / "node")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=TeamApi(team.nodes, node).app())
        async with httpx.AsyncClient(transport=transport, base_url="http://team") as client:
            headers = {"authorization": f"Bearer {token}"}
            values = {"query": "x"} if branch is None else {"query": "x", "branch": branch}
            return await client.post(f"/api/projects/{path}/search", json=values, headers=headers)

    answer = asyncio.run(ask())

    assert answer.status_code == status
    assert len(answer.text) < 600
    node.close()


def test_a_node_can_neither_list_tokens_nor_make_one(team: Team) -> None:
    for statement in (
        "SELECT * FROM token",
        "SELECT * FROM shown_token()",
        "UPDATE token SET scopes = '{admin}'",
        "INSERT INTO token (hash, person_id, expires_at) VALUES ('', 1, now())",
    ):
        with pytest.raises(CatalogError, match="permission denied"), team.nodes.transaction() as connection:
            connection.execute(statement.encode())


def test_all_tokens_of_a_person_are_revoked_over_http_by_an_administrator_alone(team: Team, tmp_path: Path) -> None:
    lost = team.operator.new_token("lost", 1)
    tokens = {scope: team.operator.new_token("boss", 1, [scope]) for scope in ("read", "admin")}
    node = SearchNode(team.nodes, team.objects, tmp_path / "node")

    async def ask(token: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=TeamApi(team.nodes, node).app())
        async with httpx.AsyncClient(transport=transport, base_url="http://team") as client:
            headers = {"authorization": f"Bearer {token}"}
            return await client.post("/api/admin/revoke", json={"person": "lost"}, headers=headers)

    refused = asyncio.run(ask(tokens["read"]))
    assert (refused.status_code, refused.json()["code"]) == (403, "scope")
    assert list_projects(team.nodes, token_hash(lost)).projects == []
    done = asyncio.run(ask(tokens["admin"]))
    assert (done.status_code, done.json()) == (200, {"revoked": 1})
    with pytest.raises(AccessError):
        list_projects(team.nodes, token_hash(lost))
    noted = [(row["actor"], row["operation"]) for row in read_audit(team.owner, person="lost")]
    assert noted.count(("boss", "revoke tokens")) == 1
    node.close()
