"""The page of operators in a real browser, on what a real team's server says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

pytest.importorskip("psycopg", reason="needs the extra `team`")

from browsing import Visitor
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.dashboard.mount import dashboard
from cairn.registry import Registry
from cairn.remote.servers import SignIns, TeamServer
from cairn.runtime import StateFolder
from chromium import CHROMIUM, WITHOUT
from developer_machine import Machine
from postgres import find_programs, postgres
from scripted_server import Reply, scripted
from serving import TOKEN, serving
from team_installation import Installation, make_repository
from team_states import EMPTY, STATE

_PROGRAMS = find_programs()
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason=WITHOUT),
    pytest.mark.skipif(_PROGRAMS is None, reason="needs PostgreSQL: apt install postgresql"),
]
_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


@pytest.fixture
def visitor(chromium: Browser, state: StateFolder) -> Iterator[Visitor]:
    app = create_app(Settings(), folder=state, token=TOKEN, extensions=[dashboard])
    with serving(app) as served, chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        visitor = Visitor(context, served)
        yield visitor
        assert all(url.startswith(visitor.base) for url in visitor.requests)


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    folder = StateFolder(tmp_path / "state" / "cairn")
    Registry(folder).add(root, "shop")
    return folder


@pytest.mark.parametrize("document", [STATE, EMPTY], ids=["full", "empty"])
def test_people_with_other_eyes_can_use_it(visitor: Visitor, state: StateFolder, document: object) -> None:
    with scripted(lambda _: Reply(document=document)) as server:
        SignIns(state).keep(TeamServer(server.url, "t", is_operated=True))
        page = visitor.go("/team")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for width in (320, 768, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                found = Axe().run(page, options=_RULES)
                assert found.violations_count == 0, found.generate_report()
                assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert page.locator("main img, main script").count() == 0
        page.goto(f"{visitor.base}/settings")
        page.keyboard.press("g")
        page.keyboard.press("o")
        page.wait_for_url(f"{visitor.base}/team")
    assert visitor.troubles == []


def test_it_is_there_for_operators_alone(visitor: Visitor, state: StateFolder) -> None:
    with scripted(lambda _: Reply(document=STATE)) as server:
        SignIns(state).keep(TeamServer(server.url, "t"))
        page = visitor.go("/settings")
        assert page.get_by_role("link", name="Team").count() == 0
        page.keyboard.press("?")
        assert "team" not in page.get_by_role("dialog").inner_text()
        page.goto(f"{visitor.base}/team")
        assert "there is no page at '/team'" in page.locator("main").inner_text()
        assert server.asked == []


def test_what_it_shows_is_what_the_command_line_says(
    chromium: Browser, visitor: Visitor, state: StateFolder, tmp_path: Path
) -> None:
    assert _PROGRAMS is not None
    developer = Machine(tmp_path / "home")
    developer.environment["XDG_STATE_HOME"] = str(state.path.parent)
    with postgres(_PROGRAMS) as database:
        operator = Installation(database.address, tmp_path)
        operator.run("migrate")
        make_repository(tmp_path / "repository", {"shop.py": "def total():\n    return 0\n"})
        operator.add("acme/shop", tmp_path / "repository")
        operator.run("add", "acme/gone", f"file://{tmp_path}/gone")
        operator.run("worker", "--folder", str(tmp_path / "work"), "--once")
        scopes = ("--scope", "read", "--scope", "admin")
        token = json.loads(operator.run("token", "olga", *scopes, "--json"))["token"]
        with operator.serving() as address:
            developer.run("login", address, "--token-stdin", stdin=token)
            deadline = time.monotonic() + 60
            while not (said := json.loads(operator.run("status", "--json")))["nodes"]:
                assert time.monotonic() < deadline
            page = visitor.go("/team")
            shown = page.locator("main").inner_text()
            with chromium.new_context(
                java_script_enabled=False, storage_state=visitor.page.context.storage_state()
            ) as plain:
                alone = plain.new_page()
                alone.goto(f"{visitor.base}/team")
                assert alone.locator("table").count() == page.locator("table").count() == 2
        lines = operator.run("status")
    node, *others = said["nodes"]
    assert others == []
    gone, shop = said["branches"]
    assert (gone["project"], shop["project"]) == ("acme/gone", "acme/shop")
    for text in (node["name"], "acme/gone", "acme/shop", shop["published"][:12], gone["look_problem"]):
        assert text in shown
        assert text in lines or text == node["name"]  # which has ended by now
    assert "1\nof 2 branches up to date" in shown
    assert "not reached" in shown
    assert token not in page.content()
    assert visitor.troubles == []
