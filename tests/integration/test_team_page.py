"""The page of operators, asked as a browser asks: what it shows, and that nobody else can tell that it is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.daemon.app import Application, create_app
from cairn.dashboard.mount import dashboard
from cairn.registry import Registry
from cairn.remote.servers import SignIns, TeamServer
from cairn.runtime import StateFolder
from page_visits import Browser
from scripted_server import Asked, Reply, ScriptedServer, scripted
from serving import TOKEN
from team_states import EMPTY, EVIL, STATE

_STATE_PATH = "/api/admin/state?limit=200"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateFolder:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    folder = StateFolder(tmp_path / "state")
    Registry(folder).add(root, "shop")
    return folder


@pytest.fixture
def app(folder: StateFolder) -> Iterator[Application]:
    made = create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])
    yield made
    made.daemon.projects.close()


@pytest.fixture
def browser(app: Application) -> Browser:
    made = Browser(app)
    made.sign_in()
    return made


@contextmanager
def operated(folder: StateFolder, reply: Reply, *, is_operated: bool = True) -> Iterator[ScriptedServer]:
    """Run a server that the user is signed in to."""

    def answer(asked: Asked) -> Reply:
        return reply if (asked.path, asked.authorization) == (_STATE_PATH, "Bearer secret-token") else Reply(404, {})

    with scripted(answer) as server:
        SignIns(folder).keep(TeamServer(server.url, "secret-token", is_operated))
        yield server


def main_of(text: str) -> str:
    """Return what a page shows, without its head."""
    return text[text.index("<main") : text.index("</main>")]


def test_whoever_operates_no_server_cannot_tell_that_there_is_such_a_page(
    browser: Browser, folder: StateFolder
) -> None:
    with operated(folder, Reply(document=STATE), is_operated=False) as server:
        for headers in ({}, {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}):
            team, absent = (browser.get(f"/{name}", **headers) for name in ("team", "gone"))
            nonces = re.compile(r'nonce="[^"]+"|nonce-[^\']+')
            assert (team.status_code, absent.status_code) == (404, 404)
            assert nonces.sub("", team.text) == nonces.sub("", absent.text).replace("/gone", "/team")
            assert {**team.headers, "content-security-policy": ""} == {
                **absent.headers,
                "content-security-policy": "",
            }
        assert 'href="/team' not in browser.get("/settings").text
        assert server.asked == []


def test_it_shows_what_the_server_says(browser: Browser, folder: StateFolder) -> None:
    with operated(folder, Reply(document=STATE)) as server:
        got = browser.get("/team")
        assert [asked.path for asked in server.asked] == [_STATE_PATH]
        assert 'href="/team"' in browser.get("/settings").text
    shown = main_of(got.text)
    assert got.status_code == 200
    assert "<title>Team · Cairn</title>" in got.text
    for text in (
        "acme/shop",
        "acme/broken",
        "never",
        "not reached",
        "node-1:37700",
        "worker-7",
        "silent",
        "failed 3 times",
    ):
        assert text in shown
    assert "3 of 1,204" in shown  # what is left out is counted
    for number in ("1,200", "2,345"):
        assert number in shown
    assert "<script>alert" not in got.text
    assert EVIL not in got.text
    assert "secret-token" not in got.text


def test_it_says_what_to_do_where_nothing_is_there_yet(browser: Browser, folder: StateFolder) -> None:
    with operated(folder, Reply(document=EMPTY)):
        shown = main_of(browser.get("/team").text)
    for text in (
        "No project was added yet",
        "cairn team add",
        "No node was heard of",
        "No worker was heard of",
        "Nothing failed",
    ):
        assert text in shown


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(401, {}), "does not accept the token"),
        (Reply(403, {"code": "scope", "message": "this token may not do what operators do", "hint": ""}), "may not do"),
        (Reply(503, {"code": "catalog", "message": "not now", "hint": "later"}), "not now"),
        (Reply(document={**STATE, "nodes": 7}), "does not say how it is"),
        (Reply(document=[]), "does not say how it is"),
    ],
)
def test_a_server_that_does_not_answer_is_a_note_on_the_page(
    browser: Browser, folder: StateFolder, reply: Reply, text: str
) -> None:
    with operated(folder, reply):
        got = browser.get("/team")
    assert got.status_code == 200
    assert text in main_of(got.text)
    assert 'role="alert"' in got.text
    assert "acme/shop" not in got.text


def test_one_of_several_servers_is_chosen_and_no_other_address_is_asked(browser: Browser, folder: StateFolder) -> None:
    with operated(folder, Reply(document=EMPTY)) as one, operated(folder, Reply(document=STATE)) as two:
        assert "No project was added yet" in browser.get("/team").text
        assert "acme/shop" in browser.get(f"/team?server={two.url}").text
        wrong = browser.get("/team?server=http://127.0.0.1:9")
        assert wrong.status_code == 422
        assert "you do not operate a server" in wrong.text
        assert [len(server.asked) for server in (one, two)] == [1, 1]


def test_a_file_of_servers_that_cannot_be_read_breaks_no_page(browser: Browser, folder: StateFolder) -> None:
    with operated(folder, Reply(document=STATE)):
        folder.servers.chmod(0o666)
        assert browser.get("/team").status_code == 404
        assert browser.get("/settings").status_code == 200
