"""What others wrote and what foreign pages try, in a real browser: nothing runs, is sent away, or is learned."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlencode

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from browsing import Visitor
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.dashboard.mount import dashboard
from cairn.memory.moments import Moment, ToolCall
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.storage.memory.rows import AskedQuestion, ShownHit
from cairn.types import MemoryType
from cairn.workspace import Workspace
from chromium import CHROMIUM, WITHOUT
from hostile_markup import FOREIGN, N_TEXTS, hostile, hostile_file
from serving import TOKEN, Served, serving
from shown_memories import note_injections

pytestmark = pytest.mark.skipif(not CHROMIUM, reason=WITHOUT)
TYPES: tuple[MemoryType, ...] = ("gotcha", "decision", "bug_fix", "discovery", "trade_off")
SESSION = "claude-code:s-1"
# Each field of each page's address, and of those that only their forms send.
FIELDS = {
    "/": ("project",),
    "/memories": (
        *("q", "text", "types", "statuses", "file", "branch", "tag", "session", "since", "until", "offset"),
        "said",
    ),
    "/memories/{}": ("project", "seen", "said"),
    "/doubtful": ("offset",),
    "/sessions": ("agent", "branch", "file", "since", "offset"),
    f"/sessions/{SESSION}": ("said",),
    "/sessions/{}": ("project",),
    "/search": ("q", "lang", "in", "kind", "id", "explain"),
    "/symbol": ("s",),
    "/savings": ("days",),
    "/savings.csv": ("days",),
    "/tuning": ("version", "said"),
    "/settings": ("text", "name", "said"),
    "/system": ("said",),
    "/system/log": ("text", "after"),
    "/login": ("code", "to"),
    "/{}": ("x",),
}


class _Texts:
    """Hands out the hostile texts, each once and then again from the first."""

    def __init__(self) -> None:
        self.given = 0

    def next(self) -> str:
        self.given += 1
        return hostile((self.given - 1) % N_TEXTS)

    def some(self, number: int) -> tuple[str, ...]:
        return tuple(self.next() for _ in range(number))


@pytest.fixture(scope="module")
def texts() -> _Texts:
    return _Texts()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, texts: _Texts) -> Path:
    root = tmp_path_factory.mktemp("attacked") / texts.next().replace("/", "\u2215")
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/<img/src=x/onerror=ran(1001)>\n")
    files = [f"{hostile_file(number)}.py" for number in (1_002, 1_003, 1_004)]
    for file in files:
        (root / file).write_text(
            f"def total(prices):\n    return {texts.next()!r}\n\n\ndef use():\n    return total([1])\n"
        )
    (root / "notes.md").write_text("\n\n".join(f"# {text}\n\ntotal of prices" for text in texts.some(6)))
    methods = "\n".join(f"  {text!r}() {{ return total; }}" for text in texts.some(6))
    (root / "shop.js").write_text(f"class Shop {{\n{methods}\n}}\n")
    (root / ".cairn").mkdir()
    (root / ".cairn" / "config.yaml").write_text("project_name: '<img src=x onerror=ran(1005)>'\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        _remember(workspace, files, texts)
        _report(workspace, files, texts)
    (root / files[0]).unlink()
    return root


def _remember(workspace: Workspace, files: Sequence[str], texts: _Texts) -> None:
    for number in range(40):
        made = workspace.memory.remember(
            texts.next(),
            type=TYPES[number % len(TYPES)],
            files=(files[number % len(files)],) if number % 3 == 0 else (),
            tags=texts.some(2) if number % 2 else (),
            session=texts.next() if number % 10 == 0 else SESSION,
            actor="person:<img src=x onerror=ran(1006)>" if number % 2 else "agent:claude-code",
        )
        if number < 3:
            for _ in range(6):
                note_injections(workspace.memory.store, SESSION, "prompt", [(made.observation.id, texts.next(), 10)])


def _report(workspace: Workspace, files: Sequence[str], texts: _Texts) -> None:
    """Report a session in which every word is hostile."""
    memory = workspace.memory
    for step, text in enumerate(texts.some(20)):
        memory.take(Moment(f"p{step}", "prompt", SESSION, text, 0.0, text=text, details={"source": text}))
        for name in ("shell", "mcp", "read"):
            outcome = "failed" if step % 2 else "ok"
            target = files[1] if name == "read" else texts.next()
            call = ToolCall(name, text, target, outcome, 1, output=texts.next())
            memory.take(Moment(f"{step}{name}", "after-tool", SESSION, "claude-code", 0.0, call=call))
        question = AskedQuestion(SESSION, 0.0, "code", texts.next(), step % 2, 0.5, "mcp")
        memory.feedback.note_answer(question, [ShownHit(0, 1, "c_00000001", files[1], 1, 2, texts.next(), 0.9)])
    memory.take(Moment("end", "session-end", SESSION, "claude-code", 0.0, details={"reason": texts.next()}))


@pytest.fixture(scope="module")
def served(project: Path, tmp_path_factory: pytest.TempPathFactory, texts: _Texts) -> Iterator[Served]:
    folder = StateFolder(tmp_path_factory.mktemp("state"))
    Registry(folder).add(project, texts.next())
    with serving(create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])) as served:
        folder.log.write_text("\n".join(texts.some(10)))
        yield served


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        context.add_init_script(
            "window.ran = (number) => console.error(`ran ${number}`);"
            "document.addEventListener('securitypolicyviolation',"
            " (event) => console.error(`against ${event.violatedDirective}`));"
        )
        yield context


@pytest.fixture
def visitor(context: BrowserContext, served: Served) -> Visitor:
    return Visitor(context, served)


# -- what others wrote -------------------------------------------------------------------------------------------------


def _shown(page: Page) -> set[str]:
    """Return the numbers of the texts that a page shows, also where one has to scroll first."""
    return set(re.findall(r"ran\((\d+)\)", page.locator("body").text_content() or ""))


def _addresses(visitor: Visitor, project: Path) -> list[str]:
    """Return all pages, and of memories, sessions and symbols all whose words differ."""
    found = [
        "/",
        "/doubtful",
        *(f"/memories?offset={place}" for place in (25, 50, 75)),
        "/sessions",
        "/savings",
        "/tuning",
        "/settings?set=1",
    ]
    found += ["/system", "/system/checks", "/system/log", "/search?q=total", "/search?q=prices&kind=section"]
    page = visitor.go("/memories")
    links = page.locator("#list .rows a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    found += links[:12]
    page = visitor.go("/sessions")
    found += page.locator(".rows a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    return found + [f"/symbol?s={quote(file.name)}:1" for file in project.glob("*.py")] + ["/symbol?s=total"]


def _check(visitor: Visitor, where: str) -> None:
    assert visitor.troubles == [], where
    foreign = [url for url in visitor.requests if not url.startswith(visitor.base)]
    assert foreign == [], where


def test_none_of_200_hostile_texts_runs_on_any_page(visitor: Visitor, project: Path, texts: _Texts) -> None:
    assert texts.given > N_TEXTS
    seen: set[str] = set()
    for path in _addresses(visitor, project):
        page = visitor.go(path)
        seen |= _shown(page)
        _check(visitor, path)
        assert page.locator("main").count() == 1, path
        assert page.locator("main script, main img, main iframe, main style, main base, main object").count() == 0, path
    assert len(seen) >= 150  # they were there, as text


def test_no_field_of_an_address_runs(visitor: Visitor, served: Served) -> None:
    texts = _Texts()
    refused = re.compile("Failed to load resource: the server responded with a status of 4")
    for path, fields in FIELDS.items():
        for field in fields:
            text = texts.next()
            where = path.format(quote(text, safe="")) + "?" + urlencode({field: text}, errors="surrogatepass")
            if path == "/savings.csv":
                continue
            visitor.page.goto(f"{visitor.base}{where}")
            visitor.troubles[:] = [trouble for trouble in visitor.troubles if not refused.match(trouble)]
            _check(visitor, where)
            assert visitor.page.locator("main script, main img, main iframe, main base").count() == 0, where
    assert not served.app.daemon.is_busy


def test_what_is_loaded_later_does_not_run(visitor: Visitor, project: Path) -> None:
    page = visitor.go("/memories")
    page.locator("#live-dot.on").wait_for()
    with Workspace.open(project) as workspace:
        workspace.memory.remember(f"Newest of all {' '.join(map(hostile, range(40)))}", actor="person:me")
    page.get_by_role("button", name="Show 1 new").click()
    page.get_by_text("Newest of all").first.wait_for()
    _check(visitor, "after a swap")


# -- what foreign pages try --------------------------------------------------------------------------------------------


class _Foreign(ThreadingHTTPServer):
    """A server of somebody else's pages at another port, which notes the cookies that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ForeignHandler)
        self.page = ""
        self.cookies: list[str] = []

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _ForeignHandler(BaseHTTPRequestHandler):
    server: _Foreign

    def do_GET(self) -> None:
        self.server.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>Foreign</title>{self.server.page}".encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def foreign() -> Iterator[_Foreign]:
    with _Foreign() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


