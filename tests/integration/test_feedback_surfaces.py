"""What searches showed and what was done then, noted from every surface and said over each."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cairn.cli.main import main
from cairn.client import Client
from cairn.errors import NotFoundError, RequestError
from cairn.hooks.intercept import Interceptor
from cairn.hooks.report import Happening, ToolUse
from cairn.mcp.surface import Surface
from cairn.memory.feedback import AnsweredQuestion
from cairn.memory.moments import Moment, ToolCall
from cairn.storage.memory.observation_db import Conditions
from cairn.workspace import Workspace
from conftest import Git
from serving import AsgiTransport, make_app
from shown_memories import note_injections
from small_projects import write_files

FILES = {
    "src/cart.py": "class Cart:\n    def total(self):\n        return sum(self.prices)\n",
    "src/bank.py": "class BankClient:\n    def charge(self, cents):\n        return self.bank.pay(cents)\n",
}
SESSION = "claude-code:s1"


class Daemon:
    """A project behind a daemon inside this process, and an agent that works in it."""

    def __init__(self, root: Path, client: Client, runner: asyncio.Runner) -> None:
        self.root, self._client, self._runner = root, client, runner

    def ask(self, operation: str, **fields: object) -> Any:  # noqa: ANN401 - JSON
        return self._runner.run(self._client.post(f"/api/{operation}", {"project": str(self.root), **fields}))

    def call(self, tool: str, **arguments: object) -> str:
        surface = Surface(self._client, str(self.root))
        answer = self._runner.run(surface.handle("tools/call", {"name": tool, "arguments": arguments}))
        return str(answer["content"][0]["text"])

    def report(self, tool: str, target: str, name: str = "") -> None:
        payload = {"call": {"tool": tool, "name": name or tool, "target": target, "outcome": "ok"}}
        fields = {"session": SESSION, "agent": "claude-code", "payload": json.dumps(payload)}
        self._runner.run(self._client.post("/api/hook/after-tool", {"project": str(self.root), **fields}))

    def wait(self, is_there: Callable[[list[AnsweredQuestion]], bool]) -> list[AnsweredQuestion]:
        """Return what is noted, once that is there: it is noted after the answer."""
        deadline = time.monotonic() + 20
        with Workspace.open(self.root) as workspace:
            while not is_there(answered := workspace.memory.feedback.answered()):
                assert time.monotonic() < deadline
                self.ask("memories")
        return answered


@pytest.fixture
def root(checkout: Path, git: Git) -> Path:
    write_files(checkout, FILES)
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "first")
    with Workspace.open(checkout) as workspace:
        workspace.index()
        workspace.memory.remember("The bank locks the account after five payments")
    return checkout


@pytest.fixture
def daemon(root: Path, tmp_path: Path) -> Iterator[Daemon]:
    app = make_app(tmp_path / "daemon", root)
    with asyncio.Runner() as runner:
        yield Daemon(root, Client(AsgiTransport(app)), runner)
        app.daemon.projects.close()


def _uses(answered: list[AnsweredQuestion]) -> list[tuple[str, str]]:
    return [(use.path, use.use) for question in answered for use in question.uses]


def test_a_search_over_http_is_noted_with_what_it_showed_and_what_its_session_did(daemon: Daemon) -> None:
    document = daemon.ask("search", query="charge the bank", session=SESSION)
    daemon.wait(lambda answered: len(answered) == 1)
    daemon.report("read", str(daemon.root / "src" / "bank.py"))
    daemon.report("edit", "src/cart.py")
    (answered,) = daemon.wait(lambda answered: len(_uses(answered)) == 2)
    assert (answered.question.surface, answered.question.session) == ("http", SESSION)
    assert answered.question.n_found == len(document["code"]) + document["omitted"]
    assert [(hit.id, hit.path) for hit in answered.shown] == [(hit["id"], hit["filepath"]) for hit in document["code"]]
    assert _uses([answered]) == [("src/bank.py", "read"), ("src/cart.py", "edited")]


def test_a_search_over_mcp_belongs_to_the_session_that_reports_it(daemon: Daemon) -> None:
    daemon.call("search", query="charge the bank")
    (asked,) = daemon.wait(lambda answered: len(answered) == 1)
    assert (asked.question.surface, asked.question.session) == ("mcp", "")
    daemon.call("fetch", ids=[asked.shown[0].id])
    daemon.report("mcp", "charge the bank", name="mcp__cairn__search")
    daemon.report("edit", "src/bank.py")
    (answered,) = daemon.wait(lambda answered: len(_uses(answered)) == 2)
    assert answered.question.session == SESSION
    assert {use for _, use in _uses([answered])} == {"fetched", "edited"}


def test_a_context_for_a_task_is_a_question_and_one_of_results_fetches_them(daemon: Daemon) -> None:
    document = daemon.ask("context", task="charge the bank", session=SESSION)
    daemon.wait(lambda answered: len(answered) == 1)
    daemon.ask("context", ids=[document["items"][0]["id"]], session=SESSION)
    (answered,) = daemon.wait(lambda answered: bool(_uses(answered)))
    assert answered.question.text == "charge the bank"
    assert _uses([answered]) == [(document["items"][0]["filepath"], "fetched")]


def test_questions_of_a_muted_session_leave_nothing(daemon: Daemon) -> None:
    daemon.ask("session/start", session=SESSION, capture=False)
    daemon.ask("search", query="muted question", session=SESSION)
    daemon.ask("search", query="heard question", session="other")
    answered = daemon.wait(lambda answered: bool(answered))
    assert [question.question.text for question in answered] == ["heard question"]


def test_what_was_shown_is_marked_and_listed_over_http(daemon: Daemon) -> None:
    document = daemon.ask("search", query="charge the bank", session=SESSION)
    daemon.ask("search", query='"stands nowhere"', session=SESSION)
    daemon.wait(lambda answered: len(answered) == 2)
    hit = document["code"][0]
    marked = daemon.ask("feedback/mark", ids=[f"{hit['filepath']}:{hit['start_line']}"], verdict="good")["marked"]
    assert [(row["filepath"], row["question"], row["session"]) for row in marked] == [
        (hit["filepath"], "charge the bank", SESSION)
    ]
    listed = daemon.ask("feedback")
    assert listed["totals"] == {"questions": 2, "empty": 1, "used": 1, "uses": {"good": 1}}
    assert (listed["kept"], listed["days"]) == (True, 180.0)
    assert [row["query"] for row in listed["questions"]] == ['"stands nowhere"', "charge the bank"]
    assert listed["questions"][1]["uses"][0]["rank"] == 1
    assert daemon.ask("feedback", session=SESSION)["totals"] == listed["totals"]
    assert daemon.ask("feedback", session="another")["totals"] == {"questions": 0, "empty": 0, "used": 0, "uses": {}}
    (empty,) = daemon.ask("feedback", empty=True)["questions"]
    assert empty["found"] == 0


def test_marks_of_what_was_not_shown_change_nothing(daemon: Daemon) -> None:
    hit = daemon.ask("search", query="charge the bank", session=SESSION)["code"][0]
    daemon.wait(lambda answered: len(answered) == 1)
    for ids in (["c_99999999999"], [hit["id"], "m_0000000000"], ["../../etc/passwd:1"], ["'; DROP TABLE shown; --"]):
        with pytest.raises(NotFoundError):
            daemon.ask("feedback/mark", ids=ids, verdict="bad")
    for fields in ({"ids": [hit["id"]], "verdict": "fine"}, {"ids": [], "verdict": "good"}):
        with pytest.raises(RequestError):
            daemon.ask("feedback/mark", **fields)
    assert daemon.ask("feedback")["totals"]["uses"] == {}


def test_a_memory_that_was_shown_unasked_is_called_helpful_or_not(daemon: Daemon) -> None:
    with Workspace.open(daemon.root) as workspace:
        (memory,) = workspace.memory.store.select(Conditions())
        note_injections(workspace.memory.store, SESSION, "prompt", [(memory.id, "about this prompt", 10)])
        note_injections(workspace.memory.store, "s2", "prompt", [(memory.id, "about this prompt", 10)])
    handle = daemon.ask("memories")["memories"][0]["id"]
    assert daemon.ask("feedback/mark", ids=[handle], verdict="bad")["marked"][0]["session"] == "s2"
    daemon.ask("feedback/mark", ids=[handle], verdict="good", session=SESSION)
    assert daemon.ask("feedback")["memories"] == [
        {"event": "prompt", "shown": 2, "used": 1, "helpful": 1, "unhelpful": 1, "precision": 0.5}
    ]
    assert daemon.ask("feedback", session=SESSION)["memories"] == [
        {"event": "prompt", "shown": 1, "used": 1, "helpful": 1, "unhelpful": 0, "precision": 1.0}
    ]


def test_a_memory_that_is_being_written_keeps_no_answer_from_its_reader(daemon: Daemon) -> None:
    daemon.ask("memories")
    with closing(sqlite3.connect(daemon.root / ".cairn" / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        document = daemon.ask("search", query="charge the bank", session=SESSION, type="code")
        daemon.ask("fetch", ids=[document["code"][0]["id"]], session=SESSION)
        other.execute("ROLLBACK")
    assert document["code"]


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")


@pytest.mark.usefixtures("agent")
def test_commands_of_an_agent_are_noted_in_its_session(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "charge the bank", "-C", str(root), "--json", "--no-daemon"]) == 0
    hit = json.loads(capsys.readouterr().out)["code"][0]
    assert main(["fetch", hit["id"], "-C", str(root), "--no-daemon"]) == 0
    assert main(["feedback", "bad", hit["id"], "-C", str(root), "--no-daemon"]) == 0
    capsys.readouterr()
    assert main(["feedback", "-C", str(root), "--no-daemon"]) == 0
    shown = capsys.readouterr()
    assert f"cli  {SESSION}" in shown.out
    assert f"1. {hit['filepath']}  fetched, bad" in shown.out
    assert "1 question: 1 led to a use" in shown.err
    assert main(["feedback", "--session", "s1", "-C", str(root), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["questions"]) == 1


def test_where_nothing_is_kept_the_command_says_so(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_MEMORY_FEEDBACK", "false")
    assert main(["search", "charge the bank", "-C", str(root), "--no-daemon"]) == 0
    assert main(["feedback", "-C", str(root)]) == 1
    assert "memory.feedback" in capsys.readouterr().err
    assert main(["feedback", "good", "src/bank.py", "-C", str(root)]) != 0


def test_without_a_memory_nothing_is_created(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main(["search", "x", "-C", str(tmp_path), "--no-daemon"]) in (0, 1)
    assert main(["feedback", "-C", str(tmp_path), "--no-daemon"]) == 1
    assert main(["feedback", "good", "a.py", "-C", str(tmp_path), "--no-daemon"]) == 1
    assert not (tmp_path / ".cairn" / "memory.db").exists()


# -- what hooks say ----------------------------------------------------------------------------------------------------


def test_what_a_hook_adds_to_a_search_is_noted_as_a_question(root: Path) -> None:
    with Workspace.open(root) as workspace:
        interceptor = Interceptor(workspace, seconds=20.0)
        use = ToolUse("search", "Grep", pattern="BankClient", id="u1")
        moment = Moment("m1", "before-tool", SESSION, "claude-code", time.time(), call=ToolCall("search", "Grep", ""))
        happening = Happening("before-tool", SESSION, str(root), (moment,), use)
        reply = interceptor.before(happening, {"context"})
        interceptor.close()
        (answered,) = workspace.memory.feedback.answered()
    assert "src/bank.py" in reply.context
    assert (answered.question.text, answered.question.surface) == ("BankClient", "hook")
    assert [hit.path for hit in answered.shown] == ["src/bank.py"]
