"""The pages, asked as a browser asks for them, without a browser."""

from __future__ import annotations

import asyncio
import html
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from cairn.cli.main import main
from cairn.config import Settings
from cairn.daemon.app import Application, create_app
from cairn.dashboard.mount import dashboard
from cairn.dashboard.site import PAGES
from cairn.hooks.plain_files import LOG as HOOK_LOG
from cairn.install.routes import doctor_routes
from cairn.memory.handles import handle_of
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.served import ServedAnswers
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.search.tuning import SHIPPED
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.storage.memory import chat_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import ServedAnswer
from cairn.workspace import Workspace
from page_visits import HOST, Browser
from serving import TOKEN
from shown_memories import note_injections

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e"
CODE = (
    "def total(prices):\n    return sum(tax(price) for price in prices)\n\n\ndef tax(price):\n    return price * 1.2\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "money.py").write_text(CODE)
    (root / "test_money.py").write_text(
        "from money import total\n\n\ndef test_total():\n    assert total([1]) == 1.2\n"
    )
    with Workspace.open(root) as workspace:
        workspace.index()
        workspace.memory.remember(f"Prices carry tax. {EVIL}", type="gotcha", files=("money.py",), actor="person:me")
        for event in ("session-start", "prompt", "after-tool"):
            call = ToolCall("shell", "Bash", f"pytest {EVIL}", "failed", 1) if event == "after-tool" else None
            moment = Moment("", event, "s-1", "claude-code", 0.0, text=f"fix it {EVIL}", call=call)
            workspace.memory.take(moment)
    return root


@pytest.fixture
def app(project: Path, tmp_path: Path) -> Application:
    folder = StateFolder(tmp_path / "state")
    Registry(folder).add(project, "shop")
    return create_app(Settings(), folder=folder, token=TOKEN, extensions=[doctor_routes, dashboard])


@pytest.fixture
def browser(app: Application) -> Iterator[Browser]:
    browser = Browser(app)
    browser.sign_in()
    yield browser
    app.daemon.projects.close()


_OF_NO_PROJECT = ("/settings", "/system/log", "/search", "/symbol")  # they ask nothing of it yet


def _pages() -> list[str]:
    """Return the paths of the pages that everybody has; that of operators has tests of its own."""
    return [path for method, path, *_ in PAGES if method == "GET" and "{" not in path and path != "/team"]


# -- who may see them --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*_pages(), "/nothing", "/events", "/memories/m_1"])
def test_a_browser_that_did_not_sign_in_sees_nothing(app: Application, path: str) -> None:
    got = Browser(app).get(path)
    assert got.status_code == 401
    assert "cairn ui" in got.text
    assert "shop" not in got.text


@pytest.mark.parametrize("path", ["/memories", "/logout", "/nothing"])
@pytest.mark.parametrize("origin", ["http://evil.example", f"http://{HOST}"])
def test_nor_does_one_that_sends_a_form(app: Application, path: str, origin: str) -> None:
    got = Browser(app).post(path, {"action": "archive"}, origin=origin)
    assert got.status_code == 401
    assert "shop" not in got.text


def test_nor_does_a_foreign_page(app: Application) -> None:
    got = Browser(app).get("/memories", origin="http://evil.example")
    assert got.status_code == 401
    assert "shop" not in got.text


def test_a_link_signs_in_once(app: Application) -> None:
    first, second = Browser(app), Browser(app)
    link = first.link("/memories")
    got = first.get(link)
    assert 'content="0; url=/memories"' in got.text
    cookie = got.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert first.get("/memories").status_code == 200
    assert second.get(link).status_code == 401
    app.daemon.projects.close()


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example/", "/\\evil.example", "/\t/evil.example", "javascript:alert(1)"]
)
def test_a_link_leads_nowhere_else(app: Application, path: str) -> None:
    browser = Browser(app)
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert browser.ask("POST", "/api/ui/link", json={"path": path}, headers=headers).status_code == 422
    code = parse_qs(urlsplit(browser.link()).query)["code"][0]
    got = browser.ask("GET", "/login", params={"code": code, "to": path})
    assert 'url=/"' in got.text
    assert "evil" not in got.text


def test_the_cookie_is_no_key_to_the_api(browser: Browser) -> None:
    assert browser.ask("POST", "/api/search", json={"query": "tax"}).status_code == 401
    assert browser.ask("POST", "/api/ui/link", json={}).status_code == 401


def test_the_token_is_no_key_to_the_pages(app: Application) -> None:
    assert Browser(app).get("/", authorization=f"Bearer {TOKEN}").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:37800"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    ],
)
def test_foreign_pages_and_rebound_names_get_nothing(browser: Browser, headers: dict[str, str]) -> None:
    got = browser.get("/memories", **headers)
    assert got.status_code == 401
    assert "Prices carry tax" not in got.text


def test_a_link_on_a_foreign_page_leads_here(browser: Browser) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert browser.get("/memories", **headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "same-site", "origin": "http://evil.example"},
    ],
)
def test_a_form_of_a_foreign_page_changes_nothing(browser: Browser, headers: dict[str, str]) -> None:
    id = _first_id(browser)
    got = browser.post("/memories", {"action": "archive", "id": id}, **headers)
    assert got.status_code == 401
    assert "Archive" in browser.get(f"/memories/{id}").text


def test_a_form_that_says_nothing_of_its_page_changes_nothing(browser: Browser) -> None:
    id = _first_id(browser)
    assert browser.ask("POST", "/memories", data={"action": "archive", "id": id}).status_code == 401


def test_signing_out_ends_it(browser: Browser) -> None:
    kept = httpx.Cookies(browser.cookies)
    assert browser.post("/logout", {}).status_code == 303
    browser.cookies = kept
    assert browser.get("/").status_code == 401


def test_the_api_signs_all_browsers_out(browser: Browser) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    got = browser.ask("POST", "/api/ui/sign-out", json={}, headers=headers)
    assert got.json() == {"browsers": 1}
    assert browser.get("/").status_code == 401