# Each asks the daemon for something, and says how many characters it learned, or 1 if something was opened.
_TRICK = (
    "const got = (n) => { document.title = `got ${n}` };"
    "const all = {credentials: 'include'}, blind = {...all, mode: 'no-cors'};"
    "const learn = (asked) => asked.then(r => r.text()).then(t => got(t.length), () => got(0));"
)
TRICKS = {
    "fetch without cors": "learn(fetch('BASE/memories', blind))",
    "fetch with cors": "learn(fetch('BASE/memories', all))",
    "post without cors": "learn(fetch('BASE/memories', {...blind, method: 'POST', "
    "body: new URLSearchParams({action: 'archive', all: '1'})}))",
    "event stream": "let s = new EventSource('BASE/events', {withCredentials: true}); "
    "s.onopen = () => got(1); s.onerror = () => got(0)",
    "image": "let i = new Image(); i.onload = () => got(1); i.onerror = () => got(0); i.src = 'BASE/savings.csv'",
    "script": "let s = document.createElement('script'); s.onload = () => got(1); s.onerror = () => got(0); "
    "s.src = 'BASE/system/log'; document.head.append(s)",
    "web socket": "let s = new WebSocket('BASE/events'.replace('http', 'ws')); "
    "s.onopen = () => got(1); s.onerror = () => got(0)",
    "api": "learn(fetch('BASE/api/ui/link', {...blind, method: 'POST', body: '{}'}))",
}


