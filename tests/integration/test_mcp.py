"""What agents are told, by the front end's own protocol and by the SDK's, over the same tools and a real index."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from cairn import Workspace
from cairn.client import Client, StreamedReply
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.errors import BusyError, IndexMissingError, RequestError
from cairn.mcp import wire
from cairn.mcp.about import INSTRUCTIONS
from cairn.mcp.http import InProcess, mcp_routes
from cairn.mcp.server import create_server
from cairn.mcp.surface import PROMPTS, RESOURCES, Surface
from cairn.mcp.text import MAX_CHARS
from cairn.mcp.tools import TOOLS, AgentCall, call
from cairn.mcp.wire import HANDSHAKE_REVISIONS, MODERN_REVISIONS, Connection
from cairn.protocol.core_requests import CoreRequest
from cairn.protocol.graph_requests import GraphRequest
from cairn.protocol.requests import IndexStatusRequest, SearchRequest
from cairn.protocol.table import core_operation, graph_operation
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.schema import decode
from cairn.source.text import estimate_tokens
from cairn.transport import HttpReply
from commands_run import note_commands
from conftest import Git
from small_projects import write_files

META = "io.modelcontextprotocol/"
LONG = "def long_one():\n" + "".join(f"    step({n}, 'näher am Ende {n}')\n" for n in range(900))
FILES = {
    "shop/money.py": '''"""Money."""


def total(prices):
    """Add up the prices of a cart."""
    return sum(tax(price) for price in prices)


def tax(price):
    """Add the tax to a price."""
    return price * 1.2
''',
    "shop/long.py": LONG,
    "shop/many.py": "def helper():\n    return 1\n\n\n"
    + "".join(f"def a_function_with_quite_a_name_{n}():\n    return helper()\n\n\n" for n in range(300)),
    "tests/test_money.py": "from shop.money import total\n\n\ndef test_total():\n    assert total([1]) == 1.2\n",
}
Message = dict[str, Any]
Runner = Callable[[Any], Any]


class Agent:
    """Asks a daemon inside this process, in one loop as daemons have it."""

    def __init__(self, root: Path, client: Client, run: Runner) -> None:
        self.root = root
        self.client = client
        self.run = run

    def surface(self, prepare: Callable[[], Awaitable[None]] | None = None) -> Surface:
        return Surface(self.client, str(self.root), prepare)

    def call(self, tool: str, /, **arguments: object) -> tuple[str, bool]:
        asked = {"name": tool, "arguments": arguments}
        answer = self.run(self.surface().handle("tools/call", asked))
        return answer["content"][0]["text"], answer["isError"]


@contextmanager
def _agent(folder: Path) -> Iterator[Agent]:
    root = folder / "shop"
    write_files(root, FILES)
    state = StateFolder(folder / "daemon")
    Registry(state).add(root, "shop")
    app = create_app(Settings(), folder=state, extensions=[mcp_routes])
    with asyncio.Runner() as runner:
        yield Agent(root, Client(InProcess(app)), runner.run)
        app.daemon.projects.close()


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """An agent in a project that is indexed."""
    with _agent(tmp_path_factory.mktemp("agent")) as found:
        found.call("search", query="tax")
        yield found


@pytest.fixture
def first_agent(tmp_path: Path) -> Iterator[Agent]:
    """The first agent in a project: nothing is indexed yet."""
    with _agent(tmp_path) as found:
        yield found


# -- what the tools say ------------------------------------------------------------------------------------------------


def test_a_search_names_places_and_ids_that_fetch_takes(agent: Agent) -> None:
    found, failed = agent.call("search", query="add the tax to a price")
    assert not failed
    assert re.match(r"shop/money\.py:\d+  ", found)
    text_id = re.search(r"c_[0-9a-z.]+", found)
    assert text_id
    fetched, failed = agent.call("fetch", ids=[text_id[0]])
    assert not failed
    assert "return price * 1.2" in fetched


def test_an_id_that_names_nothing_is_noted_below_the_texts_of_the_others(agent: Agent) -> None:
    page, failed = agent.call("fetch", ids=["shop/money.py#nope", "shop/money.py#tax"])
    assert not failed
    assert "return price * 1.2" in page
    assert "Nothing of shop/money.py#nope: error[not-found]" in page


def test_a_cut_text_says_how_to_get_the_rest_until_there_is_none(agent: Agent) -> None:
    skip, whole = 0, ""
    for _ in range(20):
        page, failed = agent.call("fetch", ids=["shop/long.py#long_one"], skip_lines=skip)
        assert not failed
        assert len(page) <= MAX_CHARS
        body, _, rest = page.partition("\n\nCut before line")
        whole += body.partition("\n")[2].rstrip("\n") + "\n"
        if not rest:
            break
        skip = int(re.findall(r"skip_lines=(\d+)", rest)[0])
    assert whole == LONG


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"relation": "callers", "symbol": "tax"}, "shop/money.py:6  function total"),
        ({"relation": "callees", "symbol": "total"}, "shop/money.py:6  function tax"),
        ({"relation": "path", "symbol": "test_total", "target": "tax"}, "shop/money.py:6  function tax"),
        ({"relation": "importers", "symbol": "shop/money.py"}, "tests/test_money.py:1"),
        ({"relation": "impact", "symbol": "tax"}, "depth 1  shop/money.py:4  function total"),
        ({"relation": "tests", "symbol": "tax"}, "test  tests/test_money.py:1"),
        ({"relation": "callers", "symbol": "test_total"}, "Nothing calls it."),
        ({"relation": "references", "symbol": "total"}, "call  tests/test_money.py:5  in test_total"),
        ({"relation": "references", "symbol": "total"}, "import  tests/test_money.py:1  from shop.money import total"),
        ({"relation": "references", "symbol": "helper"}, "240 more: raise `limit`."),
        ({"relation": "subclasses", "symbol": "tax"}, "Nothing derives from it."),
    ],
)
def test_each_question_to_the_graph_is_answered_with_places(
    agent: Agent, arguments: dict[str, str], expected: str
) -> None:
    found, failed = agent.call("graph", **arguments)
    assert not failed
    assert expected in found


def test_an_outline_a_context_and_the_status_are_text(agent: Agent) -> None:
    assert "total(prices)" in agent.call("outline", file="shop/money.py")[0]
    assert "def tax(price)" in agent.call("context", task="change the tax")[0]
    status, failed = agent.call("index_status", check=True)
    assert not failed
    assert "4 files" in status
    assert "healthy" in status


def test_core_files_are_marked_listed_and_unmarked(agent: Agent) -> None:
    assert "action=suggest" in agent.call("core_files")[0]
    assert "shop/money.py:1" in agent.call("core_files", action="suggest")[0]
    marked, _ = agent.call("core_files", action="mark", file="shop/money.py", summary="All about money")
    assert "is a core file now" in marked
    listed, _ = agent.call("core_files", action="list")
    assert "shop/money.py:1  All about money" in listed
    assert "  9: def tax(price)" in listed
    assert "is not a core file any more" in agent.call("core_files", action="unmark", file="shop/money.py")[0]
    assert (agent.root / ".cairn" / "core.yaml").read_text().startswith("# ")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("search", {}, "field 'query' is missing\ntry: search takes: query"),
        ("search", {"query": 5}, "error[request]: field 'query' must be a string"),
        ("search", {"query": "x", "colour": "red"}, "unknown field 'colour'"),
        ("search", {"query": "x", "max_tokens": 500}, "unknown field 'max_tokens'"),  # of the request, not of the tool
        ("graph", {"relation": "callers", "symbol": "tax", "max_tokens": 500}, "try: graph takes: relation, symbol"),
        ("search", {"query": "x", "project": "other"}, "error[project]"),
        ("fetch", {"ids": ["c_nothing"]}, "error[not-found]"),
        ("outline", {"file": "../../etc/passwd"}, "error[path]"),
        ("outline", {"file": "none.py"}, "error[not-found]"),
        ("graph", {"relation": "callers"}, "callers needs 'symbol'"),
        ("graph", {"relation": "path", "symbol": "tax"}, "path needs 'target'"),
        ("graph", {"relation": "callers", "symbol": "tax", "diff": "HEAD"}, "callers takes no 'diff'"),
        ("graph", {"relation": "callers", "symbol": "nowhere"}, "error[symbol-unknown]"),
        ("core_files", {"action": "mark"}, "mark needs 'file'"),
        ("context", {}, "error[request]"),
        ("outline", {"file": "\ud800"}, "error[request]: field 'file' contains half a character"),
        ("search", {"query": "x" * 1_100_000}, "error[too-large]"),
    ],
)
def test_what_is_wrong_is_told_as_an_answer_the_model_reads(
    agent: Agent, tool: str, arguments: dict[str, object], expected: str
) -> None:
    text, failed = agent.call(tool, **arguments)
    assert failed
    assert expected in text
    assert "\ntry: " in text


ALONE = "index|doctor|daemon|config"  # what a command does and no tool


def _commands(text: str) -> list[str]:
    """Return the commands and flags that a text names, without those of git and of what no tool does."""
    sentences = [line for line in text.splitlines() if not re.search(rf"\bcairn (?:{ALONE})\b|\bgit -", line)]
    return re.findall(r"\bcairn [a-z]+\b|(?<!\S)--[a-z]+|(?<!\S)-C\b", "\n".join(sentences))


PROVOKED: list[tuple[str, dict[str, Any], str]] = [
    ("graph", {"relation": "callers", "symbol": "nowhere"}, "`search` with query='nowhere'"),
    ("graph", {"relation": "callers", "symbol": "step"}, ""),
    ("graph", {"relation": "impact"}, "`graph` with relation=impact"),
    ("graph", {"relation": "path", "symbol": "tax"}, ""),
    ("graph", {"relation": "tests", "diff": "nowhere"}, ""),
    ("graph", {"relation": "callers", "symbol": "helper", "limit": 1}, ""),
    ("search", {"query": "callers of tax"}, "to take it as prose: `search` with mode=hybrid and a `query`"),
    ("search", {"query": "function tax"}, "to take it as prose: `search` with mode=hybrid and a `query`"),
    ("search", {"query": ""}, ""),
    ("search", {"query": "(", "mode": "regex"}, ""),
    ("search", {"query": "print($X", "mode": "structural"}, ""),
    ("search", {"query": "$X", "mode": "structural", "languages": ["python"]}, ""),
    ("search", {"query": "tax", "kinds": ["nothing"]}, ""),
    ("search", {"query": "tax", "languages": ["nothing"]}, ""),
    ("search", {"query": "tax", "branch": "nowhere"}, ""),
    ("search", {"query": "nothing of the kind: qqqqq"}, ""),
    ("search", {"query": "tax", "project": "all"}, ""),
    ("fetch", {"ids": ["nothing"]}, ""),
    ("fetch", {"ids": ["c_nothing"]}, ""),
    ("fetch", {"ids": ["shop/long.py#nothing"]}, ""),
    ("fetch", {"ids": ["shop/long.py#long_one"], "branch": "main"}, ""),
    ("context", {"task": "the long one", "files": ["shop/long.py"]}, ""),
    ("context", {"task": "a function with quite a name", "limit": 1}, ""),
    ("context", {}, "`context` with a `task`"),
    ("outline", {"file": "none.py"}, ""),
    ("outline", {"file": "../out.py"}, "`outline` with a `file` and a `project`"),
    ("outline", {"file": "shop"}, ""),
    ("outline", {"file": "shop/money.py", "mode": "context"}, "mode=context and a `symbol`"),
    ("outline", {"file": "shop/money.py", "symbol": "nothing"}, ""),
    ("outline", {"file": "shop/long.py", "mode": "context", "symbol": "long_one"}, "`fetch` with ids=['shop/long.py#"),
    ("outline", {"file": "shop/many.py"}, "left out; all take"),
    ("outline", {"file": "shop/many.py", "mode": "extract"}, "mode=extract and a `symbol`"),
    ("resolve", {"ids": ["m_zzz"]}, "`recall` with a `query`"),
    ("resolve", {"ids": []}, "`recall` with a `query`"),
    ("graph", {"relation": "related", "symbol": "none.py"}, "`core_files` with action=suggest"),
    ("graph", {"relation": "related", "symbol": "shop"}, "`core_files` with action=suggest"),
    ("core_files", {}, ""),
    ("core_files", {"action": "mark", "file": "none.py"}, ""),
    ("core_files", {"action": "unmark", "file": "none.py"}, ""),
    ("index_status", {"check": True}, ""),
    ("index_status", {"project": "nowhere"}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "expected"), PROVOKED)
def test_agents_are_told_of_tools_and_not_of_commands_or_flags(
    agent: Agent, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    text, _ = agent.call(tool, **arguments)
    assert _commands(text) == []
    assert expected in text


def test_code_that_holds_commands_is_shown_as_it_is(first_agent: Agent) -> None:
    code = 'def tell():\n    print("cairn search QUERY --mode hybrid, with --lang, or --diff; leave out --branch")\n'
    (first_agent.root / "tell.py").write_text(code)
    shown = [
        first_agent.call("context", task="tell", files=["tell.py"]),
        first_agent.call("outline", file="tell.py", mode="context", symbol="tell"),
        first_agent.call("search", query="print(", mode="literal"),
        first_agent.call("fetch", ids=["tell.py#tell"]),
    ]
    for text, failed in shown:
        assert not failed
        assert code.split("\n")[1].strip() in text


def test_what_is_left_out_is_counted_with_what_gets_it(agent: Agent) -> None:
    assert "raise `limit`" in agent.call("search", query="step", mode="literal", limit=3)[0]
    full, _ = agent.call("search", query="step", mode="literal", limit=0)
    assert "more hits: narrow with" in full
    assert "raise" not in full
    few, _ = agent.call("graph", relation="callers", symbol="helper", limit=2)
    assert "298 more: raise `limit`." in few
    every, _ = agent.call("graph", relation="callers", symbol="helper")
    assert re.search(r"\d+ more have no room: `search` for `callers of X` with `globs`", every)
    outline, _ = agent.call("outline", file="shop/many.py")
    assert outline.count("left out") == 1
    assert "or ask for one: `outline` with file='shop/many.py' and a `symbol`" in outline


def test_a_line_that_matches_is_told_in_few_words(agent: Agent) -> None:
    found, _ = agent.call("search", query="price * 1.2", mode="literal")
    assert re.fullmatch(r"shop/money\.py:11  function tax  \(c_[0-9a-z.]+\)\n {8}return price \* 1\.2", found)


def test_a_search_that_its_filters_leave_empty_says_so(agent: Agent) -> None:
    nothing, _ = agent.call("search", query="tax", globs=["nowhere/**"], kinds=["struct"])
    assert "with these `globs`, `kinds`" in nothing
    assert "without them" in nothing
    assert "with these" not in agent.call("search", query="zzzz", mode="literal")[0]


def test_a_kind_that_nobody_knows_is_an_error_that_names_the_known_ones(agent: Agent) -> None:
    for project in ("", "all"):
        told, failed = agent.call("search", query="tax", kinds=["klass"], project=project)
        assert failed
        assert "no kind is called klass" in told
        assert "class, " in told


def test_a_change_of_nothing_is_not_called_unresolved(first_agent: Agent, git: Git) -> None:
    git(first_agent.root, "init", "-q")
    git(first_agent.root, "add", "-A")
    git(first_agent.root, "commit", "-qm", "one")
    found, failed = first_agent.call("graph", relation="impact", diff="HEAD")
    assert found.startswith("No definition changed since then.\nFiles that are not indexed are not compared")
    assert not failed


def test_a_text_that_is_empty_says_why(first_agent: Agent) -> None:
    beyond, failed = first_agent.call("fetch", ids=["shop/money.py#tax"], skip_lines=50)
    assert not failed
    assert "Nothing of shop/money.py#tax: it ends before skip_lines=50." in beyond
    found, _ = first_agent.call("search", query="add the tax to a price")
    text_id = re.findall(r"c_[0-9a-z.]+", found)[0]
    (first_agent.root / "shop" / "money.py").unlink()
    gone, _ = first_agent.call("fetch", ids=[text_id])
    assert re.search(r"its file is gone|error\[not-found\]", gone)  # before the watcher saw it, and after


def test_a_project_whose_folder_is_gone_is_named_by_every_tool_until_it_is_back(first_agent: Agent) -> None:
    assert not first_agent.call("search", query="tax")[1]
    moved = first_agent.root.rename(first_agent.root.with_name("moved"))
    for tool, arguments in (("search", {"query": "tax"}), ("outline", {"file": "shop/money.py"}), ("core_files", {})):
        text, failed = first_agent.call(tool, **arguments)
        assert failed
        assert "error[project]: the folder of shop is gone" in text
    moved.rename(first_agent.root)
    assert not first_agent.call("search", query="tax")[1]


def test_a_call_that_takes_longer_than_agents_wait_says_that_its_work_goes_on(agent: Agent) -> None:
    async def late(asked: AgentCall, request: IndexStatusRequest) -> str:
        await asyncio.sleep(60)
        return ""

    tool = TOOLS["index_status"]._replace(run=late, needs_index=False)
    with pytest.raises(BusyError, match=r"no answer in 0\.01 s") as told:
        agent.run(call(tool, AgentCall(agent.client, nowhere), IndexStatusRequest(), within_seconds=0.01))
    assert "ask again" in told.value.hint


def test_null_stands_for_what_is_left_out(agent: Agent) -> None:
    assert not agent.call("search", query="tax", limit=None, globs=None, branch=None)[1]


def test_the_first_index_is_told_step_by_step(first_agent: Agent) -> None:
    news: list[tuple[float, float, str]] = []

    async def report(done: float, total: float, message: str) -> None:
        news.append((done, total, message))

    surface = first_agent.surface()
    asked = {"name": "search", "arguments": {"query": "tax"}}
    first_agent.run(surface.handle("tools/call", asked, report))
    assert news
    assert news[-1] == (4, 4, "indexing 4 of 4 files")
    news.clear()
    first_agent.run(surface.handle("tools/call", asked, report))
    assert not news


async def nowhere(done: float, total: float, message: str) -> None:
    """Report to nobody."""


class StillBuilding:
    """Carries requests to a daemon whose first build takes for ever; it answers from the second question on."""

    def __init__(self, *, shows_a_part: bool) -> None:
        self._shows_a_part = shows_a_part
        self._looks = 0

    async def send(self, method: str, path: str, body: bytes | None) -> HttpReply:
        self._looks += 1
        if self._shows_a_part and self._looks > 1:
            return HttpReply(200, {}, b'{"notes": ["a part"]}')
        return HttpReply(409, {}, b'{"code": "index-missing", "message": "not indexed", "hint": "cairn index"}')

    @asynccontextmanager
    async def stream(self, method: str, path: str, body: bytes | None) -> AsyncIterator[StreamedReply]:
        await asyncio.sleep(60)
        raise AssertionError
        yield


def test_the_first_part_of_a_long_first_index_is_answered_from() -> None:
    async def notes(asked: AgentCall, request: SearchRequest) -> str:
        (note,) = (await asked.perform("search", request))["notes"]
        return str(note)

    def ask(*, shows_a_part: bool) -> str:
        asked = AgentCall(Client(StillBuilding(shows_a_part=shows_a_part)), nowhere)
        tool = TOOLS["search"]._replace(run=notes)
        return asyncio.run(call(tool, asked, SearchRequest(query="tax"), first_index_seconds=0.01))

    assert ask(shows_a_part=True) == "a part"
    with pytest.raises(BusyError, match="indexed for the first time: it has just begun"):
        ask(shows_a_part=False)


_NO_FILES = ("/proc/self/task", sys.executable)  # threads are counted, and a helper that parses is started


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where this process looks for files, folder by folder, or has git look."""
    looked: list[str] = []

    def note(what: str, where: object) -> None:
        # Who watches the project has a thread of its own, and may look around at any time.
        if where not in _NO_FILES and not threading.current_thread().name.startswith("cairn-watch"):
            looked.append(f"{what} {where}")

    def noted(name: str) -> Callable[..., object]:
        function = getattr(os, name)

        def look(path: object = ".") -> object:
            note(name, path)
            return function(path)

        return look

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, noted(name))
    note_commands(monkeypatch, lambda command: note("run", command[0]))
    return looked


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("search", {"query": "tax"}), ("graph", {"relation": "callers", "symbol": "tax"}), ("context", {"task": "tax"})],
)
def test_a_tool_looks_for_no_files_while_the_project_is_watched(
    agent: Agent, looks: list[str], tool: str, arguments: Message
) -> None:
    for _ in range(300):  # the watcher starts behind the first answer
        looks.clear()
        assert not agent.call(tool, **arguments)[1]
        if not looks:
            break
        time.sleep(0.1)
    assert not looks


