"""Every action of every page: by mouse, by keyboard alone, and without JavaScript."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

import cairn.dashboard
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.dashboard.mount import dashboard
from cairn.memory.moments import Moment
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.search.tuning import SHIPPED
from cairn.storage.memory.observation_db import Conditions
from cairn.workspace import Workspace
from chromium import CHROMIUM, WITHOUT
from page_actions import ACTIONS, PageAction
from serving import TOKEN, Served, serving
from shown_memories import note_injections

Hands = Literal["mouse", "keyboard", "without scripts"]
HANDS: tuple[Hands, ...] = ("mouse", "keyboard", "without scripts")
CODE = (
    "def total(prices):\n    return sum(tax(price) for price in prices)\n\n\ndef tax(price):\n    return price * 1.2\n"
)
TEMPLATES = Path(cairn.dashboard.__file__).parent / "templates"
_MOST_TABS = 150
_WAIT_MS = 10_000
_MANY = 26  # of which a page shows 25
# Whether a control is in the content, and nothing has the focus yet.
_MAY_SKIP = "control => document.activeElement === document.body && document.getElementById('main').contains(control)"


class Shop:
    """A project, its memories, and a daemon that shows it; it makes what an action needs.

    Args:
        root: the project's folder.
        served: the daemon.
    """

    def __init__(self, root: Path, served: Served) -> None:
        self.root, self.served = root, served
        self.workspace = Workspace.open(root)
        self.n_made = 0

    def prepare(self, needs: str) -> dict[str, str]:
        """Make what an action needs, and return what its words stand for."""
        self.n_made += 1
        tag = f"made{self.n_made}"
        words = {"TAG": tag}
        if needs.partition(" ")[0] in ("memory", "archived", "confirm", "undo", "embedding"):
            words["ID"] = self._remember(f"The shop has {self.n_made} shelves", tag)
            words["OTHER"] = self._remember(f"The shop has {self.n_made} cellars", f"other{tag}")
        if needs == "archived":
            self.served.ask(
                "POST", "/api/memories/status", {"project": "shop", "ids": [words["ID"]], "status": "archived"}
            )
        elif needs in ("tuning", "tuned"):
            evidence = {"before": {"ndcg": 0.5}, "after": {"ndcg": 0.6}, "gain": {"low": 0.05, "high": 0.15}}
            made = self.workspace.tuning.versions.add(SHIPPED._replace(history_share=0.5), "proposed", evidence)
            if needs == "tuned":
                self.workspace.tuning.versions.apply(made.number)
        elif needs == "damage":
            self._execute("DELETE FROM vector")
        return words

    def _remember(self, text: str, tag: str) -> str:
        document = {"project": "shop", "text": text, "tags": [tag], "files": ["money.py::total"], "actor": "person:me"}
        status, made = self.served.ask("POST", "/api/remember", document)
        assert status == 200
        return str(made["id"])

    def _execute(self, sql: str) -> None:
        with closing(sqlite3.connect(self.root / ".cairn/memory.db", timeout=10)) as connection, connection:
            connection.execute(sql)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))
        yield from _open_shop(tmp_path_factory)


def _open_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = StateFolder(tmp_path_factory.mktemp("state"))
    root, other = tmp_path_factory.mktemp("actions") / "shop", tmp_path_factory.mktemp("actions") / "other"
    for place, name in ((other, "other"), (root, "shop")):
        (place / ".git").mkdir(parents=True)
        (place / "money.py").write_text(CODE)
        Registry(folder).add(place, name)
    (root / "gone.py").write_text("def gone():\n    return 1\n")
    _fill(root)
    app = create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])
    with serving(app) as served:
        shop = Shop(root, served)
        served.ask("POST", "/api/search", {"project": "shop", "query": "total of prices", "session": "s-1"})
        yield shop
        shop.workspace.close()


def _fill(root: Path) -> None:
    """Give a project what fills more than one page of each list."""
    with Workspace.open(root) as workspace:
        workspace.index()
        memory = workspace.memory
        with memory.store.writing():
            for number in range(_MANY):
                memory.remember(f"Fact {number} of the shop", tags=("many",), actor="person:me")
            for number in range(_MANY + 3 * len(HANDS) * 3):  # of which each hand puts some away
                memory.remember(f"Gone {number} from the shop", files=("gone.py",), actor="person:me")
        (root / "gone.py").unlink()
        now = time.time()
        for number in range(_MANY):
            memory.take(Moment(f"e{number}", "prompt", f"s-{number}", "codex", now - number, text="count the shelves"))
        shown = memory.store.select(Conditions(tag="many"), 1)[0].id
        note_injections(memory.store, "s-1", "prompt", [(shown, "relevant", 10)])


class Person:
    """Somebody at a browser who is signed in, and works in one way.

    Args:
        page: of the browser.
        shop: what they look at.
        hands: how they work.
    """

    def __init__(self, page: Page, shop: Shop, hands: Hands) -> None:
        self.page, self.hands = page, hands
        self.base = f"http://127.0.0.1:{shop.served.port}"
        page.set_default_timeout(_WAIT_MS)
        self.sign_in(shop)

    def sign_in(self, shop: Shop) -> None:
        _, link = shop.served.ask("POST", "/api/ui/link", {"path": "/"})
        self.page.goto(f"{self.base}{link['path']}")
        self.page.wait_for_url(f"{self.base}/")

    def fill(self, selector: str, value: str) -> None:
        field = self.page.locator(selector).first
        kind = field.get_attribute("type") or field.evaluate("field => field.localName")
        if self.hands == "keyboard":
            self._tab_to(selector)
            if kind == "checkbox":
                self.page.keyboard.press("Space")
            elif kind == "select":
                self.page.keyboard.type(value)
            else:
                self.page.keyboard.press("Control+A")
                self.page.keyboard.type(value)
        elif kind == "checkbox":
            field.check()
        elif kind == "select":
            field.select_option(value)
        else:
            field.fill(value)

    def go_with(self, selector: str) -> None:
        """Press what loads a page, and wait until that is there: or what is looked for may be on the page before."""
        if self.hands == "keyboard":
            self._tab_to(selector)  # past the header, which is a navigation, too
        with self.page.expect_navigation():
            self.press(selector)

    def press(self, selector: str) -> None:
        if self.hands == "keyboard":
            self._tab_to(selector)
            self.page.keyboard.press("Enter")
        elif self.page.locator(selector).first.evaluate("control => control.localName === 'input'"):
            self.page.locator(selector).first.press("Enter")
        else:
            self.page.locator(selector).first.click()

    def _tab_to(self, selector: str) -> None:
        """Press Tab until the first such control has the focus.

        Raises:
            AssertionError: if it never has.
        """
        control = self.page.locator(selector).first.element_handle()
        if self.page.evaluate(_MAY_SKIP, control):
            self.page.keyboard.press("Tab")
            self.page.keyboard.press("Enter")  # on the link to the content
        for _ in range(_MOST_TABS):
            if self.page.evaluate("control => document.activeElement === control", control):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reaches {selector}")


@pytest.fixture(scope="module", params=HANDS)
def person(request: pytest.FixtureRequest, chromium: Browser, shop: Shop) -> Iterator[Person]:
    with chromium.new_context(
        viewport={"width": 1280, "height": 800}, java_script_enabled=request.param != "without scripts"
    ) as context:
        if request.param != "without scripts":
            context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield Person(context.new_page(), shop, request.param)


@pytest.mark.skipif(not CHROMIUM, reason=WITHOUT)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.control)
def test_every_action_of_every_page_works(person: Person, shop: Shop, action: PageAction) -> None:
    words = shop.prepare(action.needs)
    has_scripts = person.hands != "without scripts"
    if action.needs == "embedding":
        _wait_for_the_end(person)  # of what another action began
        with closing(sqlite3.connect(shop.root / ".cairn/memory.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # so that the run waits
            person.page.goto(f"{person.base}/system")
            person.go_with('main [name="action"][value="embed"]')
            _act(person, action, words, has_scripts)
        _wait_for_the_end(person)
        return
    _act(person, action, words, has_scripts)


def _wait_for_the_end(person: Person) -> None:
    """Ask for the page, beside what the browser shows, until it says that nothing is embedded any more."""
    until = time.monotonic() + _WAIT_MS / 1_000
    while time.monotonic() < until:
        got = person.page.request.get(f"{person.base}/system")
        assert got.ok, got.status
        if 'value="embed"' in got.text():
            return
        time.sleep(0.05)
    raise AssertionError("the run never ends")


def _act(person: Person, action: PageAction, words: dict[str, str], has_scripts: bool) -> None:
    page = person.page
    if action.needs != "embedding":
        page.goto(f"{person.base}{_spelled(action.path, words)}")
    if action.scripts not in (None, has_scripts):
        assert not page.locator(action.press).first.is_visible() or action.press == "#project"
        return
    for selector, value in action.fill:
        person.fill(selector, _spelled(value, words))
    kind, _, expected = action.outcome.partition(":")
    if kind == "link":
        assert str(page.locator(action.press).first.get_attribute("href")).startswith(expected)
    elif kind == "file" and action.needs != "confirm delete":
        with page.expect_download() as download:
            person.press(action.press)
        assert download.value.suggested_filename == expected
    else:
        _press_and_see(person, action, kind, expected)


def _press_and_see(person: Person, action: PageAction, kind: str, expected: str) -> None:
    page = person.page
    if action.needs == "confirm delete":
        person.go_with('main [name="action"][value="delete"]')
        page.get_by_text("Nothing brings them back").wait_for()
    elif action.needs == "undo archive":
        person.go_with('main [name="action"][value="archive"]')
        page.get_by_text("1 memory is archived").wait_for()
    if kind == "file":
        with page.expect_download() as download:
            person.press(action.press)
        assert download.value.suggested_filename == expected
        return
    if action.press == "#project":  # it is sent as soon as something is chosen
        page.wait_for_url(re.compile(expected))
        return
    if action.stays:
        person.press(action.press)
    else:
        person.go_with(action.press)
    if kind == "url":
        assert re.search(expected, page.url)
    else:
        page.locator("body").filter(has_text=re.compile(action.outcome, re.DOTALL)).wait_for()


def _spelled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(name, value)
    return text


@pytest.mark.skipif(not CHROMIUM, reason=WITHOUT)
@pytest.mark.parametrize("hands", HANDS)
def test_signing_out_works_in_every_way(chromium: Browser, shop: Shop, hands: Hands) -> None:
    with chromium.new_context(java_script_enabled=hands != "without scripts") as context:
        person = Person(context.new_page(), shop, hands)
        person.press('[action="/logout"] button')
        person.page.get_by_role("heading", name="This browser is signed out").wait_for()


@pytest.mark.skipif(not CHROMIUM, reason=WITHOUT)
def test_the_keys_of_a_page_do_what_its_buttons_do(chromium: Browser, shop: Shop) -> None:
    with chromium.new_context() as context:
        page = Person(context.new_page(), shop, "keyboard").page
        for keys, address in (
            ("gm", "/memories"),
            ("gs", "/sessions"),
            ("gf", "/search"),
            ("gv", "/savings"),
            ("gt", "/tuning"),
            ("gy", "/system"),
            ("gw", "/"),
        ):
            page.keyboard.press(keys[0])
            page.keyboard.press(keys[1])
            page.wait_for_url(re.compile(f"{address}$"))
        words = shop.prepare("memory")
        page.goto(f"{page.url}memories?tag={words['TAG']}")
        for keys, said in (("jxa", "1 memory is archived"), ("u", "1 memory is as before"), ("jxd", "for ever")):
            for key in keys:
                page.keyboard.press(key)
            page.locator("main").filter(has_text=said).wait_for()
        page.goto(page.url.replace("memories", "").partition("?")[0])
        for key, said in (("y", "1 memory is kept"), ("a", "1 memory is archived"), ("e", "Its code, then and now")):
            page.keyboard.press(key)
            page.locator("main").filter(has_text=said).wait_for()
        page.keyboard.press("/")
        page.keyboard.type("tax")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("q=tax"))
        page.keyboard.press("p")
        assert page.evaluate("document.activeElement.id") == "preview"


# -- whether the table is whole ----------------------------------------------------------------------------------------


def _controls() -> set[str]:
    """Return all that can be pressed in the templates, but for links that only lead from page to page."""
    found: set[str] = set()
    for template in TEMPLATES.glob("*.html"):
        text = template.read_text(encoding="utf-8")
        for tag, inner in re.findall(r"<button\b([^>]*)>(.*?)</button>", text, re.DOTALL):
            found.add(f"{template.name}: {_name_of(tag, inner)}")
        if "<summary" in text:
            found.add(f"{template.name}: summary")
        for tag in re.findall(r"<a\b([^>]*)>", text):
            if mark := re.search(r'data-action="(\w+)"|rel="(\w+)"|(download)|class="(when-no-script)"', tag):
                name = next(filter(None, mark.groups()))
                found.add(f"{template.name}: {'Reload' if name == 'when-no-script' else name}")
    return found


def _name_of(tag: str, inner: str) -> str:
    value = re.search(r'value="(\w+(?:-\w+)*)"', tag)
    if value is not None:
        return value[1]
    if "{{ action|exact }}" in tag:
        return "action"
    if "data-copy" in tag:
        return "copy"
    return inner.strip()


def test_the_table_has_every_control_of_the_templates() -> None:
    tried = {action.control for action in ACTIONS}
    # The first three are tried by tests of their own; the last leads from page to page.
    others = {"head.html: Sign out", "base.html: Close", "news.html: {{ news.offer }}", "week.html: edit"}
    assert _controls() - tried - others == set()
