"""Pages in a browser when things go wrong: a daemon that ends, two tabs, odd names, words without end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from browsing import Visitor
from cairn.config import Settings
from cairn.daemon.app import Application, create_app
from cairn.dashboard.mount import dashboard
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.store import By
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from chromium import CHROMIUM, WITHOUT
from serving import TOKEN, Served, serving

pytestmark = pytest.mark.skipif(not CHROMIUM, reason=WITHOUT)
LONG = "x" * 300
ODD = "bell\x07 tab\t escape\x1b[31m zero\x00 next\nline mark\u202eback \u200bnone"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mishaps") / "shop"
    (root / ".git").mkdir(parents=True)
    folder = root / ("d" * 120) / ("e" * 120)
    folder.mkdir(parents=True)
    file = folder / f"{'f' * 100} \x07\x1b.py"
    file.write_text(f"def {LONG}():\n    return '{LONG}'\n\n\ndef caller():\n    return {LONG}()\n")
    (root / "money.py").write_text("def tax(price):\n    return price * 1.2\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        memory = workspace.memory
        memory.remember("Prices carry tax", files=("money.py",), tags=("tax",), actor="person:me")
        memory.remember(f"{LONG} {ODD} {LONG}", tags=(LONG, ODD), actor="person:me")
        memory.remember(" ".join(f"{number}{LONG}" for number in range(32)), actor="person:me")
        for step, text in enumerate((LONG, ODD)):
            memory.take(Moment(f"p{step}", "prompt", "claude-code:s-1", "claude-code", 0.0, text=text, branch=LONG))
            call = ToolCall("shell", text, text, "failed", 1, output=text)
            memory.take(Moment(f"t{step}", "after-tool", "claude-code:s-1", "claude-code", 0.0, call=call))
    return root


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    with chromium.new_context(viewport={"width": 320, "height": 800}) as context:
        yield context


@pytest.fixture
def folder(project: Path, tmp_path: Path) -> StateFolder:
    folder = StateFolder(tmp_path / "state")
    Registry(folder).add(project, "shop")
    return folder


def make(folder: StateFolder, **settings: float) -> Application:
    return create_app(Settings(**settings), folder=folder, token=TOKEN, extensions=[dashboard])  # type: ignore[arg-type] # numbers


@pytest.fixture
def served(folder: StateFolder) -> Iterator[Served]:
    with serving(make(folder)) as served:
        yield served


@pytest.fixture
def other(folder: StateFolder, tmp_path: Path) -> str:
    """The name of a project beside the shop; the daemon serves both."""
    root = tmp_path / "other"
    (root / ".git").mkdir(parents=True)
    (root / "money.py").write_text("def tax(price):\n    return price * 1.1\n")
    with Workspace.open(root) as workspace:
        workspace.index()
    Registry(folder).add(root, "other")
    return "other"


def test_after_a_step_back_the_header_names_the_project_of_the_page(
    context: BrowserContext, served: Served, other: str
) -> None:
    page = Visitor(context, served).go("/memories?project=shop")
    page.locator("#project").select_option(other)
    page.wait_for_url("**/memories?project=other")
    page.go_back()
    page.wait_for_url("**/memories?project=shop")
    assert page.locator("#project").input_value() == "shop"


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("/search?q=tax&lang=python&explain=1&in=src/**&id=x", "/search?q=tax&lang=python&explain=1"),
        ("/memories?types=gotcha&types=decision&text=%26&tag=tax", "/memories?types=gotcha&types=decision&text=%26"),
        ("/sessions?agent=codex&branch=main", "/sessions?agent=codex"),
        ("/savings?days=7&by=agent", "/savings?days=7&by=agent"),
        ("/memories/m_1?q=tax", "/?"),
    ],
)
def test_a_question_goes_along_to_another_project(
    context: BrowserContext, served: Served, other: str, asked: str, kept: str
) -> None:
    visitor = Visitor(context, served)
    page = visitor.go(asked)
    page.locator("#project").select_option(other)
    page.wait_for_url(f"{visitor.base}{kept}{'' if kept.endswith('?') else '&'}project=other")


def test_what_is_typed_outlives_a_restart_of_the_daemon(context: BrowserContext, folder: StateFolder) -> None:
    with serving(make(folder)) as served:
        visitor = Visitor(context, served)
        page = visitor.go("/memories?tag=tax")
        page.locator("#list .rows a").first.click()
        page.get_by_label("Text").fill("Prices carry a tax of a fifth")
        page.locator("#live-dot.on").wait_for()
    page.get_by_text("Cairn does not answer").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Not sent").wait_for()
    assert page.get_by_label("Text").input_value() == "Prices carry a tax of a fifth"
    with serving(make(folder), port=served.port):
        page.locator("#live-dot.on").wait_for()
        assert page.get_by_role("alert").count() == 0
        assert page.get_by_label("Text").input_value() == "Prices carry a tax of a fifth"
        page.get_by_role("button", name="Save").click()
        page.locator("ol li").nth(2).wait_for()
        assert "Prices carry a tax of a fifth" in visitor.go("/memories?tag=tax").locator("#list").inner_text()


def test_an_open_tab_that_loads_its_parts_again_does_not_keep_the_daemon_alive(
    context: BrowserContext, folder: StateFolder, project: Path
) -> None:
    with serving(make(folder, daemon_idle_minutes=0.5)) as served, Workspace.open(project) as workspace:
        page = Visitor(context, served).go("/")
        page.locator("#live-dot.on").wait_for()
        daemon = served.app.daemon
        daemon.settings = replace(daemon.settings, daemon_idle_minutes=0.01)  # now that the page is there
        for number in range(100):  # an agent that works without the daemon
            workspace.memory.remember(f"Fact {number} that is new", actor="person:me")
            page.wait_for_timeout(200)
            if daemon.stopping:
                break
        assert daemon.stopping
        page.get_by_text("Cairn does not answer").wait_for()


def test_an_open_page_asks_for_nothing_while_nothing_happens(context: BrowserContext, served: Served) -> None:
    visitor = Visitor(context, served)
    for path in ("/", "/sessions/claude-code:s-1", "/system"):
        page = visitor.go(path)
        page.locator("#live-dot.on").wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1_000)
        n_before = len(visitor.requests)
        page.wait_for_timeout(1_000)
        assert visitor.requests[n_before:] == [], path


def test_a_second_tab_is_live_through_the_first(context: BrowserContext, served: Served, project: Path) -> None:
    first, second = Visitor(context, served), Visitor(context, served)
    page = first.go("/memories")
    page.locator("#live-dot.on").wait_for()
    second.go("/memories").locator("#live-dot.on").wait_for()
    streams = [url for url in (*first.requests, *second.requests) if url.endswith("/events")]
    with Workspace.open(project) as workspace:
        workspace.memory.remember(f"Seen in both tabs at {time.time_ns()}", actor="person:me")
    for tab in (first, second):
        tab.page.get_by_role("button", name="Show 1 new").wait_for()
    assert len(streams) <= 3  # of each first page while the other was not there, and of the one that listens


def test_of_two_tabs_that_delete_the_same_memory_the_second_is_told(
    context: BrowserContext, served: Served, project: Path
) -> None:
    with Workspace.open(project) as workspace:
        workspace.memory.remember("Soon deleted twice", tags=("twice",), actor="person:me")
    tabs = [Visitor(context, served) for _ in range(2)]
    for tab in tabs:
        page = tab.go("/memories?tag=twice")
        page.locator("#list [name=id]").first.check()
        page.get_by_role("button", name="Delete…").click()
    for tab, words in zip(tabs, ("1 memory is deleted.", "was erased"), strict=True):
        tab.page.get_by_role("button", name="Delete 1").click()
        assert words in tab.page.locator("main").inner_text()


def test_an_open_memory_says_that_it_was_changed_and_deleted_elsewhere(
    context: BrowserContext, served: Served, project: Path
) -> None:
    visitor, by = Visitor(context, served), By("person:me", "person")
    with Workspace.open(project) as workspace:
        id = workspace.memory.remember("Soon changed and deleted", tags=("soon",), actor="person:me").observation.id
        visitor.go("/memories?tag=soon").locator("#list .rows a").first.click()
        visitor.page.locator("#live-dot.on").wait_for()
        workspace.memory.lifecycle.edit(id, by, text="Changed and soon deleted")
        visitor.page.get_by_role("button", name="Show what changed").click()
        visitor.page.locator("#list").filter(has_text="Changed and soon deleted").wait_for()
        assert visitor.page.get_by_label("Text").input_value() == "Changed and soon deleted"
        visitor.page.get_by_label("Text").fill("Typed meanwhile")
        workspace.memory.lifecycle.erase(id, by)
    visitor.page.get_by_text("This memory was deleted elsewhere").wait_for()
    assert visitor.page.get_by_label("Text").input_value() == "Typed meanwhile"


def test_words_without_end_and_characters_that_cannot_be_seen_fit_every_page(
    context: BrowserContext, served: Served, project: Path
) -> None:
    visitor = Visitor(context, served)
    (file,) = project.glob("d*/e*/*.py")
    place = file.relative_to(project).as_posix()
    page = visitor.go("/memories")
    links = page.locator("#list .rows a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    paths = [
        "/",
        "/memories",
        *links,
        "/sessions",
        "/sessions/claude-code:s-1",
        f"/search?q={LONG}",
        f"/symbol?s={LONG}",
    ]
    for path in [*paths, "/system", f"/nothing/{LONG}", f"/memories?text={LONG}"]:
        page = visitor.go(path)
        overhang = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overhang <= 0, path[:80]
        assert page.locator("main").count() == 1
    assert "U+001B" in visitor.go("/sessions/claude-code:s-1").locator("main").inner_text()
    assert "U+0007" in visitor.go(f"/search?q={LONG}").locator("main").inner_text(), place