def test_a_daemon_that_is_not_to_build_an_index_says_at_once_that_there_is_none(first_agent: Agent) -> None:
    with pytest.raises(IndexMissingError, match="not indexed yet"):
        first_agent.run(first_agent.client.call("search", SearchRequest(query="tax", build=False)))
    assert not (first_agent.root / ".cairn" / "index.db").exists()
    assert first_agent.run(first_agent.client.call("search", SearchRequest(query="tax")))["code"]


def test_a_branch_that_is_not_indexed_is_named_and_not_taken_for_a_project_without_an_index(
    first_agent: Agent, git: Git
) -> None:
    git(first_agent.root, "init", "-q")
    git(first_agent.root, "add", "-A")
    git(first_agent.root, "commit", "-qm", "first")
    git(first_agent.root, "branch", "other")
    text, failed = first_agent.call("search", query="tax", branch="other")
    assert failed
    assert "error[index-missing]: other is not indexed yet" in text


def test_the_branch_that_is_checked_out_is_answered_from_the_checkout(first_agent: Agent, git: Git) -> None:
    git(first_agent.root, "init", "-q")
    git(first_agent.root, "add", "-A")
    git(first_agent.root, "commit", "-qm", "first")
    (first_agent.root / "tariff.py").write_text("def tariff_of_today():\n    return 1\n")
    for name in ("main", "HEAD"):
        text, failed = first_agent.call("search", query="tariff_of_today", branch=name)
        assert (failed, "tariff.py" in text) == (False, True), (name, text)
    with Workspace.open(first_agent.root) as workspace:
        workspace.index(branch="main")
    text, failed = first_agent.call("search", query="tariff_of_today", branch="main")
    assert "tariff.py" not in text


