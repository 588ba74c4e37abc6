"""The pages in a real browser: by mouse, by keyboard alone, without JavaScript, and for people with other eyes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, Response

from browsing import Visitor
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.dashboard.mount import dashboard
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.served import ServedAnswers
from cairn.memory.store import By
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.storage.memory.rows import ServedAnswer
from cairn.workspace import Workspace
from chromium import CHROMIUM, WITHOUT
from serving import TOKEN, Served, serving

pytestmark = pytest.mark.skipif(not CHROMIUM, reason=WITHOUT)
PATHS = (
    "/",
    "/memories",
    "/memories/ID",
    "/sessions",
    "/sessions/s-1",
    "/search?q=total",
    "/symbol?s=tax",
    "/savings",
    "/tuning",
    "/system",
    "/system/checks",
    "/system/log",
    "/settings?name=garbage_days",
    "/doubtful",
)
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7*7}}javascript:alert(3)\u202e"
CODE = (
    "def total(prices):\n    return sum(tax(price) for price in prices)\n\n\ndef tax(price):\n    return price * 1.2\n"
)
_RUN_AXE = """async () => {
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await axe.run({ runOnly, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html}`));
}"""
_MOST_BYTES, _MOST_REQUESTS = 120_000, 8


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages") / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "money.py").write_text(CODE)
    (root / "test_money.py").write_text(
        "from money import total\n\n\ndef test_total():\n    assert total([1]) == 1.2\n"
    )
    with Workspace.open(root) as workspace:
        workspace.index()
        workspace.memory.remember(f"Prices carry tax. {EVIL}", type="gotcha", files=("money.py",), actor="person:me")
        for number in range(3):
            workspace.memory.remember(f"Fact {number} of the shop", tags=("fact",), actor="person:me")
        call = ToolCall("shell", "Bash", f"pytest {EVIL}", "failed", 1)
        for event in ("session-start", "prompt", "after-tool"):
            of_tool = call if event == "after-tool" else None
            workspace.memory.take(Moment("", event, "s-1", "claude-code", 0.0, text=f"mend it {EVIL}", call=of_tool))
    return root


@pytest.fixture(scope="module")
def served(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder, long = StateFolder(tmp_path_factory.mktemp("state")), tmp_path_factory.mktemp("w" * 120)
    for root, name in ((long, long.name), (project, "shop")):  # the last one is shown
        Registry(folder).add(root, name)
    app = create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])
    with serving(app) as served:
        yield served


@pytest.fixture
def visitor(chromium: Browser, served: Served) -> Iterator[Visitor]:
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        visitor = Visitor(context, served)
        yield visitor
        assert visitor.troubles == []
        assert all(url.startswith(visitor.base) for url in visitor.requests)


@pytest.fixture
def without_scripts(chromium: Browser, served: Served) -> Iterator[Visitor]:
    with chromium.new_context(java_script_enabled=False) as context:
        yield Visitor(context, served)


@pytest.mark.parametrize("path", PATHS)
def test_people_with_other_eyes_can_use_every_page(visitor: Visitor, path: str) -> None:
    page = visitor.go(path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (320, 768, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert _violations(page) == [], f"{path}, {scheme}, {width} px"
            overhang = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert overhang <= 0, f"{path} at {width} px is wider than the screen"


def _violations(page: Page) -> list[str]:
    """Return what speaks against a page as it is shown now, by the rules of axe, loaded once for it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_RUN_AXE)
    return found


def test_a_page_keeps_its_title_when_its_checks_are_done(visitor: Visitor) -> None:
    page = visitor.go("/system")
    title = page.title()
    page.get_by_text("Run the checks of").wait_for(state="detached")
    assert page.title() == title
    assert title.startswith("System")


def test_words_twice_as_large_fit_on_a_phone(visitor: Visitor) -> None:
    for path in PATHS:
        page = visitor.go(path)
        page.set_viewport_size({"width": 320, "height": 800})
        page.evaluate("document.documentElement.style.fontSize = '30px'")
        overhang = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overhang <= 0, path


def test_on_a_wide_screen_the_header_stands_above_the_content(visitor: Visitor) -> None:
    page = visitor.go("/search?q=total")
    page.set_viewport_size({"width": 3840, "height": 2160})
    lefts = page.evaluate("['.brand', 'h1'].map((name) => document.querySelector(name).getBoundingClientRect().left)")
    assert abs(lefts[0] - lefts[1]) < 2
    assert page.evaluate("document.querySelector('.find').getBoundingClientRect().width") < 800


def test_a_memory_from_right_to_left_is_written_and_read_so(visitor: Visitor, project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.memory.remember("\u05e9\u05dc\u05d5\u05dd (a) ok", tags=("rtl",), actor="person:me")
    page = visitor.go("/memories?tag=rtl")
    page.locator("#list .rows a").first.click()
    page.wait_for_url(re.compile("/memories/m_"))
    assert page.evaluate("getComputedStyle(document.getElementById('text')).unicodeBidi") == "plaintext"
    assert _violations(page) == []


def test_what_is_wrong_with_a_page_is_found(visitor: Visitor) -> None:
    page = visitor.go("/log")
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert any(found.startswith("label: <input>") for found in _violations(page))
    visitor.troubles.clear()  # the page is missing, and says so by its status


def test_people_with_other_eyes_are_asked_before_memories_are_deleted(visitor: Visitor) -> None:
    page = visitor.go("/memories")
    page.locator("#list [name=id]").first.check()
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("Nothing brings them back").wait_for()
    page.set_viewport_size({"width": 320, "height": 800})
    assert _violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("path", PATHS)
def test_what_agents_wrote_never_runs(visitor: Visitor, path: str) -> None:
    page = visitor.go(path)
    assert page.locator("main img, main script").count() == 0
    assert page.locator("main").count() == 1


def test_the_first_load_is_small(chromium: Browser, visitor: Visitor) -> None:
    responses: list[Response] = []
    with chromium.new_context(storage_state=visitor.page.context.storage_state()) as context:
        page = context.new_page()

        def note(response: Response) -> None:
            responses.append(response)

        page.on("response", note)
        page.goto(f"{visitor.base}/")
        page.wait_for_load_state("load")
        sizes = [len(response.body()) for response in responses if "/events" not in response.url]
    assert 4 <= len(sizes) <= _MOST_REQUESTS
    assert 40_000 < sum(sizes) <= _MOST_BYTES


def test_a_memory_is_archived_by_keyboard_alone_and_that_is_undone(visitor: Visitor) -> None:
    page = visitor.go("/")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url(re.compile("/memories"))
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("a")
    page.get_by_text("1 memory is archived.").wait_for()
    page.keyboard.press("u")
    page.get_by_text("1 memory is as before.").wait_for()


def test_a_memory_is_archived_and_reopened_without_scripts(without_scripts: Visitor) -> None:
    page = without_scripts.go("/memories?tag=fact&statuses=active")
    page.locator("#list [name=id]").first.check()
    page.get_by_role("button", name="Archive").click()
    assert "1 memory is archived." in page.locator("main").inner_text()
    page.get_by_role("button", name="Undo").click()
    assert "1 memory is as before." in page.locator("main").inner_text()


def test_deleting_asks_once_without_scripts(without_scripts: Visitor, project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.memory.remember("Soon gone", tags=("gone",), actor="person:me")
    page = without_scripts.go("/memories?tag=gone")
    page.get_by_label(re.compile("all 1 that the filter finds")).check()
    page.get_by_role("button", name="Delete").click()
    assert "for ever" in page.locator("h1").inner_text()
    page.get_by_role("button", name="Delete 1").click()
    assert "1 memory is deleted." in page.locator("main").inner_text()


def test_every_page_works_without_scripts(without_scripts: Visitor) -> None:
    for path in PATHS:
        assert without_scripts.go(path).locator("h1").count() == 1


def test_what_happens_elsewhere_is_offered_on_an_open_page(visitor: Visitor, project: Path) -> None:
    page = visitor.go("/memories?tag=live")
    page.locator("#live-dot.on").wait_for()
    with Workspace.open(project) as workspace:
        workspace.memory.remember("Something new under the sun", tags=("live",), actor="person:me")
        page.get_by_role("button", name="Show 1 new").wait_for()
        other = workspace.memory.remember("And one thing more", tags=("live",), actor="person:me").observation
        page.get_by_role("button", name="Show 2 new").press("Enter")
        page.get_by_text("Something new under the sun").first.wait_for()
        assert page.evaluate("document.activeElement.id") == "list"  # from where the next row is one key away
        assert page.locator("[data-show-new]").count() == 0
        workspace.memory.lifecycle.archive(other.id, By("person:me", "person"))
        page.get_by_role("button", name="Show what changed").click()
        page.locator("#list .tag", has_text="archived").wait_for()


def test_the_keys_are_listed_and_can_be_turned_off(visitor: Visitor) -> None:
    page = visitor.go("/memories")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.get_by_label("Turn single keys off").check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert page.locator("[data-row].at").count() == 0
    page.keyboard.press("?")
    page.get_by_label("Turn single keys off").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    assert page.locator("[data-row].at").count() == 1


def test_an_open_page_keeps_no_slot_of_agents(visitor: Visitor, served: Served) -> None:
    page = visitor.go("/")
    page.locator("#live-dot.on").wait_for()
    assert not served.app.daemon.is_busy


def test_savings_are_drawn_and_listed(visitor: Visitor, project: Path) -> None:
    with Workspace.open(project) as workspace:
        store, sessions = workspace.memory.store, workspace.memory.sessions
        ServedAnswers(store, sessions).add(
            ServedAnswer("s-1", time.time(), "claude-code", "outline", True, "money.py", "h", 10, 100),
            lambda: True,
        )
    page = visitor.go("/savings?days=365")
    assert page.locator("svg.chart rect").count() >= 1
    assert "outline" in page.locator("table").inner_text()