def test_who_cannot_be_kept_is_told_so_and_neither_signed_in_nor_out(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "state" / "browsers.json"
    file.unlink()
    (file / "x").mkdir(parents=True)
    known = httpx.Cookies(browser.cookies)
    got = browser.post("/logout", {})
    assert "cannot write" in got.text
    browser.cookies = known
    assert browser.get("/memories").status_code == 200
    newcomer = Browser(browser.app)
    got = newcomer.get(newcomer.link())
    assert "cannot write" in got.text
    assert "set-cookie" not in got.headers
    got = browser.ask("POST", "/api/ui/sign-out", json={}, headers={"authorization": f"Bearer {TOKEN}"})
    assert "cannot write" in got.json()["message"]


def test_no_page_is_shown_where_other_machines_can_reach_the_daemon(project: Path, tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "state")
    app = create_app(Settings(), folder=folder, token=TOKEN, host="0.0.0.0", extensions=[dashboard])
    assert Browser(app).get("/").status_code == 401
    headers = {"authorization": f"Bearer {TOKEN}"}
    got = Browser(app).ask("POST", "/api/ui/link", json={"path": "/"}, headers=headers)
    assert got.status_code == 401
    assert got.json()["hint"].endswith(": cairn config unset daemon_host")


# -- what they carry ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", _pages())
def test_every_page_lets_nothing_foreign_run(browser: Browser, path: str) -> None:
    got = browser.get(path)
    assert got.status_code == 200
    policy = got.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["cross-origin-opener-policy"] == "same-origin"
    assert "<style" not in got.text
    assert " style=" not in got.text
    assert " onclick=" not in got.text


@pytest.mark.parametrize(
    "path",
    ["/", "/memories", "/sessions", "/sessions/s-1", "/search?q=tax", f"/search?q={EVIL}", f"/memories?text={EVIL}"],
)
def test_what_others_wrote_is_text(browser: Browser, path: str) -> None:
    text = browser.get(path).text
    assert "<script>alert" not in text
    assert "<img" not in text
    shown = re.sub(r' value="[^"<>]*"', "", text)  # a field holds what it was given
    assert "\u202e" not in shown


def test_a_file_of_ours_never_changes_at_its_address(browser: Browser) -> None:
    address = re.search(r'href="(/static/[^"]*\.css)"', browser.get("/").text)
    assert address is not None
    got = browser.get(address[1])
    assert got.status_code == 200
    assert "immutable" in got.headers["cache-control"]
    assert browser.get("/static/0/../../guard.py").status_code in (401, 404)


def test_a_page_that_is_missing_says_so(browser: Browser) -> None:
    got = browser.get("/nothing")
    assert got.status_code == 404
    assert "there is no page at" in got.text


def test_projects_of_one_name_are_told_apart_by_their_folders(
    app: Application, browser: Browser, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / "shop"
    (other / ".git").mkdir(parents=True)
    (other / "sun.py").write_text("def shine():\n    return 1\n")
    with Workspace.open(other) as workspace:
        workspace.index()
    app.daemon.projects.registry.add(other, "shop")
    page = browser.get("/system").text
    assert f"<h2>Index of {other}</h2>" in page
    links = [html.unescape(link) for link in re.findall(r'<li><div class="main"><a href="([^"]*)"', page)]
    assert [parse_qs(urlsplit(link).query)["project"] for link in links] == [[str(other)], [str(tmp_path / "shop")]]
    named = browser.get(links[1]).text
    assert f'<option value="{tmp_path / "shop"}" selected>' in named
    assert _do_on_system(browser, app, "index", "1 file indexed", links[0])


@pytest.mark.parametrize("path", [path for path in _pages() if path not in ("/symbol", "/system/log", "/savings.csv")])
def test_where_no_project_is_indexed_yet_every_page_says_how_to_begin(tmp_path: Path, path: str) -> None:
    folder = StateFolder(tmp_path / "other")
    folder.create()
    app = create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])
    browser = Browser(app)
    browser.sign_in()
    page = browser.get(path).text
    assert "<h1>No project yet</h1>" in page
    assert "cairn init" in page
    assert 'role="alert"' not in page
    assert "data-events" not in page  # there is nothing to hear of
    app.daemon.projects.close()


def test_a_project_that_is_unknown_is_said_on_the_page(browser: Browser) -> None:
    got = browser.get("/memories?project=elsewhere")
    assert got.status_code == 403
    assert "elsewhere" in got.text