def test_a_long_first_index_is_told_a_few_times_a_second_and_not_file_by_file(first_agent: Agent) -> None:
    for n in range(300):
        (first_agent.root / f"file{n}.py").write_text(f"x{n} = 1\n")
    news: list[tuple[float, float, str]] = []

    async def report(done: float, total: float, message: str) -> None:
        news.append((done, total, message))

    started = time.monotonic()
    first_agent.run(
        first_agent.surface().handle("tools/call", {"name": "search", "arguments": {"query": "tax"}}, report)
    )
    assert len(news) <= 2 + 5 * (time.monotonic() - started)
    assert news[-1][0] == news[-1][1] == 304


def test_many_agents_may_ask_first_while_the_project_is_watched_but_not_indexed(first_agent: Agent) -> None:
    asked = {"name": "search", "arguments": {"query": "tax"}}

    async def all_at_once() -> list[Message]:
        await first_agent.surface().handle("tools/call", {"name": "core_files", "arguments": {}})
        return await asyncio.gather(*(first_agent.surface().handle("tools/call", asked) for _ in range(20)))

    answers = first_agent.run(all_at_once())
    assert not [one for one in answers if one["isError"]]


# -- what agents are told of the tools ---------------------------------------------------------------------------------


def test_the_list_of_tools_is_short_and_comes_out_of_the_requests() -> None:
    described = [one.describe() for one in TOOLS.values()]
    assert len(TOOLS) <= 10
    assert estimate_tokens(len(json.dumps({"tools": described}))) < 2_500
    assert len(INSTRUCTIONS) < 2_048
    for tool, shown in zip(TOOLS.values(), described, strict=True):
        assert len(tool.description) < 2_048
        assert shown["annotations"]["openWorldHint"] is False
        assert shown["annotations"]["readOnlyHint"] is (tool.name not in ("core_files", "remember", "resolve"))
        assert set(shown["inputSchema"]["properties"]) == set(tool.offers) <= set(tool.request.__dataclass_fields__)
        assert "anyOf" not in json.dumps(shown["inputSchema"])