def test_a_page_at_another_port_learns_and_changes_nothing(visitor: Visitor, foreign: _Foreign) -> None:
    active = "/memories?statuses=active"
    before = visitor.go(active).locator("#list .quiet").first.inner_text()
    for trick, script in TRICKS.items():
        foreign.page = f"<script>{_TRICK}{script.replace('BASE', visitor.base)}</script>"
        visitor.page.goto(foreign.origin)
        visitor.page.wait_for_function("document.title.startsWith('got')")
        assert visitor.page.title() == "got 0", trick
    assert visitor.go(active).locator("#list .quiet").first.inner_text() == before


def test_a_form_of_a_page_at_another_port_archives_nothing(visitor: Visitor, foreign: _Foreign) -> None:
    active = "/memories?statuses=active"
    before = visitor.go(active).locator("#list .quiet").first.inner_text()
    foreign.page = (
        f"<form method=post action='{visitor.base}/memories'><input name=action value=archive><input name=all value=1>"
        "<button>Win a prize</button></form>"
    )
    visitor.page.goto(foreign.origin)
    visitor.page.get_by_role("button").click()
    visitor.page.get_by_role("alert").wait_for()
    assert "requests from pages of other origins are refused" in visitor.page.locator("main").inner_text()
    assert visitor.go(active).locator("#list .quiet").first.inner_text() == before


