"""Signing in to a team's server: the device flow, grants of the provider, and how soon they end."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.errors import AccessError, BusyError, CatalogError, IdentityError
from cairn.team.catalog import Catalog, list_projects
from cairn.team.login_routes import SignInRoutes
from cairn.team.node import SearchNode
from cairn.team.oauth import DeviceError
from cairn.team.providers import provider_of
from cairn.team.server import TeamApi
from cairn.team.sign_in import SignIn
from cairn.team.tokens import token_hash
from identity_server import CLIENT, SECRET, IdentityServer, Someone
from team_cluster import Team, needs_postgres, running_team

pytestmark = needs_postgres
KINDS = ("github", "gitlab", "oidc")


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team")) as made:
        yield made


@pytest.fixture
def provider() -> Iterator[IdentityServer]:
    with IdentityServer() as running:
        yield running


class Door:
    """Signing in with one provider; every server of a test has another address, so nobody is known from before."""

    def __init__(self, team: Team, provider: IdentityServer, kind: str) -> None:
        self.team, self.provider, self.now = team, provider, [0.0]
        self.catalog = Catalog(team.address, "cairn_login")
        self.known = provider_of(kind, provider.url, CLIENT, SECRET)
        self.sign_in = SignIn(self.catalog, self.known, lambda: self.now[0])
        self.prefix = secrets.token_hex(4)  # of the projects of this test
        for name in ("shop", "secret", "tools"):
            with team.owner.transaction() as connection:
                connection.execute(
                    """INSERT INTO project (organisation, name, url, repository) VALUES (%s, %s, 'x', %s)""",
                    (self.prefix, name, f"127.0.0.1/{self.prefix}/{name}"),
                )

    def begin(self) -> str:
        """Begin a sign-in, and return its code; the interval is over."""
        code = self.sign_in.begin()["device_code"]
        assert isinstance(code, str)
        self.let_time_pass("sign_in", "asked_at", "1 minute")
        return code

    def enter(self, who: Someone) -> str:
        """Let somebody in, and return their token."""
        code = self.begin()
        self.provider.agree(who)
        token = self.sign_in.poll(code)["access_token"]
        assert isinstance(token, str)
        return token

    def let_time_pass(self, table: str, column: str, span: str) -> None:
        with self.team.owner.transaction() as connection:
            connection.execute(f"UPDATE {table} SET {column} = {column} - interval '{span}'".encode())
        self.now[0] += 1_000

    def readable(self, token: str) -> set[str]:
        """Return the names of the projects of this test that somebody may read; `+` marks what they may write."""
        with self.team.nodes.transaction(token_hash(token)) as connection:
            read = {row[0] for row in connection.execute("SELECT name FROM project WHERE id IN (SELECT readable())")}
            write = {row[0] for row in connection.execute("SELECT name FROM project WHERE id IN (SELECT writable())")}
        return {f"{name}+" if name in write else name for name in read}

    def is_let_in(self, token: str) -> bool:
        try:
            list_projects(self.team.nodes, token_hash(token))
        except AccessError:
            return False
        return True


@pytest.fixture
def door(team: Team, provider: IdentityServer, request: pytest.FixtureRequest) -> Iterator[Door]:
    made = Door(team, provider, getattr(request, "param", "github"))
    yield made
    made.catalog.close()


of_kinds = pytest.mark.parametrize("door", KINDS, indirect=True)
with_grants = pytest.mark.parametrize("door", ["github", "gitlab"], indirect=True)


def ada(door: Door, **repositories: bool) -> Someone:
    return Someone(583231, "ada", {f"{door.prefix}/{name}": writes for name, writes in repositories.items()})


@of_kinds
def test_who_agrees_at_the_provider_gets_a_token_once(door: Door) -> None:
    code = door.begin()
    with pytest.raises(DeviceError, match="authorization_pending"):
        door.sign_in.poll(code)
    door.let_time_pass("sign_in", "asked_at", "1 minute")
    door.provider.agree(ada(door))

    answer = door.sign_in.poll(code)

    assert answer["token_type"] == "Bearer"
    assert door.is_let_in(str(answer["access_token"]))
    with pytest.raises(DeviceError, match="expired_token"):
        door.sign_in.poll(code)


@of_kinds
def test_the_same_person_is_known_again_and_under_no_name_that_somebody_else_bears(door: Door) -> None:
    door.team.operator.new_token("ada@127.0.0.1", 1)  # made by an operator, for somebody else

    door.enter(ada(door))
    door.enter(Someone(583231, "renamed"))
    door.enter(Someone(999, "ada"))

    with door.team.owner.transaction() as connection:
        rows = connection.execute(
            """SELECT subject, person.name, (SELECT count(*) FROM token WHERE token.person_id = person.id)
               FROM identity JOIN person ON person.id = person_id WHERE provider = %s ORDER BY 1""",
            (door.provider.url,),
        ).fetchall()
    assert [(row[0], row[2]) for row in rows] == [("583231", 2), ("999", 1)]
    assert not {row[1] for row in rows} & {"ada", "ada@127.0.0.1"}


@pytest.mark.parametrize("word", ["access_denied", "expired_token"])
@of_kinds
def test_a_sign_in_that_is_refused_or_too_late_is_over(door: Door, word: str) -> None:
    code = door.begin()
    door.provider.agree(word)
    with pytest.raises(DeviceError, match=word):
        door.sign_in.poll(code)
    door.provider.agree(ada(door))

    with pytest.raises(DeviceError, match="expired_token"):
        door.sign_in.poll(code)


def test_who_asks_too_often_is_told_and_the_provider_is_not_asked(door: Door) -> None:
    code = str(door.sign_in.begin()["device_code"])
    door.provider.agree(ada(door))
    n_asked = len(door.provider.asked)

    for _ in range(2):
        with pytest.raises(DeviceError, match="slow_down"):
            door.sign_in.poll(code)

    assert len(door.provider.asked) == n_asked
    door.let_time_pass("sign_in", "asked_at", "14 seconds")  # it is 5 seconds longer after each
    with pytest.raises(DeviceError, match="slow_down"):
        door.sign_in.poll(code)
    door.let_time_pass("sign_in", "asked_at", "1 minute")
    assert door.sign_in.poll(code)["access_token"]


def test_a_guessed_code_is_told_nothing_and_too_many_at_once_are_refused(door: Door) -> None:
    with pytest.raises(DeviceError, match="expired_token"):
        door.sign_in.poll("guessed")
    with door.team.owner.transaction() as connection:
        connection.execute(
            """INSERT INTO sign_in (code, sealed, rest, expires_at)
               SELECT sha256(n::text::bytea), '', '5 s', now() + interval '1 hour' FROM generate_series(1, 1000) AS n"""
        )
    with pytest.raises(BusyError):
        door.sign_in.begin()
    door.let_time_pass("sign_in", "expires_at", "2 hours")
    assert door.sign_in.begin()


@with_grants
def test_grants_are_those_of_the_provider_over_all_its_pages(door: Door) -> None:
    token = door.enter(ada(door, shop=False, tools=True, unknown=True, zebra=False))

    assert door.readable(token) == {"shop", "tools+"}


@with_grants
def test_grants_are_asked_for_again_on_use_after_a_quarter_of_an_hour(door: Door) -> None:
    person = ada(door, shop=False, tools=True)
    token = door.enter(person)
    person.repositories = {f"{door.prefix}/secret": False}
    door.now[0] += 1_000
    assert not door.sign_in.renew(token)
    assert door.readable(token) == {"shop", "tools+"}

    door.let_time_pass("identity", "verified_at", "16 minutes")

    assert door.sign_in.renew(token)
    assert door.readable(token) == {"secret"}


@of_kinds
def test_while_the_provider_is_away_grants_hold_for_a_day_and_no_longer(door: Door) -> None:
    token = door.enter(ada(door, shop=False))
    door.provider.is_away = True
    door.let_time_pass("identity", "verified_at", "23 hours")
    assert not door.sign_in.renew(token)
    assert door.is_let_in(token)

    door.let_time_pass("identity", "verified_at", "1 hour")
    assert not door.sign_in.renew(token, was_refused=True)
    assert not door.is_let_in(token)

    door.provider.is_away = False
    door.let_time_pass("identity", "asking_until", "1 minute")
    assert door.sign_in.renew(token, was_refused=True)
    assert door.is_let_in(token)


@of_kinds
def test_an_expired_credential_is_renewed_and_one_that_was_withdrawn_ends_the_token(door: Door) -> None:
    person = ada(door, shop=False)
    token = door.enter(person)
    for _ in range(2):  # each refresh token is good for once
        door.provider.expire()
        door.let_time_pass("identity", "verified_at", "16 minutes")
        assert door.sign_in.renew(token)
    door.provider.forget(person)
    door.let_time_pass("identity", "verified_at", "16 minutes")

    assert not door.sign_in.renew(token)
    assert not door.is_let_in(token)


@of_kinds
def test_a_renewed_credential_is_kept_when_what_is_asked_with_it_fails(door: Door) -> None:
    person = ada(door, shop=False)
    token = door.enter(person)
    door.provider.expire()
    door.let_time_pass("identity", "verified_at", "16 minutes")
    door.provider.failing[person.number] = 503
    door.provider.claims = {"aud": "another-client"}
    assert not door.sign_in.renew(token)

    door.provider.failing.clear()
    door.provider.claims = {}
    door.now[0] += 1_000

    assert door.sign_in.renew(token)
    assert door.is_let_in(token)


@with_grants
def test_what_fails_for_one_person_does_not_keep_others_from_being_asked_about(door: Door) -> None:
    person, other = ada(door, shop=False), Someone(7, "bob", {f"{door.prefix}/shop": False})
    tokens = [door.enter(person), door.enter(other)]
    door.let_time_pass("identity", "verified_at", "16 minutes")
    door.provider.failing[person.number] = 404

    assert [door.sign_in.renew(token) for token in tokens] == [False, True]


@of_kinds
def test_a_provider_that_is_away_is_asked_once_for_all(door: Door) -> None:
    tokens = [door.enter(ada(door)), door.enter(Someone(7, "bob"))]
    door.let_time_pass("identity", "verified_at", "16 minutes")
    door.provider.is_away = True
    n_asked = len(door.provider.asked)

    assert [door.sign_in.renew(token) for token in tokens] == [False, False]
    assert len(door.provider.asked) == n_asked + 1


def test_a_credential_is_of_no_use_to_who_reads_the_database(door: Door) -> None:
    code = door.begin()
    device_code = door.provider.codes[-1]
    door.provider.agree(ada(door))
    token = str(door.sign_in.poll(code)["access_token"])
    waiting = door.begin()

    with door.team.owner.transaction() as connection:
        kept = b"".join(
            bytes(value)
            for row in connection.execute(
                "SELECT hash, credential FROM token UNION ALL SELECT code, sealed FROM sign_in"
            )
            for value in row
            if value is not None
        )
    given = (device_code, token, code, waiting, *door.provider.tokens, *door.provider.refreshes)
    assert not any(secret.encode() in kept for secret in given)


@with_grants
def test_what_an_operator_granted_or_denied_stays_whatever_the_provider_says(door: Door) -> None:
    person = ada(door, shop=False, tools=False)
    token = door.enter(person)
    name = door.team.people.tokens()[0]["person"]
    door.team.operator.grant(name, f"{door.prefix}/secret")
    door.team.operator.revoke(name, f"{door.prefix}/tools")
    assert door.readable(token) == {"shop", "secret"}
    door.let_time_pass("identity", "verified_at", "16 minutes")

    assert door.sign_in.renew(token)

    assert door.readable(token) == {"shop", "secret"}
    door.team.people.revoke_everything(name)
    assert not door.is_let_in(token)
    code = door.begin()
    door.provider.agree(person)
    with pytest.raises(DeviceError, match="access_denied"):
        door.sign_in.poll(code)
    door.team.people.let_sign_in(name)
    assert door.readable(door.enter(person)) == {"shop"}  # what was denied stays denied


def test_a_repository_of_another_host_grants_nothing(door: Door) -> None:
    with door.team.owner.transaction() as connection:
        connection.execute("UPDATE project SET repository = 'elsewhere' || repository WHERE name = 'shop'")
        connection.execute("UPDATE project SET repository = '' WHERE name = 'tools'")

    assert door.readable(door.enter(ada(door, shop=True, tools=True))) == set()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://elsewhere.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another"]},
        {"azp": "another-client"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"iat": 1_000_000_000},
        {"sub": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("door", ["oidc"], indirect=True)
def test_an_id_token_that_says_something_else_lets_nobody_in(door: Door, claims: dict[str, Any]) -> None:
    code = door.begin()
    door.provider.agree(ada(door))
    door.provider.claims = claims
    with pytest.raises(IdentityError, match="ID token"):
        door.sign_in.poll(code)


@pytest.mark.parametrize("headers", [{"alg": "none"}, {"alg": "HS256"}, {"kid": "unknown"}], ids=str)
@pytest.mark.parametrize("door", ["oidc"], indirect=True)
def test_an_id_token_that_the_provider_did_not_sign_lets_nobody_in(door: Door, headers: dict[str, Any]) -> None:
    code = door.begin()
    door.provider.agree(ada(door))
    door.provider.headers = headers
    with pytest.raises(IdentityError, match="ID token"):
        door.sign_in.poll(code)


@pytest.mark.parametrize("door", ["oidc"], indirect=True)
def test_without_a_refresh_token_a_sign_in_lasts_a_day(door: Door) -> None:
    door.provider.gives_refresh_tokens = False
    code = door.begin()
    door.provider.agree(ada(door))

    assert door.sign_in.poll(code)["expires_in"] == 86_400


# -- announcements and HTTP -------------------------------------------------------------------------------------------

_HOOK_SECRET = "It's a Secret to Everybody"


def github_event(event: str, payload: dict[str, Any], secret: str = _HOOK_SECRET) -> tuple[bytes, dict[str, str]]:
    body = json.dumps(payload).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return body, {"x-github-event": event, "x-hub-signature-256": f"sha256={signature}", "x-github-delivery": "1"}


def gitlab_event(payload: dict[str, Any], secret: str = _HOOK_SECRET) -> tuple[bytes, dict[str, str]]:
    return json.dumps(payload).encode(), {"x-gitlab-event": "System Hook", "x-gitlab-token": secret}


def api(door: Door, tmp_path: Path) -> httpx.AsyncClient:
    node = SearchNode(door.team.nodes, door.team.objects, tmp_path / "node")
    routes = SignInRoutes(door.sign_in, _HOOK_SECRET)
    app = TeamApi(door.team.nodes, node, sign_in=routes).app()
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://team")


@with_grants
def test_a_person_who_was_removed_is_refused_at_the_next_question_after_the_announcement(
    door: Door, tmp_path: Path
) -> None:
    person, other = ada(door, shop=False), Someone(7, "bob", {f"{door.prefix}/shop": False})
    tokens = [door.enter(person), door.enter(other)]
    person.repositories.clear()
    if door.known.kind == "github":
        repository = {"full_name": f"{door.prefix}/shop", "clone_url": f"{door.provider.url}/{door.prefix}/shop.git"}
        body, headers = github_event(
            "member", {"action": "removed", "member": {"id": 583231}, "repository": repository}
        )
    else:
        body, headers = gitlab_event({"event_name": "user_remove_from_team", "user_id": 583231})

    async def tell() -> list[httpx.Response]:
        async with api(door, tmp_path) as client:
            told = await client.post(f"/api/webhooks/{door.known.kind}", content=body, headers=headers)
            listed = [
                await client.get("/api/projects", headers={"authorization": f"Bearer {token}"}) for token in tokens
            ]
            return [told, *listed]

    told, *listed = asyncio.run(tell())

    assert (told.status_code, told.json()) == (200, {"people": 1})
    # The first question asks the provider again.
    assert [answer.status_code for answer in listed] == [200, 200]
    assert [door.readable(token) for token in tokens] == [set(), {"shop"}]
    assert sum(path.endswith(("repositories", "projects")) for path in door.provider.asked) > 2


@with_grants
def test_after_an_announcement_nothing_is_answered_before_the_provider_has_been_asked(door: Door) -> None:
    token = door.enter(ada(door, shop=False))
    assert door.sign_in.doubt(None, f"127.0.0.1/{door.prefix}/shop") == 1
    assert door.sign_in.doubt("583231", None) == 1
    assert door.sign_in.doubt("4711", None) == 0

    door.provider.is_away = True
    assert not door.sign_in.renew(token, was_refused=True)
    assert not door.is_let_in(token)

    door.provider.is_away = False
    door.let_time_pass("identity", "asking_until", "1 minute")
    assert door.sign_in.renew(token, was_refused=True)
    assert door.is_let_in(token)


def test_an_announcement_while_the_provider_is_being_asked_still_counts(door: Door) -> None:
    token = door.enter(ada(door, shop=False))
    door.sign_in.doubt("583231", None)
    ask = door.known.ask

    def ask_and_hear(credential: Any, keep: Any) -> Any:  # noqa: ANN401 - as the provider has them
        answer = ask(credential, keep)
        door.sign_in.doubt("583231", None)
        return answer

    class Slow:
        address, kind, ask = door.known.address, door.known.kind, staticmethod(ask_and_hear)
        begin, poll, identify = door.known.begin, door.known.poll, door.known.identify

    assert SignIn(door.catalog, Slow(), lambda: door.now[0]).renew(token, was_refused=True)
    assert not door.is_let_in(token)


def test_a_replayed_announcement_grants_nothing_and_a_forged_one_does_nothing(door: Door, tmp_path: Path) -> None:
    person = ada(door)
    token = door.enter(person)
    added = github_event("member", {"action": "added", "member": {"id": 583231}})
    forged = github_event("member", {"action": "removed", "member": {"id": 583231}}, secret="guessed")

    async def tell() -> list[int]:
        async with api(door, tmp_path) as client:
            answers = [
                await client.post("/api/webhooks/github", content=body, headers=headers)
                for body, headers in (forged, (added[0] + b" ", added[1]), added, added)
            ]
            return [answer.status_code for answer in answers]

    assert asyncio.run(tell()) == [401, 401, 200, 200]
    assert door.sign_in.renew(token, was_refused=True)
    assert door.readable(token) == set()


def test_a_laptop_signs_in_over_http_and_sees_no_address_of_ours_but_the_page(door: Door, tmp_path: Path) -> None:
    async def enter() -> list[httpx.Response]:
        async with api(door, tmp_path) as client:
            begun = await client.post("/api/login/device", data={"client_id": "cairn"})
            door.let_time_pass("sign_in", "asked_at", "1 minute")
            form = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", **begun.json(), "client_id": "cairn"}
            fields = {name: str(value) for name, value in form.items()}
            waiting = await client.post("/api/login/token", data=fields)
            often = await client.post("/api/login/token", data=fields)
            door.let_time_pass("sign_in", "asked_at", "1 minute")
            door.provider.agree(ada(door, shop=False))
            done = await client.post("/api/login/token", data=fields)
            empty = await client.post("/api/login/token", data={})
            return [begun, waiting, often, done, empty]

    begun, waiting, often, done, empty = asyncio.run(enter())

    assert begun.json().keys() == {
        "device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval",
    }  # fmt: skip
    assert [(answer.status_code, answer.json().get("error")) for answer in (waiting, often, empty)] == [
        (400, "authorization_pending"), (400, "slow_down"), (400, "invalid_request"),
    ]  # fmt: skip
    assert done.headers["cache-control"] == "no-store"
    assert door.readable(done.json()["access_token"]) == {"shop"}
    assert door.provider.codes[-1] not in begun.text


def test_an_error_of_the_provider_names_nothing_of_it(door: Door, tmp_path: Path) -> None:
    door.provider.is_away = True

    async def enter() -> httpx.Response:
        async with api(door, tmp_path) as client:
            return await client.post("/api/login/device")

    answer = asyncio.run(enter())

    assert (answer.status_code, answer.json()["code"]) == (503, "identity")
    assert "127.0.0.1" not in answer.text


@pytest.mark.parametrize("statement", ["SELECT * FROM {}", "DELETE FROM {}"])
@pytest.mark.parametrize("table", ["project", "piece", "token", "person", "access", "identity", "sign_in", "audit"])
def test_the_role_of_sign_ins_reads_and_changes_no_table(door: Door, table: str, statement: str) -> None:
    with pytest.raises(CatalogError, match="permission denied"), door.catalog.transaction() as connection:
        connection.execute(statement.format(table).encode())


def test_a_node_can_let_nobody_in(team: Team) -> None:
    for call in ("begin_sign_in('', '', '1 s', '1 s')", "doubt_grants(NULL, NULL, NULL)", "due_grants('')"):
        with pytest.raises(CatalogError, match="permission denied"), team.nodes.transaction() as connection:
            connection.execute(f"SELECT {call}".encode())


def test_a_webhook_without_a_secret_is_refused(door: Door) -> None:
    async def tell() -> httpx.Response:
        app = Starlette(routes=SignInRoutes(door.sign_in).routes())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://team") as client:
            body, headers = github_event("member", {"member": {"id": 1}}, secret="")
            return await client.post("/api/webhooks/github", content=body, headers=headers)

    assert asyncio.run(tell()).status_code == 401


@with_grants
def test_an_announcement_without_a_proof_is_refused_before_its_body_is_read(door: Door) -> None:
    n_read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal n_read
        while True:
            n_read += 1
            yield b" " * 1_000_000

    async def tell(headers: dict[str, str]) -> int:
        app = Starlette(routes=SignInRoutes(door.sign_in, _HOOK_SECRET).routes())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://team") as client:
            path = f"/api/webhooks/{door.known.kind}"
            return (await client.post(path, content=body(), headers=headers)).status_code

    for headers in ({}, {"x-gitlab-token": "guessed", "x-hub-signature-256": "sha256=guessed"}):
        assert asyncio.run(tell(headers)) == 401
    assert n_read == 0
    proof = {"x-gitlab-token": _HOOK_SECRET, "x-hub-signature-256": "sha256=" + "0" * 64}
    assert asyncio.run(tell(proof)) == 413
    assert n_read == 3