def test_a_symbol_may_be_called_like_the_question_asked_of_it() -> None:
    name, request = graph_operation(decode(GraphRequest, {"relation": "callers", "symbol": "callers"}))
    assert (name, request.symbol) == ("graph/callers", "callers")  # type: ignore[attr-defined] # a SymbolRequest
    assert core_operation(CoreRequest())[0] == "core/list"
    with pytest.raises(RequestError, match="list takes no 'file'"):
        core_operation(CoreRequest(file="a"))


# -- the protocol ------------------------------------------------------------------------------------------------------


def _envelope(revision: str) -> Message:
    return {f"{META}protocolVersion": revision, f"{META}clientCapabilities": {}}


def _conversation(revision: str) -> list[Message]:
    """Return requests of everything a client may ask, rightly and wrongly."""
    asked: list[tuple[str, Message]] = [
        ("tools/list", {}),
        ("tools/call", {"name": "outline", "arguments": {"file": "shop/money.py"}}),
        ("tools/call", {"name": "outline", "arguments": {"file": 1}}),
        ("tools/call", {"name": "nothing", "arguments": {}}),
        ("tools/call", {"arguments": {}}),
        ("prompts/list", {}),
        *[("prompts/get", {"name": one.name, "arguments": {"question": "Q"}}) for one in PROMPTS.values()],
        ("prompts/get", {"name": "search"}),
        ("prompts/get", {"name": "status", "arguments": 5}),
        ("tools/call", {"name": "search", "arguments": []}),
        ("prompts/get", {"name": "nothing"}),
        ("resources/list", {}),
        *[("resources/read", {"uri": uri}) for uri in RESOURCES],
        ("resources/read", {"uri": "cairn://nothing"}),
        ("resources/templates/list", {}),
        ("nothing/of/that", {}),
    ]
    if revision in MODERN_REVISIONS:
        meta = _envelope(revision)
        first: list[tuple[str, Message]] = [("server/discover", {}), ("ping", {}), ("initialize", {})]
        asked = [(method, {**params, "_meta": meta}) for method, params in (first[:2] + asked)]
        asked.append(("tools/list", {"_meta": {f"{META}protocolVersion": revision}}))
        asked.append(("tools/list", {"_meta": _envelope("2099-01-01")}))
    else:
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        asked = [("initialize", hello), ("ping", {}), *asked]
    return [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked)
    ]


