"""The audit of a team: who asked what, kept beside the answers, changed by nobody, and gone after half a year."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.errors import CatalogError, NotFoundError
from cairn.team.audit import AuditLog, read_audit
from cairn.team.node import SearchNode
from cairn.team.server import TeamApi
from cairn.team.tokens import token_hash
from team_cluster import Team, needs_postgres, running_team

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team"), "acme/shop") as made:
        yield made


def asked_by(team: Team, person: str) -> list[tuple[object, ...]]:
    """Return what somebody asked, the oldest first, without what operators did about them."""
    rows = [row for row in read_audit(team.owner, person=person) if row["actor"] == person]
    return [(row["operation"], row["project"], row["outcome"], row["query"]) for row in reversed(rows)]


@pytest.mark.parametrize("keeps_queries", [False, True])
def test_who_asked_what_is_noted_and_their_words_only_if_an_operator_wants_them(
    team: Team, tmp_path: Path, *, keeps_queries: bool
) -> None:
    person = f"ada-{keeps_queries}"
    token = team.operator.new_token(person, 1)
    node = SearchNode(team.nodes, team.objects, tmp_path / "node")

    async def ask() -> None:
        with closing(AuditLog(team.nodes, keeps_queries=keeps_queries)) as audit:
            app = TeamApi(team.nodes, node, audit=audit).app()
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://team") as client:
                headers = {"authorization": f"Bearer {token}"}
                await client.get("/api/projects", headers=headers)
                await client.get("/api/projects", headers={"authorization": "Bearer cairn_guessed"})
                for name in ("absent", "no%00name"):
                    await client.post(f"/api/projects/acme/{name}/search", json={"query": "who pays"}, headers=headers)

    asyncio.run(ask())

    words = '{"query": "who pays"}' if keeps_queries else None
    rows = asked_by(team, person)
    assert rows == [
        ("projects", "", "ok", None),
        ("search", "acme/absent", "not-found", words),
        ("search", "acme/noname", "request", words),
    ]
    assert not any("guessed" in str(row) for row in read_audit(team.owner))
    node.close()


def test_an_address_where_nothing_is_and_a_wrong_method_are_answered_with_an_error_as_json(
    team: Team, tmp_path: Path
) -> None:
    node = SearchNode(team.nodes, team.objects, tmp_path / "node")

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=TeamApi(team.nodes, node).app())
        async with httpx.AsyncClient(transport=transport, base_url="http://team") as client:
            return [await client.get("/api/nothing"), await client.delete("/api/projects/acme/shop/search")]

    nothing, wrong = asyncio.run(ask())
    assert (nothing.status_code, nothing.json()["message"]) == (404, "there is nothing at '/api/nothing'")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "route")
    assert wrong.json()["hint"] == f"use {wrong.headers['allow']}" == "use POST"
    node.close()


def test_text_that_a_database_cannot_hold_stops_no_other_row(team: Team) -> None:
    token = token_hash(team.operator.new_token("mallory", 1))
    with closing(AuditLog(team.nodes, keeps_queries=True)) as audit:
        audit.add(token, "search", "acme/\ud800\0", "not-found", json.dumps({"query": "\0\ud800"}))
        audit.add(token, "search", "acme/shop", "ok")

    assert [row[1:3] for row in asked_by(team, "mallory")] == [("acme/?", "not-found"), ("acme/shop", "ok")]


def test_what_waits_is_no_longer_than_what_is_kept(team: Team) -> None:
    token = team.operator.new_token("wordy", 1)
    with closing(AuditLog(team.nodes)) as audit:
        audit.add(token_hash(token), "o" * 60_000, "p" * 60_000, "not-found")

        assert [(len(row.operation), len(row.project)) for row in audit._waiting] == [(100, 250)]


def test_what_cannot_be_written_waits_until_it_can(team: Team) -> None:
    token = token_hash(team.operator.new_token("bob", 1))
    with closing(AuditLog(team.nodes)) as audit:
        for renaming in ("record(jsonb) RENAME TO away", "away(jsonb) RENAME TO record"):
            with team.owner.transaction() as connection:
                connection.execute(f"ALTER FUNCTION {renaming}".encode())
            audit.add(token, "outline", "acme/shop", "ok")
            if renaming.endswith("away"):
                with pytest.raises(CatalogError):
                    audit.write()
                assert asked_by(team, "bob") == []

    assert len(asked_by(team, "bob")) == 2


def test_a_row_of_a_token_that_was_revoked_meanwhile_still_says_whose_it_was(team: Team) -> None:
    token = token_hash(team.operator.new_token("eve", 1))
    with closing(AuditLog(team.nodes)) as audit:
        audit.add(token, "search", "acme/shop", "ok")
        team.people.revoke_everything("eve")

    assert asked_by(team, "eve") == [("search", "acme/shop", "ok", None)]


def test_what_operators_do_is_noted_with_whom_it_concerns(team: Team) -> None:
    team.operator.new_token("zoe", 1)
    team.operator.grant("zoe", "acme/shop")
    team.operator.revoke("zoe", "acme/shop")
    with pytest.raises(NotFoundError):
        team.operator.revoke("zoe", "acme/shop")

    rows = read_audit(team.owner, person="zoe")

    assert [(row["operation"], row["project"]) for row in rows] == [
        ("revoke", "acme/shop"), ("grant", "acme/shop"), ("token", ""),
    ]  # fmt: skip
    assert all(str(row["actor"]).startswith("operator ") for row in rows)
    of_shop = read_audit(team.owner, project="acme/shop", person="zoe", limit=1)
    assert [row["operation"] for row in of_shop] == ["revoke"]
    assert read_audit(team.owner, since="2999-01-01") == []


def test_deleting_a_person_leaves_no_row_of_them(team: Team) -> None:
    token = token_hash(team.operator.new_token("gone", 1))
    with closing(AuditLog(team.nodes)) as audit:
        audit.add(token, "search", "acme/shop", "ok")
    assert len(read_audit(team.owner, person="gone")) == 2

    team.people.delete("gone")

    rows = read_audit(team.owner)
    assert not any("gone" in (row["actor"], row["about"]) for row in rows)
    assert any(row["operation"] == "delete a person" for row in rows)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM audit",
        "DELETE FROM audit",
        "UPDATE audit SET outcome = 'ok'",
        "INSERT INTO audit (at, actor, operation, project, outcome) VALUES (now(), 'ada', 'search', '', 'ok')",
        "TRUNCATE audit",
        "SELECT keep_audit_at('2999-01-01')",
        "DELETE FROM {month}",
    ],
)
@pytest.mark.parametrize("role", ["nodes", "workers"])
def test_no_role_can_read_change_or_delete_what_was_noted(team: Team, role: str, statement: str) -> None:
    month = months(team)[0]
    catalog: Any = getattr(team, role)
    with (
        pytest.raises(CatalogError, match=r"permission denied|must be owner"),
        catalog.transaction() as connection,
    ):
        connection.execute(statement.format(month=month).encode())


def months(team: Team) -> list[str]:
    with team.owner.transaction() as connection:
        rows = connection.execute(
            """SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
               WHERE inhparent = 'audit'::regclass ORDER BY 1"""
        ).fetchall()
    return [row[0] for row in rows]


def test_months_are_made_ahead_and_dropped_half_a_year_after_their_end(team: Team) -> None:
    before = months(team)
    for day in ("2031-12-31", "2032-01-01"):
        with team.owner.transaction() as connection:
            connection.execute("SELECT keep_audit_at(%s)", (day,))
            assert connection.execute("SELECT keep_audit_at(%s)", (day,)).fetchone()  # once more changes nothing

    assert months(team) == ["audit_2031_12", "audit_2032_01", "audit_2032_02", "audit_2032_03"]

    for day, oldest in (("2032-06-28", "audit_2031_12"), ("2032-06-29", "audit_2032_01")):
        with team.owner.transaction() as connection:
            connection.execute("SELECT keep_audit_at(%s)", (day,))
        assert months(team)[0] == oldest
    with team.owner.transaction() as connection:
        connection.execute("SELECT keep_audit()")
    assert set(before) <= set(months(team))