def _chunks(browser: Browser, path: str, **headers: str) -> tuple[int, list[str]]:
    """Return the status of a page, and the pieces in which it is sent."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    named = {"host": HOST, "cookie": cookies, **headers}
    path, _, query = path.partition("?")
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "root_path": "",
        "scheme": "http", "http_version": "1.1", "server": tuple(HOST.split(":")), "client": None,
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:  # noqa: ANN401 - of ASGI
        sent.append(message)

    asyncio.run(browser.app(scope, receive, send))
    return sent[0]["status"], [message["body"].decode() for message in sent[1:] if message["body"]]


@pytest.mark.parametrize(("method", "path"), [("PUT", "/memories"), ("DELETE", "/memories/m_1"), ("PATCH", "/")])
def test_a_method_that_no_page_takes_is_refused_with_the_headers_of_a_page(
    browser: Browser, method: str, path: str
) -> None:
    got = browser.ask(method, path)
    assert got.status_code == 405
    assert "default-src 'none'" in got.headers["content-security-policy"]
    assert got.headers["allow"]


@pytest.mark.parametrize("path", ["/", "/memories", "/sessions/s-1", "/symbol", "/symbol?s=tax", "/system"])
def test_somebody_who_waits_for_a_page_gets_its_head_before_anything_is_asked(browser: Browser, path: str) -> None:
    status, (head, *rest) = _chunks(browser, path, **{"sec-fetch-mode": "navigate"})
    assert status == 200
    assert "</header>" in head
    assert "<main" not in head
    assert "".join(rest).count("<main") == 1
    assert "<head>" not in "".join(rest)


def test_what_goes_wrong_after_the_head_is_said_below_it(browser: Browser) -> None:
    _, (head, *rest) = _chunks(browser, "/memories/m_0000000000", **{"sec-fetch-mode": "navigate"})
    assert "<title>m_0000000000 · Memory · Cairn</title>" in head
    assert 'role="alert"' in "".join(rest)
    assert "".join(rest).endswith("</html>")


def test_a_page_that_is_missing_is_missing_to_those_who_wait_too(browser: Browser) -> None:
    assert _chunks(browser, "/nothing", **{"sec-fetch-mode": "navigate"})[0] == 404


def test_a_program_is_told_by_the_status_that_a_memory_is_missing(browser: Browser) -> None:
    assert _chunks(browser, "/memories/m_0000000000")[0] == 404


# -- what can be done with them ----------------------------------------------------------------------------------------


def test_what_cannot_be_seen_is_shown_and_yet_stays_as_it_is_in_fields(browser: Browser, project: Path) -> None:
    text = "Names are written \u0645\u06cc\u200c\u0634\u0648\u062f"  # as Persian needs it
    with Workspace.open(project) as workspace:
        id = handle_of(workspace.memory.remember(text, actor="person:me").observation.id)
    page = browser.get(f"/memories/{id}").text
    assert f">{text}</textarea>" in page
    assert "U+200C" in page
    browser.post(f"/memories/{id}", {"text": text, "type": "discovery", "tags": "names"})
    with Workspace.open(project) as workspace:
        memory = workspace.memory.store.observation(id)
        assert (memory.text, memory.tags) == (text, ("names",))
    assert 'name="q" value="a\u200bb"' in browser.get("/search?q=a%E2%80%8Bb").text


def _first_id(browser: Browser) -> str:
    found = re.search(r'name="id" value="(m_[0-9a-f]+)"', browser.get("/memories?statuses=active").text)
    assert found is not None
    return found[1]


def test_a_memory_is_archived_and_that_is_undone(browser: Browser) -> None:
    id = _first_id(browser)
    done = browser.post("/memories", {"action": "archive", "id": id})
    assert done.status_code == 303
    page = browser.get(done.headers["location"]).text
    assert "1 memory is archived." in page
    assert id not in browser.get("/memories?statuses=active").text
    assert "Undo" in page
    browser.post("/memories", {"action": "undo", "id": id})
    assert id in browser.get("/memories?statuses=active").text


def test_what_was_done_is_said_once_and_not_because_an_address_says_so(browser: Browser) -> None:
    id = _first_id(browser)
    done = browser.post("/memories", {"action": "archive", "id": id}).headers["location"]
    assert "1 memory is archived." in browser.get(done).text
    for path in (done, f"/memories?done=archive&n=7&ids={id}", "/tuning?done=apply&n=9", "/system?done=started"):
        page = browser.get(path).text
        assert 'role="status">' not in page.partition("<h1>")[0].partition("<main")[2], path
        assert 'aria-label="Undo"' not in page


def test_deleting_asks_first(browser: Browser) -> None:
    id = _first_id(browser)
    asked = browser.post("/memories", {"action": "delete", "id": id})
    assert asked.status_code == 200
    assert "for ever" in asked.text
    assert id in browser.get("/memories").text
    assert browser.post("/memories", {"action": "delete", "id": id, "sure": "1"}).status_code == 303
    assert id not in browser.get("/memories").text


def test_deleting_twice_says_that_it_is_gone(browser: Browser) -> None:
    id = _first_id(browser)
    browser.post("/memories", {"action": "delete", "id": id, "sure": "1"})
    got = browser.post("/memories", {"action": "delete", "id": id, "sure": "1"})
    assert got.status_code == 404
    assert "was erased" in got.text


def test_a_memory_is_corrected(browser: Browser) -> None:
    id = _first_id(browser)
    got = browser.post(f"/memories/{id}", {"text": "Prices carry no tax.", "type": "decision", "tags": "money, tax"})
    assert got.status_code == 303
    page = browser.get(f"/memories/{id}").text
    assert "Prices carry no tax." in page
    assert 'value="money tax"' in page


def test_of_two_tabs_that_correct_the_same_the_second_is_shown_what_the_first_wrote(browser: Browser) -> None:
    id = _first_id(browser)
    (seen,) = re.findall('name="seen" value="([^"]+)"', browser.get(f"/memories/{id}").text)
    form = {"type": "gotcha", "tags": "", "seen": seen}
    assert browser.post(f"/memories/{id}", {**form, "text": "Said by the first."}).status_code == 303
    refused = browser.post(f"/memories/{id}", {**form, "text": "Said by the second.", "tags": "mine"})
    assert refused.status_code == 409
    assert "Not saved: it was changed elsewhere" in refused.text
    assert "Said by the second.</textarea>" in refused.text
    assert 'name="tags" value="mine"' in refused.text
    assert '<p class="text">Said by the first.</p>' in refused.text
    assert "Said by the first.</textarea>" in browser.get(f"/memories/{id}").text
    (seen,) = re.findall('name="seen" value="([^"]+)"', refused.text)
    assert browser.post(f"/memories/{id}", {**form, "seen": seen, "text": "Said by both."}).status_code == 303


def test_what_is_written_for_a_memory_that_was_deleted_meanwhile_is_not_lost(browser: Browser) -> None:
    id = _first_id(browser)
    browser.post("/memories", {"action": "delete", "id": id, "sure": "1"})
    refused = browser.post(f"/memories/{id}", {"text": "<b>Said again.", "type": "gotcha", "tags": "", "seen": "1-a"})
    assert refused.status_code == 404
    assert "was erased" in refused.text
    assert "&lt;b&gt;Said again." in refused.text


def test_all_that_a_filter_finds_can_be_resolved_at_once(browser: Browser, project: Path) -> None:
    with Workspace.open(project) as workspace:
        for number in range(60):
            workspace.memory.remember(f"Fact number {number} of the shop", tags=("bulk",), actor="person:me")
    asked = browser.post("/memories?tag=bulk", {"action": "resolve", "all": "1", "filter-tag": "bulk"})
    assert "Resolve 60 memories?" in asked.text
    assert "Nothing is changed yet." in asked.text
    assert "resolved</span>" not in browser.get("/memories?tag=bulk").text
    ids = re.findall(r'name="id" value="(m_[0-9a-f]+)"', asked.text)
    got = browser.post("/memories?tag=bulk", {"action": "resolve", "id": list(dict.fromkeys(ids)), "sure": "1"})
    assert "60 memories are resolved." in browser.get(got.headers["location"]).text
    assert "Prices carry tax" in browser.get("/memories?statuses=active").text


@pytest.mark.parametrize(
    "data", [{}, {"action": "archive"}, {"action": "nonsense", "id": "m_1"}, {"action": "archive", "id": "m_ffffffff"}]
)
def test_a_form_that_makes_no_sense_is_refused_with_words(browser: Browser, data: dict[str, str]) -> None:
    got = browser.post("/memories", data)
    assert got.status_code in (404, 422)
    assert 'role="alert"' in got.text


def test_what_a_memory_said_before_an_edit_comes_back(browser: Browser) -> None:
    id = _first_id(browser)
    before = browser.get(f"/memories/{id}").text
    browser.post(f"/memories/{id}", {"text": "Prices carry no tax.", "type": "decision", "tags": ""})
    assert "Undo the last change" in browser.get(f"/memories/{id}").text
    browser.post("/memories", {"action": "undo", "id": id})
    after = browser.get(f"/memories/{id}").text
    assert "Prices carry tax." in after
    assert _text_of(after) == _text_of(before)


def _text_of(page: str) -> str:
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert found is not None
    return found[1]


def test_a_copy_is_offered_before_memories_are_deleted_and_can_be_imported(browser: Browser, project: Path) -> None:
    id = _first_id(browser)
    assert "Download a copy" in browser.post("/memories", {"action": "delete", "id": id}).text
    copy = browser.post("/memories", {"action": "export", "id": id})
    assert copy.headers["content-disposition"] == "attachment; filename=memories.jsonl"
    with Workspace.open(project) as workspace:
        known = workspace.memory.exchange.take(io.BytesIO(copy.content), dry_run=True)
    assert (known.n_new, known.n_known) == (0, 2)


def test_a_memory_is_superseded_by_hand_and_that_is_undone(browser: Browser, project: Path) -> None:
    id = _first_id(browser)
    with Workspace.open(project) as workspace:
        later = workspace.memory.remember("The shop has no taxes at all", actor="person:me").observation.id
    assert browser.post("/memories", {"action": "supersede", "id": id}).status_code == 422
    browser.post("/memories", {"action": "supersede", "id": id, "successor": later})
    assert "superseded, replaced by" in browser.get(f"/memories/{id}").text
    browser.post("/memories", {"action": "undo", "id": id})
    assert "superseded, replaced by" not in browser.get(f"/memories/{id}").text


def test_memories_are_listed_by_how_they_came_to_be(browser: Browser) -> None:
    assert "Prices carry tax" in browser.get("/memories?origins=person").text
    assert "Prices carry tax" not in browser.get("/memories?origins=imported").text


def test_the_code_of_a_memory_is_shown_then_and_now(browser: Browser, project: Path) -> None:
    for arguments in (["init", "-q"], ["add", "money.py"], ["commit", "-q", "-m", "Begin"]):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True)
    id = _first_id(browser)
    assert "as it was" in browser.get(f"/memories/{id}").text
    (project / "money.py").write_text(CODE.replace("1.2", "1.25"))
    page = browser.get(f"/memories/{id}").text
    assert '<del class="line">-    return price * 1.2</del>' in page
    assert '<ins class="line">+    return price * 1.25</ins>' in page
    (project / "money.py").unlink()
    assert ">gone<" in browser.get(f"/memories/{id}").text


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_are_shown_with_where_each_comes_from(browser: Browser, project: Path) -> None:
    (project / ".cairn/config.yaml").write_text("watch_polling: true\n")
    page = browser.get("/settings?set=1").text
    assert "watch_polling" in page
    assert f"{project}/.cairn/config.yaml:1" in page
    assert "garbage_days" not in page
    assert "a number from 0 to 100,000" in browser.get("/settings?name=garbage_days").text


def test_a_setting_is_changed_and_taken_out_with_the_checks_of_the_command(browser: Browser) -> None:
    user_file = Path(os.environ["XDG_CONFIG_HOME"]) / "cairn/config.yaml"
    got = browser.post("/settings", {"action": "set", "name": "garbage_days", "value": "30"})
    assert "garbage_days is 30 now, by " in browser.get(got.headers["location"]).text
    assert user_file.read_text() == "garbage_days: 30.0\n"
    refused = browser.post("/settings", {"action": "set", "name": "garbage_days", "value": "soon"})
    assert (refused.status_code, "must be a number" in refused.text) == (400, True)
    shared = browser.post("/settings", {"action": "set", "name": "editor", "value": "zed", "scope": "project"})
    assert "a project&#39;s file may not set editor" in shared.text
    browser.post("/settings", {"action": "unset", "name": "garbage_days"})
    assert "garbage_days" not in user_file.read_text()


@pytest.mark.parametrize("name", ["daemon_host", "state_dir", "embedding.url", "memory.chat_url", "nothing"])
def test_a_setting_that_decides_where_data_goes_is_not_changed_on_a_page(browser: Browser, name: str) -> None:
    assert browser.post("/settings", {"action": "set", "name": name, "value": "x"}).status_code == 422
    if name != "nothing":
        assert f"cairn config set {name} VALUE" in browser.get(f"/settings?name={name}").text


def test_a_value_that_a_setting_cannot_have_is_mended_where_it_was_typed(browser: Browser) -> None:
    wrong = {"action": "set", "name": "garbage_days", "value": "soon", "scope": "project"}
    page = browser.post("/settings", wrong).text
    assert "garbage_days must be a number, not &#39;soon&#39;" in page
    assert 'name="value" value="soon"' in page
    assert re.search(r'value="project" checked>', page)
    assert 'value="user" checked' not in page


def test_a_text_that_no_memory_can_have_is_mended_where_it_was_typed(browser: Browser) -> None:
    id = _first_id(browser)
    text = browser.get(f"/memories/{id}").text
    for written, said in ((" ", "a memory needs a text"), ("x" * 20_000, "must have a length of at most 10000")):
        got = browser.post(f"/memories/{id}", {"text": written, "type": "discovery", "tags": "odd"})
        assert got.status_code == 422
        assert said in got.text
        assert f">{written}</textarea>" in got.text
        assert 'name="tags" value="odd"' in got.text
    assert re.findall("<textarea.*?</textarea>", browser.get(f"/memories/{id}").text) == re.findall(
        "<textarea.*?</textarea>", text
    )


def test_settings_that_cannot_be_used_are_mended_on_the_page(browser: Browser, project: Path) -> None:
    (project / ".cairn/config.yaml").write_text("garbage_days: never\n")
    page = browser.get("/settings?name=garbage_days").text
    assert "must be a number" in page
    browser.post("/settings", {"action": "unset", "name": "garbage_days", "scope": "project"})
    assert "must be a number" not in browser.get("/settings?name=garbage_days").text


def test_links_open_the_editor_that_is_set(browser: Browser) -> None:
    browser.post("/settings", {"action": "set", "name": "editor", "value": "idea"})
    assert "idea://open?file=/" in browser.get("/symbol?s=tax").text
    browser.post("/settings", {"action": "set", "name": "editor", "value": "none"})
    assert "Open in the editor" not in browser.get("/symbol?s=tax").text


# -- figures -----------------------------------------------------------------------------------------------------------


def _api(browser: Browser, method: str, path: str, **document: object) -> Any:  # noqa: ANN401 - JSON
    headers = {"authorization": f"Bearer {TOKEN}"}
    given = {"params": document} if method == "GET" else {"json": document}
    got = browser.ask(method, path, headers=headers, **given)
    assert got.status_code == 200, got.text
    return got.json()


def _cards(browser: Browser, path: str) -> dict[str, str]:
    """Return the figures of a page by what stands below them."""
    cards = re.findall(r'class="figure">([^<]*)</span>([^<]*)</li>', browser.get(path).text)
    return {" ".join(words.split()): figure for figure, words in cards}


def test_every_figure_of_the_week_is_what_the_operations_say(browser: Browser, project: Path) -> None:
    with Workspace.open(project) as workspace:
        memory = workspace.memory
        for number in range(3):
            call = ToolCall("shell", "Bash", "make", "failed", 2)
            agent, id = ("codex", "s-2") if number else ("cursor", "s-3")
            memory.take(Moment(f"w{number}", "after-tool", id, agent, time.time() - number, call=call))
        ServedAnswers(memory.store, memory.sessions).add(
            ServedAnswer("s-2", time.time(), "codex", "outline", True, "money.py", "h", 300, 4_000), lambda: True
        )
    _api(browser, "POST", "/api/search", query="zebra quagga", session="s-2")
    savings = _api(browser, "POST", "/api/savings", days=7)
    week = {"since": savings["since"]}
    sessions = _api(browser, "POST", "/api/sessions", **week)
    failures = _api(browser, "POST", "/api/sessions/failures", **week)
    assert failures["total"] == sum(row["failures"] for row in sessions["sessions"]) == 4
    learned = _api(browser, "POST", "/api/memories", **week)["total"]
    active = _api(browser, "POST", "/api/memories", statuses=["active"])["total"]
    asked = _api(browser, "POST", "/api/feedback", **week)["totals"]
    saved = savings["total"]["saved"]
    assert _cards(browser, "/") == {
        "tokens saved, net": f"{saved / 1_000:.1f}k",
        f"sessions of {', '.join(sessions['agents'])}": str(sessions["total"]),
        f"{'memory' if learned == 1 else 'memories'} learned, {active} active in all": str(learned),
        "tool calls failed": "4",
        f"question, {asked['used']} led to a use, {asked['empty']} found nothing": str(asked["questions"]),
    }
    page = browser.get("/").text
    assert failures["calls"][0]["target"] == "make"
    assert len(re.findall(r'class="mono">make</a>', page)) == 1
    assert "failed 3 times" in page
    assert "in 2 sessions" in page


@pytest.mark.parametrize("by", ["day", "agent", "kind"])
def test_every_bar_of_the_savings_is_a_sum_of_the_operation(browser: Browser, project: Path, by: str) -> None:
    with Workspace.open(project) as workspace:
        memory = workspace.memory
        for number, agent in enumerate(("claude-code", "claude-code", "codex")):
            memory.sessions.record(Moment(f"b{number}", "session-start", f"b-{agent}", agent, time.time()))
            answer = ServedAnswer(f"b-{agent}", time.time(), agent, "outline", True, "money.py", "h", 300, 4_000)
            ServedAnswers(memory.store, memory.sessions).add(answer, lambda: True)
    groups = _api(browser, "POST", "/api/savings", days=7, by=by)["groups"]
    page = browser.get(f"/savings?days=7&by={by}").text
    bars = dict(re.findall(r"<title>([^<:]+): ([\d,-]+) tokens</title>", page))
    assert {name: value for name, value in bars.items() if value != "0"} == {
        group["name"]: f"{group['saved']:,}" for group in groups
    }
    total = _api(browser, "POST", "/api/savings", days=7)["total"]
    assert _cards(browser, "/savings?days=7") == {
        "tokens saved, net": f"{total['saved'] / 1_000:.1f}k",
        "would have been read": f"{total['replaced_tokens'] / 1_000:.1f}k",
        "were served instead": str(total["tokens"]),
        "were read all the same": "0",
    }


def test_what_a_week_without_agents_asks_for_ticks_itself(browser: Browser, tmp_path: Path, app: Application) -> None:
    empty = tmp_path / "empty"
    (empty / ".git").mkdir(parents=True)
    (empty / "a.py").write_text("A = 1\n")
    Registry(app.daemon.projects.registry.folder).add(empty, "empty")
    assert browser.get("/?project=empty").text.count('<li class="done">') == 0
    assert "cairn init" in browser.get("/?project=empty").text
    with Workspace.open(empty) as workspace:
        workspace.memory.take(Moment("1", "prompt", "s-1", "codex", time.time(), text="why"))
    assert browser.get("/?project=empty").text.count('<li class="done">') == 2
    with Workspace.open(empty) as workspace:
        workspace.memory.remember("A is one", actor="person:me")
    assert "Begin here" not in browser.get("/?project=empty").text


def test_an_agent_that_was_silent_all_week_is_named(browser: Browser, project: Path) -> None:
    assert "Agents that were silent" not in browser.get("/").text
    with Workspace.open(project) as workspace:
        workspace.memory.take(Moment("old", "prompt", "s-9", "goose", time.time() - 9 * 86_400, text="why"))
    page = browser.get("/").text
    assert "Agents that were silent" in page
    assert re.search(r"goose<div[^>]*><span>last heard 9 d ago", page)


# -- the system --------------------------------------------------------------------------------------------------------


def test_the_end_of_the_log_is_shown(browser: Browser, app: Application) -> None:
    log = app.daemon.projects.registry.folder.log
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    page = browser.get("/system/log?lines=2").text
    assert "line 99" in page
    assert "line 98" in page
    assert "line 97" not in page


def test_the_end_of_the_log_is_given_over_http_too(browser: Browser, app: Application) -> None:
    log = app.daemon.projects.registry.folder.log
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    found = _api(browser, "GET", "/api/logs", lines=2)
    assert found == {"file": str(log), "lines": ["line 98", "line 99"]}
    assert len(_api(browser, "GET", "/api/logs")["lines"]) == 50
    assert len(_api(browser, "GET", "/api/logs", lines=0)["lines"]) == 100


def test_hooks_are_the_same_on_the_page_over_http_and_in_a_terminal(
    browser: Browser,
    app: Application,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StateFolder, "of_user", lambda: app.daemon.projects.registry.folder)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    (app.daemon.projects.registry.folder.path / HOOK_LOG).write_text(
        f"{now} claude-code prompt: the event waits: no daemon is running\n"
        f"{now} codex turn-end: the event is lost: {EVIL}\n"
    )
    with Workspace.open(project) as workspace:  # how long the last one took is written with the next
        for event in ("prompt", "turn-end"):
            workspace.memory.take(Moment("", event, "s-1", "claude-code", 0.0))
    agents = _api(browser, "GET", "/api/index/status")["memory"]["agents"]
    assert main(["status", "--json", "-C", str(project)]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["agents"] == agents
    claude, codex = agents
    events = {event["event"]: event for event in claude["events"]}
    assert events["prompt"]["errors"] == 1
    assert events["prompt"]["p95_ms"] == events["prompt"]["slowest_ms"] > 0
    assert (codex["heard"], [event["count"] for event in codex["events"]]) == (0.0, [0])
    page = browser.get("/system").text
    assert f'<td class="n">{events["prompt"]["p95_ms"]:,.0f} ms</td>' in page
    assert "the event waits: no daemon is running" in page
    assert "<script>alert" not in page
    assert main(["status", "-C", str(project)]) == 0
    told = capsys.readouterr().out
    assert "agent       codex, not heard of here\n            1 error of its hooks in a day, such as turn-end:" in told


def test_an_open_list_is_told_what_is_new(browser: Browser, project: Path) -> None:
    for path in ("/memories", "/sessions"):
        link = re.search(rf'<div id="news"[^>]*hx-get="({path}\?[^"]*)"', browser.get(path).text)
        assert link is not None
        news = partial(browser.get, html.unescape(link[1]), **{"hx-request": "true"})
        assert "<button" not in news().text
        assert "<h1" not in news().text
        with Workspace.open(project) as workspace:
            workspace.memory.remember("Nobody knew", actor="person:me")
            workspace.memory.take(Moment("", "prompt", f"s-{path}", "codex", 0.0, text="go on"))
        assert "Show 1 new</button>" in news().text
        assert 'data-show-new hx-get="' + path in news().text
        assert link[1].rpartition("seen=")[2] in news().text
        assert "<h1" in browser.get(html.unescape(link[1])).text  # whoever opens the address sees the page
    browser.post("/memories", {"action": "archive", "id": _first_id(browser)})
    assert "Show" in browser.get("/memories?seen=3-x", **{"hx-request": "true"}).text
    assert "Show what changed" in browser.get("/memories?seen=x", **{"hx-request": "true"}).text


def test_findings_are_the_same_on_the_page_over_http_and_in_a_terminal(
    browser: Browser,
    app: Application,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StateFolder, "of_user", lambda: app.daemon.projects.registry.folder)
    (app.daemon.projects.registry.folder.path / HOOK_LOG).write_text(
        f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} the daemon did not answer\n" * 2
    )
    with closing(sqlite3.connect(project / ".cairn/memory.db")) as connection, connection:
        connection.execute("DELETE FROM vector")
    found = _api(browser, "GET", "/api/doctor")
    main(["doctor", "--json", "-C", str(project)])
    told = json.loads(capsys.readouterr().out)
    assert [(row["check"], row["level"], row["repair"]) for row in found["findings"]] == [
        (row["check"], row["level"], row["repair"]) for row in told["findings"]
    ]
    assert found["healthy"] == told["healthy"]
    bad = {row["check"]: row for row in found["findings"] if row["level"] != "ok"}
    assert set(bad) == {"recall", "hooks"}
    page = browser.get("/system/checks").text
    assert "the daemon did not answer" in page
    assert all(html.escape(row["message"], quote=False) in page for row in bad.values())
    fixed = _api(browser, "POST", "/api/doctor/fix")
    assert [row["check"] for row in fixed["findings"] if row["fixed"]] == ["recall"]
    assert [row["check"] for row in _api(browser, "GET", "/api/doctor")["findings"] if row["level"] != "ok"] == [
        "hooks"
    ]


def test_the_routes_of_layers_above_the_daemon_are_described(browser: Browser) -> None:
    described = _api(browser, "GET", "/openapi.json")["paths"]
    assert {"/api/doctor", "/api/doctor/fix", "/api/ui/link", "/api/search"} <= set(described)
    assert set(described["/api/doctor"]) == {"get"}


def test_all_memories_are_embedded_again_from_the_page(browser: Browser, app: Application) -> None:
    assert "Embed them again" in browser.get("/system").text
    assert _do_on_system(browser, app, "embed", "vector written")


def test_embedding_that_is_stopped_leaves_the_rest_as_it_was(browser: Browser, app: Application) -> None:
    assert "Nothing was being embedded any more." in _do_on_system(browser, app, "stop-embedding", "Embed them again")


def _do_on_system(browser: Browser, app: Application, action: str, until: str, path: str = "/system") -> str:
    """Send the form of the page, and return the page once it says something."""

    async def act() -> str:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://{HOST}", cookies=browser.cookies, follow_redirects=True
        ) as client:
            got = await client.post(path, data={"action": action}, headers={"origin": f"http://{HOST}"})
            while until not in got.text:
                await asyncio.sleep(0.05)
                got = await client.get(path)
            return got.text

    return asyncio.run(asyncio.wait_for(act(), 30))


def test_what_a_session_did_is_shown(browser: Browser) -> None:
    assert "/sessions/s-1" in browser.get("/sessions").text
    page = browser.get("/sessions/s-1").text
    assert "failed" in page
    assert "pytest" in page


@pytest.mark.parametrize("id", ["agent:a?b#c", "50% of it", "a b/c", "\u05d0;x=1&y", "claude-code:40c3b001"])
def test_a_session_is_opened_from_the_list_whatever_its_id(browser: Browser, project: Path, id: str) -> None:
    with Workspace.open(project) as workspace:
        workspace.memory.take(Moment(f"p-{id}", "prompt", id, "codex", time.time(), text="odd session"))
    links = re.findall(r'<a href="(/sessions/[^"]*)">codex', browser.get("/sessions?agent=codex").text)
    assert len(links) == 1
    page = browser.get(html.unescape(links[0])).text
    assert f'<dd class="mono">{html.escape(id, quote=False)}</dd>' in page
    again = re.search(r'id="timeline"[^>]* hx-get="([^"]*)"', page)
    assert again is not None
    assert "odd session" in browser.get(html.unescape(again[1])).text


def test_a_search_shows_the_best_hit_in_colours(browser: Browser) -> None:
    page = browser.get("/search?q=total").text
    assert "money.py:1" in page
    assert 'class="keyword"' in page
    assert "vscode://file/" in page


@pytest.mark.parametrize("query", ["fix it " * 200, "a/" * 3_000, "total/\n" * 500])
def test_a_long_text_is_searched_for_in_code_and_sessions(browser: Browser, query: str) -> None:
    page = browser.get(f"/search?{urlencode({'q': query})}")
    assert page.status_code == 200
    assert "must have a length" not in page.text
    assert ("s-1" in page.text) == query.startswith("fix it")


def test_a_symbol_is_shown_with_what_calls_it(browser: Browser) -> None:
    page = browser.get("/symbol?s=tax").text
    assert 'aria-label="What calls tax, and what it calls"' in page
    assert 'aria-label="What a change of tax may break, and the tests to run"' in page
    assert re.search(r'class="when"[^>]*>1 step</text>.*>total</text>.*>tests</text>.*test_money.py', page, re.DOTALL)
    assert "total" in page
    assert "test_money.py" in page


def test_a_name_that_nothing_has_can_be_mended_where_it_was_given(browser: Browser) -> None:
    got = browser.get("/symbol?s=taxi")
    assert got.status_code == 404
    assert "nothing is called &#39;taxi&#39; here" in got.text
    assert 'name="s" value="taxi"' in got.text
    assert "<h1>Symbol</h1>" in browser.get("/symbol").text


def test_the_control_flow_of_a_function_is_shown_as_a_picture_and_as_a_list(browser: Browser) -> None:
    page = browser.get("/symbol?s=tax").text
    assert 'aria-label="Control flow of tax"' in page
    assert "<code>return price * 1.2</code>" in page


def test_code_in_a_file_whose_name_is_not_unicode_is_found_and_shown(browser: Browser, project: Path) -> None:
    with open(os.path.join(os.fsencode(project), b"caf\xe9.py"), "w") as file:
        file.write("def brew(beans):\n    return grind('\u202e')\n\n\ndef grind(beans):\n    return beans\n")
    with Workspace.open(project) as workspace:
        workspace.index()
    page = browser.get("/search?q=brew").text
    assert "/caf%E9.py:1" in page
    assert "U+202E" in page
    link = re.search(r'href="(/symbol[^"]*caf%E9[^"]*)"', page)
    assert link is not None
    assert 'aria-label="Control flow of brew"' in browser.get(html.unescape(link[1])).text


@pytest.mark.parametrize("path", ["/search?q=turn", "/symbol?s=turn", "/symbol?s=twice"])
def test_a_line_break_and_a_tab_in_the_name_of_a_file_are_shown(browser: Browser, project: Path, path: str) -> None:
    name = "new\nline\t.py"
    (project / name).write_text("def turn():\n    return 1\n\n\ndef twice():\n    return turn() + turn()\n")
    with Workspace.open(project) as workspace:
        workspace.index()
    page = browser.get(path).text
    shown = re.sub(r"<(title|input|textarea|a|button)[^>]*>|<span[^>]*>|</span>", "", page)
    assert "newU+000AlineU+0009.py" in shown


def test_code_memories_and_sessions_are_found_in_one_list_with_a_preview(browser: Browser) -> None:
    page = browser.get("/search?q=prices").text
    assert "money.py:1" in page
    assert ">memory<" in page
    id = _first_id(browser)
    assert "Open the memory" in browser.get(f"/search?q=tax&id={id}").text
    assert ">session<" in browser.get("/search?q=fix").text
    assert "Open the session" in browser.get("/search?q=fix&id=session:s-1").text
    assert re.search(r"<span>\w+ \d\.\d\d</span>", browser.get("/search?q=how+is+tax+added&explain=1").text)


def test_what_models_cost_is_said_by_the_price_that_was_set(browser: Browser, project: Path) -> None:
    with Workspace.open(project) as workspace, workspace.memory.store.writing() as connection:
        chat_db.add_due(connection, "s-1", 1.0)
        call = chat_db.next_due(connection)
        assert call is not None
        asked = call._replace(
            state="done", asked=time.time(), model="ollama:qwen3", input_tokens=900, output_tokens=100
        )
        chat_db.save(connection, asked)
    page = browser.get("/savings").text
    assert "ollama:qwen3" in page
    assert "no price" in page
    assert "$0" not in page
    with Workspace.open(project) as workspace, workspace.memory.store.writing() as connection:
        chat_db.save(connection, asked._replace(cost=0.25))
    page = browser.get("/savings?by=agent").text
    assert "$0.2500" in page
    assert "claude-code: $0.25" in page
    assert "claude-code,summary" in browser.get("/savings.csv").text


def test_what_an_agent_was_shown_stands_with_the_prompt_after_which_it_was(browser: Browser, project: Path) -> None:
    with Workspace.open(project) as workspace:
        memory = workspace.memory
        id = memory.store.select(Conditions(), 1)[0].id
        begun = time.time() - 600
        for step, (event, seconds) in enumerate((("session-start", 0), ("prompt", 100), ("prompt", 200))):
            text = f"question {step}" if event == "prompt" else ""
            memory.take(Moment(f"t{step}", event, "s-5", "codex", begun + seconds, text=text))
        for seconds, why in ((1, "begin"), (110, "first"), (210, "second"), (220, "also second")):
            note_injections(memory.store, "s-5", "prompt", [(id, why, 10)], partial(float, begun + seconds))
    page = browser.get("/sessions/s-5").text
    shown = [f"<td>{why}</td>" for why in ("begin", "first", "second", "also second")]
    order = (shown[0], "question 1", shown[1], "question 2", *shown[2:])
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "4 memories, 40 tokens" in page


def test_agents_that_were_set_up_and_never_heard_of_are_named(
    browser: Browser, app: Application, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = tmp_path / "quiet"
    (quiet / ".git").mkdir(parents=True)
    Registry(app.daemon.projects.registry.folder).add(quiet, "quiet")
    assert "not heard of yet" not in browser.get("/sessions?project=quiet").text
    main(["init", "-C", str(quiet), "--agent", "claude-code", "--yes", "--no-daemon"])
    assert "not heard of yet: Claude Code." in browser.get("/sessions?project=quiet").text


def test_the_empty_search_page_asks_about_this_project(browser: Browser, project: Path) -> None:
    (project / "app.py").write_text("def main():\n    # starts the program\n    return total([1])\n")
    examples = re.findall(r'href="/search\?q=[^"]*">([^<]+)</a>', browser.get("/search").text)
    assert "callers of main" in examples


def test_nothing_to_save_is_said_and_never_estimated(browser: Browser) -> None:
    assert "No measured events" in browser.get("/savings").text
    assert browser.get("/savings.csv").text.startswith("day,agent,kind")


@pytest.mark.parametrize("path", [f"/search?q=doc/{'b' * 300}", f"/memories?file={'b' * 300}", "/memories?file=a%00b"])
def test_a_path_that_no_file_can_have_is_no_crash(browser: Browser, path: str) -> None:
    got = browser.get(path)
    assert got.status_code == 200
    assert "internal error" not in got.text


@pytest.mark.parametrize("query", ["offset=-1", "offset=x", "offset=" + "9" * 50, "types=nothing", "since=yesterday"])
def test_an_address_that_makes_no_sense_is_no_crash(browser: Browser, query: str) -> None:
    assert browser.get(f"/memories?{query}").status_code in (200, 422)


def test_the_index_is_updated_from_the_page(browser: Browser, app: Application, project: Path) -> None:
    (project / "new.py").write_text("def brand_new():\n    return 1\n")

    async def update() -> str:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://{HOST}", cookies=browser.cookies, follow_redirects=True
        ) as client:
            origin = {"origin": f"http://{HOST}"}
            got = await client.post("/system", data={"action": "rebuild"}, headers=origin)
            assert "The index is being updated." in got.text
            while "indexed in" not in got.text:
                await asyncio.sleep(0.05)
                got = await client.get("/system")
            return got.text

    assert "3 files indexed in" in asyncio.run(update())


def test_tabs_of_several_projects_have_titles_that_tell_which(
    browser: Browser, app: Application, tmp_path: Path
) -> None:
    assert "<title>Week · Cairn</title>" in browser.get("/").text
    (tmp_path / "fresh" / ".git").mkdir(parents=True)
    app.daemon.projects.registry.add(tmp_path / "fresh", "fresh")
    assert "<title>Week · shop · Cairn</title>" in browser.get("/?project=shop").text
    assert "<title>System · fresh · Cairn</title>" in browser.get("/system").text
    page = browser.get(f"/system?{urlencode({'project': tmp_path / 'fresh'})}").text  # its folder names it, too
    assert "<title>System · fresh · Cairn</title>" in page
    assert "<h2>Index of fresh</h2>" in page


def test_what_is_not_indexed_yet_is_indexed_from_the_page(browser: Browser, app: Application, tmp_path: Path) -> None:
    root = tmp_path / "fresh"
    (root / ".git").mkdir(parents=True)
    (root / "sun.py").write_text("def shine():\n    return 1\n")
    app.daemon.projects.registry.add(root, "fresh")
    page = browser.get("/system?project=fresh").text
    assert "this project is not indexed yet" in page
    assert "<h2>Index of fresh</h2>" in page
    assert "<dt>Files</dt><dd>1 in 1 chunk," in _do_on_system(
        browser, app, "index", "1 file indexed", "/system?project=fresh"
    )


def test_while_an_index_is_built_its_page_looks_how_far_it_is(
    browser: Browser, app: Application, project: Path
) -> None:
    async def act() -> str:
        transport = httpx.ASGITransport(app=app)
        address = f"http://{HOST}"
        async with httpx.AsyncClient(transport=transport, base_url=address, cookies=browser.cookies) as client:
            await client.post("/system", data={"action": "rebuild"}, headers={"origin": address})
            return (await client.get("/system")).text

    with write_lock(project / ".cairn" / "index.lock", 1.0, INDEX):  # so the build waits
        page = asyncio.run(act())
    index = page[page.index('id="index"') : page.index('id="embedding"')]
    assert "every 1s" in index
    assert "<progress" in index
    assert "0 of 0 files" not in index


def test_one_of_something_is_not_said_to_be_several(browser: Browser, project: Path) -> None:
    (project / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with Workspace.open(project) as workspace:
        workspace.index()
    (project / "money.py").touch()
    page = browser.get("/system").text
    assert "<dt>Skipped</dt><dd>1 file</dd>" in page
    assert not re.search(r"\b1 (files|requests|chunks|questions)\b", page + browser.get("/").text)


def test_every_match_of_an_exact_search_can_be_reached(browser: Browser, project: Path) -> None:
    for number in range(120):
        (project / f"part{number}.py").write_text(f"# TODO {number}\n")
    page = browser.get("/search?q=%22TODO%22").text
    assert page.count("<li data-row") == 20
    assert "100 more matches" in page
    link = re.search(r'href="([^"]*)">Show more', page)
    assert link is not None
    page = browser.get(html.unescape(link[1])).text
    assert page.count("<li data-row") == 100
    assert "20 more matches" in page
    page = browser.get("/search?q=%22TODO%22&limit=99999999999").text
    assert page.count("<li data-row") == 120
    assert "Show more" not in page


def test_each_question_that_the_page_offers_finds_something(browser: Browser, project: Path) -> None:
    (project / "start.py").write_text("def main():\n    run()\n\n\ndef run():\n    main()\n")
    offered = re.findall(r'<li><a href="(/search[^"]*)"', browser.get("/search").text)
    assert len(offered) == 5
    for address in offered:
        page = browser.get(html.unescape(address)).text
        assert page.count("<li data-row") > 0, address
        assert "exactly; these are related" not in page


@pytest.mark.parametrize(
    ("path", "typed", "said"),
    [
        ("/memories?text=tax&since=yesterdayish", "yesterdayish", "is not a date"),
        ("/memories?q=tax&until=soon", "soon", "is not a date"),
        ("/sessions?agent=codex&since=yesterdayish", "yesterdayish", "is not a date"),
        ("/search?q=tax&lang=klingon", "klingon", "no language is called klingon"),
        ("/search?q=tax&lang=python&in=%5Ba", "[a", ""),
    ],
)
def test_a_filter_that_makes_no_sense_is_mended_where_it_was_typed(
    browser: Browser, path: str, typed: str, said: str
) -> None:
    got = browser.get(path)
    assert (got.status_code == 422 or got.status_code == 400) == bool(said)
    assert said in got.text
    assert f'value="{typed}"' in got.text
    assert ("Nothing was found" in got.text or "Nothing is remembered" in got.text) != bool(said)


@pytest.mark.parametrize("path", ["/memories", "/sessions"])
def test_behind_the_end_of_a_list_its_last_rows_are_shown(browser: Browser, path: str) -> None:
    n_shown = browser.get(path).text.count("<li data-row>")
    assert n_shown > 0
    assert browser.get(f"{path}?offset=25").text.count("<li data-row>") == n_shown
    assert browser.get(f"{path}?offset=10000000").text.count("<li data-row>") == n_shown
    assert browser.get("/doubtful?offset=10000000").status_code == 200


def test_what_can_be_mended_is_mended_from_the_page(browser: Browser) -> None:
    got = browser.post("/system", {"action": "fix"})
    assert "What could be mended is mended." in browser.get(got.headers["location"]).text
    assert browser.post("/system", {"action": "explode"}).status_code == 422


def test_of_a_name_with_several_definitions_one_is_chosen(browser: Browser, project: Path) -> None:
    (project / "other.py").write_text("def tax():\n    return 2\n")
    page = browser.get("/symbol?s=tax").text
    assert "Several definitions are called tax" in page
    assert "other.py:1" in page


def test_what_a_name_may_mean_is_said_where_no_single_answer_can_be_given(browser: Browser, project: Path) -> None:
    for folder in ("north", "south"):
        (project / folder).mkdir()
        (project / folder / "app.py").write_text("def run():\n    return 1\n")
    page = browser.get("/symbol?s=app.py").text
    assert "may be any of 2: north/app.py, south/app.py" in page
    assert "<h1>What app.py may mean</h1>" in page


def test_a_file_whose_own_code_calls_something_is_called_by_its_name(browser: Browser, project: Path) -> None:
    (project / "till.py").write_text("def open(): ...\nfrom money import tax\nprint(tax(1))\n")
    page = browser.get("/symbol?s=tax").text
    assert '<a href="/symbol?s=till.py">till.py</a> <span class="quiet mono">till.py</span>' in page
    assert page.count(">till.py</text>") == 2  # in what calls it, and in what a change may break
    page = browser.get("/symbol?s=till.py").text
    assert '<h1>till.py <span class="quiet">file</span></h1>' in page
    assert 'aria-label="What calls till.py, and what it calls"' in page


def test_a_memory_whose_code_is_gone_waits_on_the_first_page(browser: Browser, project: Path) -> None:
    (project / "money.py").unlink()
    assert "its code is gone: money.py" in browser.get("/").text
    assert "its code is gone: money.py" in browser.get("/doubtful").text


def test_what_a_session_asked_is_shown_and_can_be_called_bad(browser: Browser) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    for query in ("total of prices", "zebra quagga okapi"):
        document = {"project": "shop", "query": query, "session": "s-1"}
        assert browser.ask("POST", "/api/search", json=document, headers=headers).status_code == 200
    page = browser.get("/sessions/s-1").text
    assert "total of prices" in page
    assert "zebra quagga" in page
    found = re.search(r'name="id" value="(c_[^"]+|[^"]*#[^"]*)"', page)
    assert found is not None
    came = {"referer": f"http://{HOST}/sessions/s-1"}
    got = browser.post("/feedback", {"id": found[1], "session": "s-1", "verdict": "bad"}, **came)
    assert got.status_code == 303
    assert "Noted: that did not help." in browser.get(got.headers["location"]).text
    assert "zebra quagga" in browser.get("/").text


@pytest.mark.parametrize(
    "data", [{}, {"id": "m_ffffffff", "verdict": "bad"}, {"id": "c_1", "verdict": "awful", "session": "s-1"}]
)
def test_a_verdict_on_nothing_is_refused(browser: Browser, data: dict[str, str]) -> None:
    assert browser.post("/feedback", data).status_code in (404, 422)


def test_versions_of_the_tuning_are_listed_used_and_rolled_back(browser: Browser, project: Path) -> None:
    page = browser.get("/tuning").text
    assert "cairn optimize run" in page
    assert "0 commits, 0 questions of sessions" in page
    with Workspace.open(project) as workspace:
        evidence: dict[str, Any] = {
            "before": {"ndcg": 0.5},
            "after": {"ndcg": 0.6},
            "gain": {"low": 0.05, "high": 0.15},
        }
        changed = [
            {"text": "Sum up carts", "group": "abc", "before": 0.25, "after": 1.0},
            {"text": "", "group": "codex:s-7", "before": 0.5, "after": 0.0},
        ]
        evidence |= {"answers": {"better": 7, "worse": 1, "changed": changed}}
        made = workspace.tuning.versions.add(SHIPPED._replace(history_share=0.5), "proposed", evidence)
    page = browser.get(f"/tuning?version={made.number}").text
    assert "+0.050 to +0.150" in page
    assert "7 answers better, 1 worse" in page
    assert re.search("Sum up carts.*0.250.*1.000.*[+]0.750.*/sessions/codex:s-7.*-0.500", page, re.DOTALL)
    assert "history" in page
    used = browser.post("/tuning", {"action": "apply", "version": str(made.number)})
    assert f"Version {made.number} is used now." in browser.get(used.headers["location"]).text
    back = browser.post("/tuning", {"action": "rollback"})
    assert "Version 0 is used again." in browser.get(back.headers["location"]).text
    assert browser.post("/tuning", {"action": "apply", "version": "x"}).status_code == 422


def test_a_form_larger_than_any_of_ours_is_refused(browser: Browser) -> None:
    got = browser.post("/memories", {"action": "archive", "id": "m_1" * 1_000_000})
    assert got.status_code == 413
    assert "the form is larger than" in got.text
    many = {"action": "archive", "id": [f"m_{number}" for number in range(20_001)]}
    assert browser.post("/memories", many).status_code == 422


# -- what can be wrong -------------------------------------------------------------------------------------------------


def test_a_project_whose_folder_is_gone_is_said_on_every_page(browser: Browser, project: Path) -> None:
    shutil.rmtree(project)
    for path in (*_pages(), "/search?q=tax", "/symbol?s=tax", "/memories/m_1", "/sessions/s-1"):
        for named in ("project=shop", ""):
            got = browser.get(f"{path}{'&' if '?' in path else '?'}{named}" if named else path)
            if path not in _OF_NO_PROJECT:
                assert got.status_code >= 400, path
                assert ('role="alert"' if named else "<h1>No project yet</h1>") in got.text, path
            assert "nternal error" not in got.text, path
            assert got.status_code != 500, path
    for path, action in (("/memories", "archive"), ("/system", "index"), ("/system", "fix"), ("/tuning", "rollback")):
        assert browser.post(path, {"action": action, "id": "m_1"}).status_code != 500, path
    assert not project.exists()


def test_a_project_whose_folder_is_gone_is_offered_no_more(
    browser: Browser, app: Application, tmp_path: Path, project: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Registry(app.daemon.projects.registry.folder).add(other, "other")
    assert '<option value="other">' in browser.get("/log").text
    other.rmdir()
    assert '<option value="other"' not in browser.get("/log").text
    assert '<option value="other" selected>' in browser.get("/sessions?project=other").text
    assert 'data-go="m"' in browser.get("/memories").text
    got = browser.ask("GET", "/api/projects", headers={"authorization": f"Bearer {TOKEN}"})
    assert [row["name"] for row in got.json()] == ["shop"]


@pytest.mark.parametrize("name", ["memory.db", "index.db"])
@pytest.mark.parametrize("damage", [b"", b"not a database" * 1_000])
def test_with_a_damaged_store_every_page_says_what_is_wrong(
    browser: Browser, app: Application, project: Path, name: str, damage: bytes
) -> None:
    browser.get("/")
    app.daemon.projects.close()
    store = project / ".cairn" / name
    for log in project.glob(f".cairn/{name}-*"):
        log.unlink()
    store.write_bytes(damage)
    folder = app.daemon.projects.registry.folder
    later = Browser(create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard]))
    later.cookies = browser.cookies
    for path in (*_pages(), "/search?q=tax", "/symbol?s=tax", "/memories/m_1", "/sessions/s-1"):
        got = later.get(path)
        assert got.status_code in (200, 404, 409), path
        assert got.status_code == 200 or 'role="alert"' in got.text, path
        assert "nternal error" not in got.text, path
    if name == "memory.db" and damage:
        assert store.read_bytes() == damage
    later.app.daemon.projects.close()


def test_a_text_that_is_too_long_to_be_kept_is_refused_whole(browser: Browser) -> None:
    id = _first_id(browser)
    got = browser.post(f"/memories/{id}", {"text": "word " * 10_000, "type": "gotcha", "tags": ""})
    assert got.status_code == 422
    assert 'role="alert"' in got.text
    assert "Prices carry tax" in browser.get(f"/memories/{id}").text


def test_a_damaged_memory_is_said_on_the_page_and_left_as_it_is(
    browser: Browser, app: Application, project: Path
) -> None:
    app.daemon.projects.close()
    (store,) = project.glob(".cairn/memory.db")
    for log in project.glob(".cairn/memory.db-*"):
        log.unlink()
    store.write_bytes(b"not a database" * 1_000)
    folder = app.daemon.projects.registry.folder
    later = Browser(create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard]))
    later.cookies = browser.cookies
    got = later.get("/memories")
    assert got.status_code == 409
    assert "cairn doctor" in got.text
    assert later.get("/search?q=tax").status_code == 200
    assert store.read_bytes().startswith(b"not a database")
    later.app.daemon.projects.close()


def test_a_long_memory_of_long_words_is_shown(browser: Browser, project: Path) -> None:
    text = " ".join(f"{number}{'w' * 300}" for number in range(160))
    with Workspace.open(project) as workspace:
        made = workspace.memory.remember(text[:48_000], actor="person:me")
    page = browser.get(f"/memories/m_{made.observation.id[-10:]}")
    assert page.status_code == 200
    assert "9wwww" in page.text


def test_of_two_tabs_that_archive_the_same_the_second_is_told(browser: Browser) -> None:
    id = _first_id(browser)
    for _ in range(2):
        got = browser.post("/memories", {"action": "archive", "id": id})
        assert got.status_code == 303
    assert "archived" in browser.get(f"/memories/{id}").text


def test_a_browser_stays_signed_in_when_the_daemon_is_restarted(browser: Browser, app: Application) -> None:
    folder = app.daemon.projects.registry.folder
    later = Browser(create_app(Settings(), folder=folder, token="another", extensions=[dashboard]))
    later.cookies = browser.cookies
    assert later.get("/memories").status_code == 200
    later.app.daemon.projects.close()