async def _by_hand(surface: Surface, messages: Iterable[Message]) -> list[Message]:
    """Return the answers of the front end's protocol, each asked for when the one before is there."""
    sent: list[Message] = []
    connection = Connection(lambda: surface, lambda line: sent.append(json.loads(line)))
    for message in messages:
        connection.receive(json.dumps(message).encode())
        await connection.drain(60)
    return sent


async def _by_sdk(agent: Agent, messages: Iterable[Message]) -> list[Message]:
    """Return the answers of the SDK's server to the same."""
    server = create_server(agent.client, str(agent.root))
    to_server, server_in = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    server_out, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    answers = []
    async with anyio.create_task_group() as group, to_server, from_server:
        group.start_soon(server.run, server_in, server_out, server.create_initialization_options())
        for message in messages:
            parsed = types.jsonrpc_message_adapter.validate_json(json.dumps(message), by_name=False)
            await to_server.send(SessionMessage(parsed))
            if "id" in message:
                answer = await from_server.receive()
                answers.append(json.loads(answer.message.model_dump_json(by_alias=True, exclude_unset=True)))
        group.cancel_scope.cancel()
    return answers


def _comparable(message: Message) -> Message:
    """Return a message without the words and the details of an error, which every server puts its own way."""
    if "error" in message:
        return {"id": message["id"], "error": message["error"]["code"]}
    return message


