"""The daemon's application, asked as HTTP asks it, without a network."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any

import httpx
import pytest

from cairn.client import Client
from cairn.config import Settings, load
from cairn.consent import Consents
from cairn.daemon.app import Application, create_app
from cairn.daemon.routes import all_routes
from cairn.daemon.state import Limits
from cairn.errors import BusyError, CairnError, NotFoundError, QueryError
from cairn.folders import state_folder
from cairn.mcp.http import InProcess
from cairn.protocol.documents import answer_to_dict
from cairn.protocol.requests import FetchRequest, SearchRequest
from cairn.protocol.table import OPERATIONS
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from conftest import Git
from serving import TOKEN, AsgiTransport, make_app, serving

CODE = '''"""Money."""


def total(prices):
    """Add up the prices of a cart."""
    return sum(tax(price) for price in prices)


def tax(price):
    """Add the tax to a price."""
    return price * 1.2
'''
TEST = "from money import total\n\n\ndef test_total():\n    assert total([1]) == 1.2\n"
AUTHORIZED = {"authorization": f"Bearer {TOKEN}"}


Ask = Callable[..., httpx.Response]


def asker(app: Application) -> Ask:
    """Return a function that sends one request to an application."""

    def ask(method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - of httpx
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:37800") as client:
                headers = options.pop("headers", AUTHORIZED)
                return await client.request(method, path, headers=headers, timeout=60, **options)

        return asyncio.run(send())

    return ask


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "money.py").write_text(CODE)
    (root / "test_money.py").write_text(TEST)
    with Workspace.open(root) as workspace:
        workspace.index()
    return root


@pytest.fixture
def bare(tmp_path: Path) -> Ask:
    """Ask a daemon without projects, for what is refused before one is needed."""
    return asker(make_app(tmp_path / "state"))


@pytest.fixture
def app(tmp_path: Path, project: Path) -> Iterator[Application]:
    found = make_app(tmp_path / "state", project)
    yield found
    assert found.daemon.projects.close()


@pytest.fixture
def ask(app: Application) -> Ask:
    return asker(app)


def check_error(response: httpx.Response, status: int, code: str) -> None:
    """Every error is a code, a message and a hint."""
    assert response.status_code == status, response.text
    document = response.json()
    assert set(document) - {"next"} == {"code", "message", "hint"}
    assert document["code"] == code
    assert document["message"]
    assert document["hint"]


# -- operations --------------------------------------------------------------------------------------------------------


def test_a_search_answers_as_the_workspace_does(ask: Ask, project: Path) -> None:
    got = ask("POST", "/api/search", json={"project": "shop", "query": "add up prices"}).json()
    with Workspace.open(project) as workspace:
        expected = json.loads(json.dumps(answer_to_dict(workspace.search("add up prices"))))
    assert got["code"][0]["name"] == "total"
    assert {**got, "took_ms": 0} == {**expected, "took_ms": 0}


def test_an_edit_is_found_by_the_next_search(ask: Ask, project: Path) -> None:
    ask("POST", "/api/search", json={"query": "add up prices"})
    (project / "more.py").write_text("def discount(price):\n    return price / 2\n")
    for _ in range(50):
        got = ask("POST", "/api/search", json={"query": "discount", "update": True}).json()
        if not any("another process is updating the index" in note for note in got.get("notes", ())):
            break  # else the watcher was taking the edit in, and the answer says that it is from before
    assert got["code"][0]["filepath"] == "more.py"


def test_what_changed_while_no_daemon_ran_is_found_by_the_first_search(ask: Ask, project: Path) -> None:
    (project / "more.py").write_text("def discount(price):\n    return price / 2\n")
    assert ask("POST", "/api/search", json={"query": "discount"}).json()["code"][0]["filepath"] == "more.py"


def test_similar_code_is_found_for_a_place_and_for_a_text(ask: Ask, project: Path) -> None:
    (project / "copy.py").write_text(CODE)
    got = ask("POST", "/api/similar", json={"file": "money.py", "line": 1, "update": True}).json()
    assert (got["mode"], got["query"]) == ("similar", "money.py:1")
    assert (got["code"][0]["filepath"], got["code"][0]["match"]) == ("copy.py", "exact")
    code = CODE[CODE.index("def total") : CODE.index("def tax")]
    found = ask("POST", "/api/similar", json={"code": code, "languages": ["python"], "globs": ["copy.py"]}).json()
    assert [(hit["filepath"], hit["match"]) for hit in found["code"]][:1] == [("copy.py", "exact")]
    cut = ask("POST", "/api/similar", json={"code": code, "max_tokens": 1}).json()
    assert (cut["code"], cut["omitted"] > 0) == ([], True)


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({}, 400, "query"),
        ({"file": "money.py", "code": "x = 1"}, 400, "query"),
        ({"code": " "}, 400, "query"),
        ({"file": "money.py", "line": 999}, 404, "not-found"),
        ({"file": "gone.py"}, 404, "not-found"),
        ({"file": "money.py", "line": 0}, 422, "request"),
        ({"file": "money.py", "languages": ["klingon"]}, 400, "query"),
    ],
)
def test_similar_needs_one_thing_that_others_can_be_compared_with(
    ask: Ask, asked: dict[str, object], status: int, code: str
) -> None:
    check_error(ask("POST", "/api/similar", json=asked), status, code)


def test_hits_are_fetched_and_cut_to_the_budget(ask: Ask) -> None:
    (hit, *_) = ask("POST", "/api/search", json={"query": "total"}).json()["code"]
    (whole,) = ask("POST", "/api/fetch", json={"ids": [hit["id"]]}).json()
    assert whole["text"].startswith("def total")
    assert "omitted_lines" not in whole
    cut, nothing = ask("POST", "/api/fetch", json={"ids": [hit["id"], hit["id"]], "max_tokens": 115}).json()
    assert whole["text"].startswith(cut["text"])
    assert cut["omitted_lines"] >= 1
    assert nothing["text"] == ""
    assert nothing["omitted_lines"] == 3


def test_what_an_outline_names_is_on_disk_and_not_on_a_branch(ask: Ask) -> None:
    asked = {"ids": ["money.py#total"], "branch": "side"}
    check_error(ask("POST", "/api/fetch", json=asked), 404, "not-found")


def test_an_outline_lists_what_a_file_defines(ask: Ask) -> None:
    got = ask("POST", "/api/outline", json={"file": "money.py"}).json()
    assert [symbol["name"] for symbol in got["symbols"]] == ["total", "tax"]


@pytest.mark.parametrize(
    ("question", "asked", "field"),
    [
        ("callers", {"symbol": "tax"}, "links"),
        ("callees", {"symbol": "total"}, "links"),
        ("path", {"source": "total", "target": "tax"}, "steps"),
        ("importers", {"target": "money.py"}, "importers"),
        ("impact", {"symbol": "tax"}, "affected"),
        ("tests", {"symbol": "total"}, "tests"),
    ],
)
def test_the_symbol_graph_answers_within_the_budget(ask: Ask, question: str, asked: dict[str, str], field: str) -> None:
    whole = ask("POST", f"/api/graph/{question}", json=asked).json()
    assert whole[field]
    cut = ask("POST", f"/api/graph/{question}", json={**asked, "max_tokens": 1}).json()
    assert cut[field] == []
    assert cut.get("omitted", 0) > 0 or " fit " in cut["notes"][-1]


def test_a_context_shows_callers_and_tests_of_what_was_chosen(ask: Ask) -> None:
    (hit, *_) = ask("POST", "/api/search", json={"query": "total"}).json()["code"]
    got = ask("POST", "/api/context", json={"ids": [hit["id"]]}).json()
    (item,) = got["items"]
    assert item["name"] == "total"
    assert "test_money.py" in item["text"]
    assert got["tokens"] >= item["tokens"]


def test_a_context_for_a_task_finds_by_itself_what_it_needs(ask: Ask) -> None:
    got = ask("POST", "/api/context", json={"task": "change how the tax is added", "files": ["test_money.py"]}).json()
    assert got["items"][0]["filepath"] == "test_money.py"
    assert "tax" in {item["name"] for item in got["items"]}


def test_a_context_keeps_to_its_budget_and_counts_what_is_left_out(ask: Ask) -> None:
    got = ask("POST", "/api/context", json={"task": "add up prices and tax", "max_tokens": 60}).json()
    assert got["tokens"] <= 60
    assert got["omitted"] > 0


@pytest.mark.parametrize("asked", [{}, {"ids": ["c_1"], "task": "something"}])
def test_a_context_needs_either_ids_or_a_task(ask: Ask, asked: dict[str, object]) -> None:
    check_error(ask("POST", "/api/context", json=asked), 422, "request")


def test_several_projects_are_searched_at_once(tmp_path: Path, project: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text(CODE)
    gone = tmp_path / "gone"
    gone.mkdir()
    app = make_app(tmp_path / "state", project, other, gone)
    gone.rmdir()
    ask = asker(app)
    got = ask("POST", "/api/search", json={"project": "all", "query": "add the tax", "limit": 2}).json()
    assert {hit["project"] for hit in got["code"]} == {"shop", "other"}
    assert len(got["code"]) == 2
    assert got["omitted"] > 0
    assert got["coverage"]["indexed"] == 3
    assert any("gone" in note for note in got["notes"])
    relevance = [hit["relevance"] for hit in got["code"]]
    assert relevance == sorted(relevance, reverse=True)
    assert {project["name"]: project["open"] for project in ask("GET", "/api/projects").json()} == {
        "shop": True, "other": True,
    }  # fmt: skip
    app.daemon.projects.close()


# -- sessions ----------------------------------------------------------------------------------------------------------


def test_a_session_is_not_sent_the_same_row_twice_unless_it_asks(ask: Ask) -> None:
    session = ask("POST", "/api/session/start", json={"agent": "an-agent"}).json()["session"]
    asked = {"query": "add up prices", "session": session}
    first = ask("POST", "/api/search", json=asked).json()["code"]
    again = ask("POST", "/api/search", json=asked).json()["code"]
    repeated = ask("POST", "/api/search", json={**asked, "repeat": True}).json()["code"]
    assert [hit["id"] for hit in again] == [hit["id"] for hit in first]
    assert all(hit["sent"] and not hit["preview"] for hit in again)
    assert repeated == first
    assert ask("POST", "/api/session/end", json={"session": session}).json() == {"session": session, "known": True}
    assert ask("POST", "/api/search", json=asked).json()["code"] == first


def test_a_session_gets_a_body_once(ask: Ask) -> None:
    (hit, *_) = ask("POST", "/api/search", json={"query": "total", "session": "mine"}).json()["code"]
    first, second = (ask("POST", "/api/fetch", json={"ids": [hit["id"]], "session": "mine"}).json() for _ in range(2))
    assert first[0]["text"]
    assert second[0]["text"] == ""
    assert second[0]["sent"] is True


def test_a_session_was_not_sent_what_found_no_room(ask: Ask) -> None:
    (hit, *_) = ask("POST", "/api/search", json={"query": "total"}).json()["code"]
    asked = {"ids": [hit["id"]], "session": "mine", "max_tokens": 1}
    for _ in range(2):
        (found,) = ask("POST", "/api/fetch", json=asked).json()
        assert (found["text"], found.get("sent", False)) == ("", False)
        assert found["omitted_lines"]


def test_events_of_other_names_versions_and_projects_are_refused(ask: Ask) -> None:
    check_error(ask("POST", "/api/hook/lunch", json={}), 404, "route")
    check_error(ask("POST", "/api/hook/prompt", json={"session": "s", "protocol": 2}), 422, "request")
    check_error(ask("POST", "/api/hook/prompt", json={"session": "s", "project": "/etc"}), 403, "project")
    check_error(ask("POST", "/api/hook/prompt", json={"session": "s", "payload": "[]"}), 422, "request")
    check_error(ask("POST", "/api/hook/prompt", json={}), 422, "request")


# -- the rest ----------------------------------------------------------------------------------------------------------


def test_health_needs_no_token_and_tells_of_limits(ask: Ask) -> None:
    got = ask("GET", "/api/health", headers={}).json()
    assert got["status"] == "ok"
    assert got["usage"]["memory_limit_mb"] == Settings().daemon_memory_mb
    assert 0 < got["usage"]["threads"] <= got["usage"]["thread_limit"]


def test_status_tells_what_is_open(ask: Ask, project: Path) -> None:
    ask("POST", "/api/search", json={"query": "tax"})
    got = ask("GET", "/api/status").json()
    assert [(project["name"], project["root"]) for project in got["open"]] == [("shop", str(project))]
    assert got["requests"] == 2


def test_settings_are_shown(ask: Ask) -> None:
    got = ask("GET", "/api/config", params={"project": "shop"}).json()
    expected = {name: value for name, value in asdict(Settings()).items() if name != "embedding"}
    assert got == {**expected, "embedding": []}


def test_settings_are_listed_set_and_unset_as_on_the_command_line(ask: Ask, project: Path) -> None:
    file = project / ".cairn" / "config.yaml"
    change = {"project": "shop", "name": "garbage_days", "shared": True}
    assert ask("POST", "/api/settings/set", json={**change, "value": "7"}).json() == {
        "name": "garbage_days", "value": 7.0, "file": str(file), "changed": True,
    }  # fmt: skip
    listed = ask("GET", "/api/settings", params={"project": "shop"}).json()
    (found,) = (setting for setting in listed["settings"] if setting["name"] == "garbage_days")
    assert (found["value"], found["source"], listed["project_file"]) == (7.0, f"{file}:1", str(file))
    assert ask("POST", "/api/settings/unset", json=change).json()["changed"]
    assert "garbage_days" not in file.read_text()


def test_what_decides_where_data_goes_is_not_set_over_http(ask: Ask) -> None:
    for name in ("daemon_host", "embedding.fallbacks", "no_such"):
        check_error(ask("POST", "/api/settings/set", json={"name": name, "value": "x"}), 422, "request")


def test_settings_that_change_hold_from_the_next_request_on(ask: Ask, project: Path) -> None:
    ask("GET", "/api/config")
    (project / ".cairn" / "config.yaml").write_text("max_file_bytes: 12345\n")
    assert ask("GET", "/api/config").json()["max_file_bytes"] == 12345
    (project / ".cairn" / "config.yaml").write_text("no_such: 1\n")
    check_error(ask("GET", "/api/config"), 400, "config")


def test_a_repository_that_comes_or_goes_is_noticed(ask: Ask, project: Path, git: Git) -> None:
    assert ask("POST", "/api/search", json={"query": "total"}).status_code == 200
    git(project, "init", "-q")
    git(project, "add", "money.py")
    git(project, "commit", "-q", "-m", "Count money")
    why = {"place": "money.py:1"}
    assert ask("POST", "/api/history/why", json=why).json()["commits"][0]["subject"] == "Count money"
    rmtree(project / ".git")
    assert ask("POST", "/api/search", json={"query": "total"}).status_code == 200
    assert ask("POST", "/api/history/why", json=why).json()["commits"] == []


def test_settings_that_are_no_file_are_told_and_hold_nothing_up(ask: Ask, project: Path) -> None:
    file = project / ".cairn" / "config.yaml"
    ask("GET", "/api/config")
    os.mkfifo(file)
    check_error(ask("GET", "/api/config"), 400, "config")
    file.unlink()
    file.symlink_to("/dev/zero")
    check_error(ask("GET", "/api/config"), 400, "config")
    file.unlink()
    assert ask("GET", "/api/config").json()["max_file_bytes"] == Settings().max_file_bytes


def test_a_model_that_a_project_asks_for_is_used_once_its_user_allows_it(ask: Ask, project: Path) -> None:
    file = project / ".cairn" / "config.yaml"
    file.write_text("embedding: {provider: ollama, model: m}\n")
    assert ask("GET", "/api/config").json()["embedding"] == []
    (note,) = ask("POST", "/api/search", json={"query": "how is a price made"}).json()["notes"]
    assert f"{file} asks for ollama:m at http://localhost:11434" in note
    assert ask("GET", "/api/index/status").json()["asks_for"] == "ollama:m at http://localhost:11434"
    asked = load(project).consent_request
    assert asked is not None
    asked.settle(allowed=True)
    assert ask("GET", "/api/config").json()["embedding"] == ["ollama: m"]
    Consents(state_folder(), project).forget()
    assert ask("GET", "/api/config").json()["embedding"] == []


def test_the_index_tells_its_state(ask: Ask) -> None:
    assert ask("GET", "/api/index/status", params={"project": "shop"}).json()["files"] == 2


def test_a_build_tells_how_far_it_is_and_what_it_did(app: Application) -> None:
    async def build() -> list[tuple[str, Any]]:
        return [event async for event in Client(AsgiTransport(app)).events("/api/index/build", {"full": True})]

    *progress, (name, report) = asyncio.run(build())
    assert [one for one, _ in progress] == ["progress"] * len(progress)
    assert progress[-1][1] == {"done": 2, "total": 2}
    assert name == "done"
    assert (report["files"], report["added"]) == (2, 2)


def test_a_build_that_fails_says_why(app: Application) -> None:
    async def build() -> None:
        async for _ in Client(AsgiTransport(app)).events("/api/index/build", {"branch": "no-such"}):
            pass

    with pytest.raises(CairnError) as caught:
        asyncio.run(build())
    assert caught.value.code == "revision"


def test_a_build_of_a_foreign_project_is_refused_before_it_begins(ask: Ask) -> None:
    check_error(ask("POST", "/api/index/build", json={"project": "/etc"}), 403, "project")


def test_a_daemon_that_is_stopping_takes_no_more(ask: Ask) -> None:
    assert ask("POST", "/api/shutdown", json={}).json() == {"stopping": True}
    response = ask("POST", "/api/search", json={"query": "tax"})
    check_error(response, 503, "busy")
    assert response.headers["retry-after"] == "0"
    assert ask("GET", "/api/health").json()["status"] == "stopping"


def test_the_client_raises_the_errors_of_the_workspace(app: Application) -> None:
    client = Client(AsgiTransport(app))

    async def use() -> None:
        async with client:
            found = await client.call("search", SearchRequest(query="total"))
            texts = await client.call("fetch", FetchRequest(ids=(found["code"][0]["id"],)))
            assert texts[0]["name"] == "total"
            assert (await client.get("/api/index/status", project="shop"))["files"] == 2
            with pytest.raises(NotFoundError, match="is not the id of a result"):
                await client.call("fetch", FetchRequest(ids=("nonsense",)))
            with pytest.raises(QueryError):
                await client.call("search", SearchRequest(query="(", mode="regex"))

    asyncio.run(use())


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "route", [route for route in all_routes() if not route.open_to_all], ids=lambda route: route.path
)
@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"}, {"authorization": TOKEN}],
    ids=["none", "wrong", "basic", "bare"],
)
def test_no_address_but_health_answers_without_the_token(bare: Ask, route: Any, headers: dict[str, str]) -> None:  # noqa: ANN401 - any route
    response = bare(route.method, route.path, headers=headers, json={} if route.method == "POST" else None)
    check_error(response, 401, "access")
    assert TOKEN not in response.text


def test_an_address_that_is_not_there_is_told_to_those_with_the_token_only(bare: Ask) -> None:
    check_error(bare("GET", "/api/nothing", headers={}), 401, "access")
    check_error(bare("GET", "/api/nothing"), 404, "route")


def test_the_head_of_what_can_be_got_is_had_alone(bare: Ask) -> None:
    assert bare("HEAD", "/api/health", headers={}).status_code == 200
    assert bare("HEAD", "/api/status", headers={}).status_code == 401
    assert bare("HEAD", "/api/status", headers=AUTHORIZED).status_code == 200
    assert bare("HEAD", "/api/search", headers=AUTHORIZED).status_code == 405


def test_a_wrong_method_names_the_right_one(bare: Ask) -> None:
    response = bare("GET", "/api/search")
    check_error(response, 405, "route")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:37800", "", "127.0.0.1@evil.example", "[::1"]
)
def test_a_foreign_host_is_refused_even_for_health(bare: Ask, host: str) -> None:
    check_error(bare("GET", "/api/health", headers={**AUTHORIZED, "host": host}), 401, "access")


@pytest.mark.parametrize("host", ["localhost:37800", "127.0.0.1", "[::1]:37800", "LOCALHOST"])
def test_the_names_of_this_machine_are_taken(bare: Ask, host: str) -> None:
    assert bare("GET", "/api/status", headers={**AUTHORIZED, "host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1.evil.example"},
        {"origin": "http://localhost@evil.example"},
        {"origin": "http://127.0.0.1:3000"},  # another program's page
        {"origin": "vscode-webview://127.0.0.1"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_what_a_foreign_page_sends_is_refused_even_with_the_token(bare: Ask, headers: dict[str, str]) -> None:
    check_error(bare("POST", "/api/search", headers={**AUTHORIZED, **headers}, json={"query": "tax"}), 401, "access")
    check_error(bare("GET", "/api/health", headers=headers), 401, "access")


@pytest.mark.parametrize(("host", "name", "status"), [
    ("0.0.0.0", "192.168.1.5:37800", 200), ("::", "[fd00::1]", 200), ("0.0.0.0", "evil.example", 401),
    ("192.168.1.5", "192.168.1.5", 200), ("192.168.1.5", "192.168.1.6", 401),
])  # fmt: skip
def test_who_listens_elsewhere_takes_his_own_address(tmp_path: Path, host: str, name: str, status: int) -> None:
    app = create_app(Settings(), folder=StateFolder(tmp_path), host=host, token=TOKEN)
    assert asker(app)("GET", "/api/status", headers={**AUTHORIZED, "host": name}).status_code == status


def test_a_page_of_the_daemon_itself_may_ask(bare: Ask) -> None:
    host = "127.0.0.1:37800"
    headers = {**AUTHORIZED, "host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    assert bare("GET", "/api/status", headers=headers).status_code == 200


def test_nothing_lets_other_origins_read_or_frame_answers(bare: Ask) -> None:
    headers = bare("GET", "/api/health").headers
    assert "access-control-allow-origin" not in headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_body_that_is_compressed_is_told_so(bare: Ask) -> None:
    headers = {**AUTHORIZED, "content-encoding": "gzip"}
    response = bare("POST", "/api/search", headers=headers, content=gzip.compress(b'{"query": "tax"}'))
    check_error(response, 422, "request")
    assert "compressed" in response.text


def test_a_form_of_a_page_is_no_request(bare: Ask) -> None:
    headers = {**AUTHORIZED, "content-type": "text/plain"}
    response = bare("POST", "/api/search", headers=headers, content=b'{"query": "tax"}')
    check_error(response, 422, "request")
    assert response.json()["hint"] == "send the header Content-Type: application/json"


@pytest.mark.parametrize(
    "name", ["/etc", "../shop", "nothing", "shop/../..", "shop\x00", "\udcff", str(Path("/").resolve())]
)
def test_projects_that_the_user_did_not_allow_are_refused(ask: Ask, name: str) -> None:
    content = json.dumps({"project": name, "query": "tax"})
    check_error(ask("POST", "/api/search", content=content), 403, "project")


def test_a_folder_inside_an_allowed_project_is_not_allowed_by_that(ask: Ask, project: Path) -> None:
    (project / "inner").mkdir()
    check_error(ask("POST", "/api/search", json={"project": str(project / "inner"), "query": "tax"}), 403, "project")


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "../outside.py", "inner/../../outside.py", "link.py", "linked/outside.py", "a\x00b", "~/x"]
)
def test_no_path_leads_out_of_the_project(ask: Ask, project: Path, file: str) -> None:
    (project.parent / "outside.py").write_text("SECRET_OUTSIDE = 1\n")
    (project / "inner").mkdir()
    (project / "link.py").symlink_to(project.parent / "outside.py")
    (project / "linked").symlink_to(project.parent)
    for path, asked in (
        ("/api/outline", {"file": file}),
        ("/api/core/add", {"file": file}),
        ("/api/context", {"files": [file]}),
        ("/api/similar", {"file": file}),
        ("/api/fetch", {"ids": [f"{file}#SECRET_OUTSIDE"]}),
        ("/api/graph/importers", {"target": file}),
        ("/api/graph/callers", {"symbol": f"{file}:1"}),
    ):
        response = ask("POST", path, json=asked)
        assert 400 <= response.status_code < 500, (path, response.text)
        assert set(response.json()) - {"next"} == {"code", "message", "hint"}
        assert "= 1" not in response.text
        assert "root:" not in response.text


@pytest.mark.parametrize("file", ["x" * 300, "x" * 900 + "/y", "a\x00b"])
def test_a_path_that_no_file_can_have_is_of_no_file(ask: Ask, file: str) -> None:
    for path, asked, status in (
        ("/api/memories", {"file": file}, 200),
        ("/api/sessions", {"file": file}, 200),
        ("/api/history", {"query": file}, 200),
        ("/api/remember", {"text": "Prices carry tax.", "files": [file]}, 400),
        ("/api/outline", {"file": file}, 400),
        ("/api/flow", {"place": f"{file}:3"}, 400),
        ("/api/history/related", {"file": file}, 404),
    ):
        response = ask("POST", path, json=asked)
        assert response.status_code == status, (path, response.text)


@pytest.mark.parametrize(
    ("content", "code", "status"),
    [
        (b"", "request", 422),
        (b"[]", "request", 422),
        (b"{", "request", 422),
        (b"\xff\xfe", "request", 422),
        (b'{"query": 1}', "request", 422),
        (b'{"query": "a", "wat": 1}', "request", 422),
        (b'{"query": ""}', "query", 400),
        (b'{"query": "a", "limit": -1}', "request", 422),
        (b"[" * 100_000, "request", 422),
        (b'{"query": "(", "mode": "regex"}', "query", 400),
        (b'{"query": "a", "branch": "no-such"}', "revision", 400),
        (b'{"query": "a", "branch": "--help"}', "revision", 400),
        (b'{"query": "\\ud800"}', "request", 422),
    ],
    ids=range(13),
)
def test_a_request_that_is_wrong_is_told_so(ask: Ask, content: bytes, code: str, status: int) -> None:
    check_error(ask("POST", "/api/search", content=content), status, code)


@pytest.mark.parametrize(
    "query", ["wat=1", "project=a&project=b", "project=" + "x" * 5_000, "%ff=1", "&".join("a" * 50)]
)
def test_a_query_of_an_address_that_is_wrong_is_told_so(ask: Ask, query: str) -> None:
    check_error(ask("GET", f"/api/index/status?{query}"), 422, "request")


@pytest.mark.parametrize("path", ["/api/health", "/api/status", "/api/projects", "/openapi.json"])
def test_what_takes_no_field_refuses_every_one(bare: Ask, path: str) -> None:
    check_error(bare("GET", f"{path}?{'a' * 500}"), 422, "request")
    assert bare("GET", path).status_code == 200


def test_a_header_that_is_there_twice_is_refused(ask: Ask) -> None:
    headers = [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")]
    check_error(ask("GET", "/api/status", headers=headers), 422, "request")
    check_error(ask("GET", "/api/health", headers=[("host", "localhost"), ("host", "evil.example")]), 422, "request")


@pytest.mark.parametrize("claimed", [True, False])
def test_a_body_beyond_the_limit_is_refused_whatever_it_claims(tmp_path: Path, project: Path, claimed: bool) -> None:
    ask = asker(make_app(tmp_path / "state", project, limits=Limits(body_bytes=1_000)))
    body = b'{"query": "' + b"x" * 2_000 + b'"}'

    async def stream() -> Any:  # noqa: ANN401 - an async generator
        for _ in range(10):
            yield body

    response = ask("POST", "/api/search", content=body if claimed else stream())
    check_error(response, 413, "too-large")
    assert response.headers["connection"] == "close"


@pytest.mark.parametrize("claimed", [True, False])
def test_a_body_of_just_the_limit_is_taken(tmp_path: Path, project: Path, claimed: bool) -> None:
    app = make_app(tmp_path / "state", project, limits=Limits(body_bytes=1_000))
    body = b'{"query": "tax"}'.ljust(1_000)

    async def stream(content: bytes) -> Any:  # noqa: ANN401 - an async generator
        yield content[:600]
        yield content[600:]

    response = asker(app)("POST", "/api/search", content=body if claimed else stream(body))
    assert response.status_code == 200, response.text
    response = asker(app)("POST", "/api/search", content=body + b" " if claimed else stream(body + b" "))
    check_error(response, 413, "too-large")
    app.daemon.projects.close()


def test_a_body_that_is_cut_off_is_not_carried_out(app: Application) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:  # noqa: ANN401 - ASGI's
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode()), (b"content-length", b"20")]
    scope = {"type": "http", "method": "POST", "path": "/api/shutdown", "query_string": b"", "headers": headers}
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 422
    assert not app.daemon.stopping


def test_a_body_that_does_not_come_is_given_up(tmp_path: Path, project: Path) -> None:
    app = make_app(tmp_path / "state", project, limits=Limits(body_seconds=0.05))

    async def body() -> Any:  # noqa: ANN401 - an async generator
        yield b"{"
        await asyncio.Event().wait()

    response = asker(app)("POST", "/api/search", content=body())
    check_error(response, 408, "slow")


def test_an_answer_that_takes_too_long_is_given_up(tmp_path: Path, project: Path) -> None:
    app = make_app(tmp_path / "state", project, limits=Limits(answer_seconds=0.0))
    check_error(asker(app)("POST", "/api/search", json={"query": "tax"}), 503, "busy")
    app.daemon.projects.close()


def test_an_answer_is_given_where_no_thread_can_be_started_for_what_follows_it(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if thread.name.startswith("cairn-behind"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    app = make_app(tmp_path / "state", project)
    answer = asker(app)("POST", "/api/graph/callers", json={"symbol": "total"})
    assert answer.status_code == 200, answer.text
    app.daemon.projects.close()


def test_a_question_given_up_keeps_only_its_own_project_busy(tmp_path: Path, project: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text(CODE)
    app = make_app(tmp_path / "state", project, other, settings=replace(Settings(), daemon_threads=2))
    projects, held = app.daemon.projects, threading.Event()

    async def use() -> None:
        for _ in range(3):  # more than there are threads
            with pytest.raises(BusyError):
                await projects.run("shop", lambda _: held.wait(60), timeout_seconds=0.05)
        assert projects.states()[0].waiting == 1
        assert await projects.run("other", lambda workspace: workspace.root.name, timeout_seconds=60) == "other"
        held.set()
        assert await projects.run("shop", lambda workspace: workspace.root.name, timeout_seconds=60) == "shop"

    asyncio.run(use())
    assert projects.close()


def test_a_build_keeps_no_question_waiting(tmp_path: Path, project: Path) -> None:
    app = make_app(tmp_path / "state", project)
    held = threading.Event()

    async def use() -> None:
        building = asyncio.create_task(app.daemon.projects.run_apart("shop", lambda _: held.wait(60)))
        await asyncio.sleep(0)
        assert await app.daemon.projects.run("shop", lambda workspace: workspace.root.name) == "shop"
        assert not building.done()
        held.set()
        await building

    asyncio.run(use())
    assert app.daemon.projects.close()


def test_many_builds_at_once_keep_no_question_waiting(tmp_path: Path, project: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    projects = make_app(tmp_path / "state", project, other).daemon.projects
    held = threading.Event()
    at_work: list[str] = []

    def build(workspace: Workspace) -> None:
        at_work.append(workspace.root.name)
        held.wait(60)

    async def use() -> None:
        building = [asyncio.create_task(projects.run_apart("shop", build)) for _ in range(10)]
        await asyncio.sleep(0)
        assert await projects.run("other", lambda workspace: workspace.root.name, timeout_seconds=60) == "other"
        assert at_work in ([], ["shop"])  # of one project they take turns
        held.set()
        await asyncio.gather(*building)

    asyncio.run(use())
    assert at_work == ["shop"] * 10
    assert projects.close()


def test_a_search_during_a_build_anew_finds_what_it_found_before(app: Application, ask: Ask) -> None:
    asked = {"query": "total", "mode": "symbol"}
    before = ask("POST", "/api/search", json=asked).json()["code"]
    assert before
    with Workspace.open(app.daemon.projects.states()[0].root) as other:
        begun = threading.Event()

        def search_behind(done: int, total: int) -> None:
            begun.set()
            time.sleep(0.2)

        building = threading.Thread(target=lambda: other.index(full=True, progress=search_behind))
        building.start()
        assert begun.wait(30)
        during = ask("POST", "/api/search", json=asked).json()["code"]
        building.join()
    assert [hit["name"] for hit in during] == [hit["name"] for hit in before]


def test_more_requests_than_the_limit_are_refused(tmp_path: Path, project: Path) -> None:
    app = make_app(tmp_path / "state", project, limits=Limits(requests=0))
    check_error(asker(app)("GET", "/api/status"), 503, "busy")


def test_no_project_is_opened_beyond_the_ceiling_on_memory(tmp_path: Path, project: Path) -> None:
    settings = replace(Settings(), daemon_memory_mb=128)
    held = bytearray(130_000_000)
    app = make_app(tmp_path / "state", project, settings=settings)
    check_error(asker(app)("POST", "/api/search", json={"query": "tax"}), 503, "busy")
    assert len(held) == 130_000_000  # kept until here


def test_a_project_whose_folder_is_gone_is_told_so(tmp_path: Path) -> None:
    root = tmp_path / "gone"
    root.mkdir()
    app = make_app(tmp_path / "state", root)
    root.rmdir()
    check_error(asker(app)("POST", "/api/search", json={"query": "tax"}), 403, "project")
    app.daemon.projects.close()


def test_without_any_project_the_daemon_says_how_to_allow_one(tmp_path: Path) -> None:
    check_error(asker(make_app(tmp_path / "state"))("POST", "/api/search", json={"query": "tax"}), 403, "project")
    response = asker(make_app(tmp_path / "state"))("POST", "/api/search", json={"query": "tax", "project": "all"})
    check_error(response, 403, "project")


def test_a_hundred_questions_at_once_are_all_answered(app: Application) -> None:
    client = Client(AsgiTransport(app))

    async def use() -> list[Any]:
        asked = [SearchRequest(query="tax" if number % 2 else "total") for number in range(100)]
        return await asyncio.gather(*(client.call("search", request) for request in asked))

    for number, found in enumerate(asyncio.run(use())):
        assert found["code"][0]["name"] == ("tax" if number % 2 else "total")


def test_an_event_of_a_project_that_is_not_indexed_is_taken_in(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    app = make_app(tmp_path / "state", tmp_path / "bare")
    assert asyncio.run(app.daemon.projects.run_at_once("bare", lambda workspace: workspace.root.name)) == "bare"
    assert app.daemon.projects.close()


def test_idle_projects_are_closed(tmp_path: Path, project: Path) -> None:
    app = make_app(tmp_path / "state", project, settings=replace(Settings(), daemon_project_minutes=0.0))
    projects = app.daemon.projects

    async def ask_and_tidy() -> None:
        await Client(AsgiTransport(app)).call("search", SearchRequest(query="tax"))
        for _ in range(1_000):  # the question is noted after its answer
            await asyncio.sleep(0.01)
            await projects.tidy()
            if not projects.states():
                return

    asyncio.run(ask_and_tidy())
    assert projects.states() == []
    assert asker(app)("POST", "/api/search", json={"query": "tax"}).json()["code"]
    projects.close()


def test_every_operation_has_an_address_and_a_description(ask: Ask) -> None:
    paths = ask("GET", "/openapi.json").json()["paths"]
    assert {f"/api/{name}" for name in OPERATIONS} <= set(paths)
    assert {route.path for route in all_routes()} == set(paths)
    assert paths["/api/search"]["post"]["requestBody"]["required"]
    assert not paths["/api/core/list"]["post"]["requestBody"]["required"]  # nothing of it has to be said
    assert ask("POST", "/api/core/list").status_code == 200


def test_a_registry_damaged_while_the_daemon_runs_is_no_crash(app: Application, ask: Ask, tmp_path: Path) -> None:
    StateFolder(tmp_path / "state").projects.write_text("{")
    check_error(ask("POST", "/api/search", json={"query": "tax"}), 403, "project")
    assert Registry(StateFolder(tmp_path / "state")).projects() == ()


# -- nobody waits any more ---------------------------------------------------------------------------------------------

SLOW = {"query": "[ab]*a[ab]{900}c" * 6, "mode": "regex"}  # takes far longer than any of these tests


@pytest.fixture
def slow(project: Path) -> Path:
    """A project in which to search for `SLOW` takes minutes."""
    letters = Random(1)
    for number in range(4):
        lines = ("".join(letters.choices("ab", k=2_000)) for _ in range(150))
        (project / f"{number}.txt").write_text("\n".join(lines))
    with Workspace.open(project) as workspace:
        workspace.index()
    return project


def _until_idle(app: Application, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while (busy := any(project.waiting for project in app.daemon.projects.states())) and time.monotonic() < until:
        time.sleep(0.02)
    return not busy


def _until_busy(app: Application) -> None:
    until = time.monotonic() + 60
    while not any(project.waiting for project in app.daemon.projects.states()) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(1)  # the search itself


@pytest.fixture
def intricate(project: Path) -> Path:
    """A project in which to resolve what refers to what takes long: thousands of types, each with 200 bases."""
    makers = "".join(f"class Top{number}:\n    pass\n\n\n" for number in range(200))
    middle = "".join(
        f"class Mid{number}({', '.join(f'Top{number * 13 + top}' for top in range(13))}):\n    pass\n\n\n"
        for number in range(14)
    )
    bases = ", ".join(f"Mid{number}" for number in range(14))
    leaves = (
        f"class Leaf{number}({bases}):\n    def go_{number}(self):\n        self.missing_{number}()\n\n\n"
        for number in range(4_000)
    )
    (project / "types.py").write_text(makers + middle + "".join(leaves))
    with Workspace.open(project) as workspace:
        workspace.index()
    return project


@pytest.mark.parametrize(
    ("folder", "path", "asked"),
    [("slow", "/api/search", SLOW), ("intricate", "/api/graph/impact", {"symbol": "tax", "update": False})],
)
def test_work_ends_when_whoever_asked_hangs_up(
    tmp_path: Path, request: pytest.FixtureRequest, folder: str, path: str, asked: dict[str, object]
) -> None:
    app = make_app(tmp_path / "state", request.getfixturevalue(folder))
    with serving(app) as served:
        body = json.dumps(asked).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with served.connect() as connection:
            connection.sendall(head.encode() + body)
            _until_busy(app)
            assert not _until_idle(app, 0.1)
        assert _until_idle(app, 20)
        assert served.ask("POST", "/api/search", {"query": "tax", "mode": "literal"})[0] == 200


def test_work_ends_when_its_time_is_up(tmp_path: Path, slow: Path) -> None:
    app = make_app(tmp_path / "state", slow, limits=Limits(answer_seconds=2.0))
    with serving(app) as served:
        status, error = served.ask("POST", "/api/search", SLOW)
        assert (status, error["code"]) == (503, "busy")
        assert _until_idle(app, 20)


def test_work_ends_when_a_call_within_the_daemon_is_cancelled(tmp_path: Path, slow: Path) -> None:
    app = make_app(tmp_path / "state", slow)

    async def use() -> None:
        calling = asyncio.create_task(Client(InProcess(app)).call("search", SearchRequest(project="shop", **SLOW)))  # type: ignore[arg-type]  # mode is a word
        await asyncio.to_thread(_until_busy, app)
        assert any(project.waiting for project in app.daemon.projects.states())
        calling.cancel()
        assert await asyncio.to_thread(_until_idle, app, 20)

    asyncio.run(use())
    assert app.daemon.projects.close()
