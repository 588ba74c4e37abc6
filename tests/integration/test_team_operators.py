"""An operator signs in through a provider, and sees the page of the server on their own machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.dashboard.mount import dashboard
from cairn.remote.servers import SignIns, TeamServer
from cairn.runtime import StateFolder
from identity_server import CLIENT, SECRET, IdentityServer, Someone
from page_visits import Browser
from postgres import Postgres, postgres
from serving import TOKEN
from team_cluster import PROGRAMS, needs_postgres
from team_installation import Installation

pytestmark = needs_postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    assert PROGRAMS is not None
    with postgres(PROGRAMS) as running:
        yield running


@pytest.fixture
def provider() -> Iterator[IdentityServer]:
    with IdentityServer() as running:
        running.interval_seconds = 1
        running.at_once = Someone(77, "olga", {"acme/shop": False})
        yield running


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    for kind in ("STATE", "CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    folder = StateFolder.of_user()
    folder.create()
    app = create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])
    made = Browser(app)
    made.sign_in()
    yield made
    app.daemon.projects.close()


@pytest.mark.parametrize("kind", ["github", "oidc"])
def test_whoever_is_named_an_operator_signs_in_and_sees_the_page_until_that_ends(
    server: Postgres,
    provider: IdentityServer,
    browser: Browser,
    tmp_path: Path,
    kind: str,
) -> None:
    sign_in = {"": kind, "_URL": provider.url, "_CLIENT": CLIENT, "_SECRET": SECRET}
    variables = {f"CAIRN_TEAM_SIGN_IN{name}": value for name, value in sign_in.items()}
    team = Installation(server.address, tmp_path / "team", variables=variables)
    team.folder.mkdir()
    team.run("migrate")
    project = f"acme/shop-{kind}"
    team.run("add", project, "https://git.example.org/acme/shop.git")
    nobody = team.run("person", "ada@127.0.0.1", "--operator", code=1)
    with team.serving(kind) as address:

        def sign_in_here() -> None:
            command = [sys.executable, "-m", "cairn", "login", address]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert f"{provider.url}/activate" in done.stderr

        sign_in_here()
        before = browser.get("/team")
        person = _newest_person(team)
        made = team.run("person", person, "--operator")
        sign_in_here()
        shown = browser.get("/team")
        (signed_in,) = SignIns(StateFolder.of_user()).servers()
        revoked = _revoke(signed_in, "ada")
        team.run("person", person, "--no-operator")
        after = browser.get("/team")
        not_revoked = _revoke(signed_in, "ada")

    assert "nobody called ada@127.0.0.1 has signed in" in nobody
    assert before.status_code == 404
    assert made == f"{person} operates the server once they sign in again.\n"
    assert shown.status_code == 200
    assert project in shown.text
    assert f"127.0.0.1:{address.rpartition(':')[2]}" in shown.text
    assert (revoked.status_code, revoked.json()) == (200, {"revoked": 0})
    assert (not_revoked.status_code, not_revoked.json()["code"]) == (403, "scope")
    assert project not in after.text
    assert "may not do what operators do" in after.text


def _revoke(server: TeamServer, person: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {server.token}"}
    return httpx.post(f"{server.url}/api/admin/revoke", json={"person": person}, headers=headers)


def _newest_person(team: Installation) -> str:
    """Return who was given the newest token."""
    return team.run("tokens").partition(" ")[2].partition(" (signed in)")[0]