@pytest.mark.parametrize("revision", [*HANDSHAKE_REVISIONS, *MODERN_REVISIONS])
def test_the_front_end_says_what_the_official_sdk_says(agent: Agent, revision: str) -> None:
    messages = _conversation(revision)
    if revision in HANDSHAKE_REVISIONS:
        messages.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def both() -> tuple[list[Message], list[Message]]:
        ours = await _by_hand(agent.surface(), messages)
        return ours, await _by_sdk(agent, messages)

    ours, theirs = agent.run(both())
    assert len(ours) == len(theirs) == sum("id" in one for one in messages)
    for mine, yours in zip(ours, theirs, strict=True):
        assert _comparable(mine) == _comparable(yours)


def test_the_revisions_are_those_of_the_sdk() -> None:
    from mcp_types import version  # noqa: PLC0415 - only what this test is about

    assert HANDSHAKE_REVISIONS == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert MODERN_REVISIONS == version.MODERN_PROTOCOL_VERSIONS
    assert types.UNSUPPORTED_PROTOCOL_VERSION == wire.UNSUPPORTED_REVISION


def test_an_unknown_revision_gets_the_newest_that_begins_with_a_handshake(agent: Agent) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "1999-01-01"}}
    (answer,) = agent.run(_by_hand(agent.surface(), [hello]))
    assert answer["result"]["protocolVersion"] == HANDSHAKE_REVISIONS[-1]