def test_no_page_is_shown_in_a_frame(visitor: Visitor, foreign: _Foreign) -> None:
    foreign.page = f"<iframe src='{visitor.base}/memories'></iframe>"
    visitor.page.goto(foreign.origin)
    (frame,) = visitor.page.frames[1:]
    assert "Memories" not in frame.content()


def test_a_window_that_a_foreign_page_opened_is_out_of_its_reach(visitor: Visitor, foreign: _Foreign) -> None:
    foreign.page = f"<button onclick=\"w = window.open('{visitor.base}/memories')\">Open</button>"
    visitor.page.goto(foreign.origin)
    with visitor.page.expect_popup() as opened:
        visitor.page.get_by_role("button").click()
    opened.value.locator("main").wait_for()
    assert visitor.page.evaluate("w.closed || w.length === undefined")


def test_a_name_that_was_rebound_to_this_machine_shows_nothing(visitor: Visitor, served: Served) -> None:
    cookies = visitor.page.context.cookies()
    rebound = [{**cookie, "domain": FOREIGN} for cookie in cookies]
    visitor.page.context.add_cookies(rebound)  # type: ignore[arg-type] # as it came
    for path in ("/", "/memories", "/events", "/login?code=x", "/api/status"):
        got = visitor.page.goto(f"http://{FOREIGN}:{served.port}{path}")
        assert got is not None
        assert got.status == 401, path
        assert "ran(" not in got.text()


def test_a_link_works_for_one_browser_only(visitor: Visitor, chromium: Browser, served: Served) -> None:
    _, link = served.ask("POST", "/api/ui/link", {"path": "/memories"})
    visitor.page.goto(f"{visitor.base}{link['path']}")
    visitor.page.wait_for_url(f"{visitor.base}/memories")
    with chromium.new_context() as other:
        page = other.new_page()
        got = page.goto(f"{visitor.base}{link['path']}")
        assert got is not None
        assert got.status == 401
        assert "cairn ui" in page.locator("main").inner_text()
        assert other.cookies() == []


def test_the_cookie_of_our_own_name_goes_to_no_program_at_another_port(
    context: BrowserContext, served: Served, foreign: _Foreign
) -> None:
    _, link = served.ask("POST", "/api/ui/link", {"path": "/"})
    page = context.new_page()
    page.goto(f"http://cairn.localhost:{served.port}{link['path']}")
    page.wait_for_url(f"http://cairn.localhost:{served.port}/")
    assert page.get_by_role("heading", level=1).count() == 1
    page.goto(foreign.origin)
    assert foreign.cookies
    assert set(foreign.cookies) == {""}


def test_the_cookie_of_one_daemon_opens_no_other(visitor: Visitor, tmp_path: Path, project: Path) -> None:
    folder = StateFolder(tmp_path / "state")
    Registry(folder).add(project, "shop")
    (cookie,) = visitor.page.context.cookies()
    with serving(create_app(Settings(), folder=folder, token=TOKEN, extensions=[dashboard])) as other:
        visitor.page.goto(f"http://127.0.0.1:{other.port}/memories")
        assert visitor.page.title() == "Signed out · Cairn"
        stolen = {"cookie": f"cairn-{other.port}={cookie['value']}"}
        assert httpx.get(f"http://127.0.0.1:{other.port}/memories", headers=stolen).status_code == 401


def test_signing_out_ends_the_stream_of_an_open_page(visitor: Visitor, served: Served) -> None:
    page = visitor.go("/memories")
    page.locator("#live-dot.on").wait_for()
    served.ask("POST", "/api/ui/sign-out", {})
    page.get_by_role("heading", name="This browser is signed out").wait_for()