# -- messages as lines -------------------------------------------------------------------------------------------------

Act = Callable[[Connection, list[Message]], Awaitable[None]]


def _talk(agent: Agent, act: Act, surface: Surface | None = None) -> list[Message]:
    async def run() -> list[Message]:
        sent: list[Message] = []
        connection = Connection(lambda: surface or agent.surface(), lambda line: sent.append(json.loads(line)))
        await act(connection, sent)
        await connection.drain(60)
        return sent

    answers: list[Message] = agent.run(run())
    return answers


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"no json\n", wire.PARSE_ERROR, None),
        (b"\xff\xfe\n", wire.PARSE_ERROR, None),
        (b"[" * 100_000, wire.PARSE_ERROR, None),
        (b"[]", wire.INVALID_REQUEST, None),
        (b"5", wire.INVALID_REQUEST, None),
        (b'{"id": 1, "method": "ping"}', wire.INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0", "id": 7}', wire.INVALID_REQUEST, 7),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', wire.INVALID_REQUEST, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', wire.INVALID_REQUEST, 1),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list/x"}', wire.METHOD_NOT_FOUND, 1),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}', -32602, 1),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fetch", "arguments": 5}}',
            -32602,
            1,
        ),
    ],
)
def test_what_is_no_request_gets_an_error(agent: Agent, line: bytes, code: int, number: int | None) -> None:
    async def act(connection: Connection, sent: list[Message]) -> None:
        connection.receive(line)

    (answer,) = _talk(agent, act)
    assert (answer["error"]["code"], answer["id"]) == (code, number)


def test_params_that_are_null_are_none(agent: Agent) -> None:
    async def act(connection: Connection, sent: list[Message]) -> None:
        connection.receive(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": null}')

    assert _talk(agent, act) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_notifications_and_answers_get_none(agent: Agent) -> None:
    async def act(connection: Connection, sent: list[Message]) -> None:
        connection.receive(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        connection.receive(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}')
        connection.receive(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5}')
        connection.receive(b'{"jsonrpc": "2.0", "id": 1, "result": {}}')

    assert _talk(agent, act) == []


def test_each_message_of_a_batch_is_answered(agent: Agent) -> None:
    async def act(connection: Connection, sent: list[Message]) -> None:
        pings = [{"jsonrpc": "2.0", "id": f"p{n}", "method": "ping"} for n in range(3)]
        connection.receive(json.dumps([*pings, 5]).encode())

    answers = _talk(agent, act)
    assert sorted(str(one["id"]) for one in answers) == ["None", "p0", "p1", "p2"]


def test_a_request_that_fails_unexpectedly_is_answered_with_an_error(agent: Agent) -> None:
    async def act(connection: Connection, sent: list[Message]) -> None:
        connection.receive(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')

    def fail() -> dict[str, str]:
        raise OSError("no such device")

    (answer,) = _talk(agent, act, Surface(agent.client, texts=fail))
    assert answer == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "OSError: no such device"}}


def test_a_cancelled_call_is_not_answered_and_hinders_no_other(agent: Agent) -> None:
    waiting = asyncio.Event()

    async def prepare() -> None:
        waiting.set()
        await asyncio.sleep(60)

    async def act(connection: Connection, sent: list[Message]) -> None:
        call = {"name": "outline", "arguments": {"file": "shop/money.py"}}
        connection.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode())
        await asyncio.wait_for(waiting.wait(), 10)
        connection.receive(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}')
        connection.receive(b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}')

    assert _talk(agent, act, agent.surface(prepare)) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_progress_goes_to_those_who_ask_for_it_and_only_up(first_agent: Agent) -> None:
    async def act(connection: Connection, sent: list[Message]) -> None:
        call = {"name": "search", "arguments": {"query": "tax"}, "_meta": {"progressToken": "t"}}
        connection.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode())

    *news, answer = _talk(first_agent, act)
    assert answer["id"] == 1
    assert news
    assert all(one["method"] == "notifications/progress" for one in news)
    assert all(one["params"]["progressToken"] == "t" for one in news)
    steps = [one["params"]["progress"] for one in news]
    assert steps == sorted(set(steps))


def test_a_client_is_asked_where_it_works_only_if_it_offers_to_say_and_need_not_say_it_well(agent: Agent) -> None:
    said: list[list[str]] = []

    async def act(connection: Connection, sent: list[Message]) -> None:
        assert await connection.roots() == []
        hello = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}}
        connection.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode())
        await connection.drain(10)
        wrong: list[Message] = [
            {"result": one} for one in (None, 5, {}, {"roots": 5}, {"roots": [5, {"uri": 5}, {"uri": "file:///a"}]})
        ]
        for answer in (*wrong, {"error": {"code": -32601, "message": "no"}}):
            asking = asyncio.create_task(connection.roots())
            await asyncio.sleep(0)
            connection.receive(json.dumps({"jsonrpc": "2.0", "id": sent[-1]["id"], **answer}).encode())
            said.append(await asyncio.wait_for(asking, 10))

    sent = _talk(agent, act)
    assert said == [[], [], [], [], ["file:///a"], []]
    numbers = [one["id"] for one in sent if one.get("method") == "roots/list"]
    assert len(set(numbers)) == len(said)
