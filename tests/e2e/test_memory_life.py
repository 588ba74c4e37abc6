"""The life of memories over commands, HTTP and MCP at once: what one keeps, the others find and settle."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cairn.client import ensure, stop
from cairn.runtime import StateFolder
from cairn.transport import ask
from conftest import Git
from in_process import cairn
from installed import CODE, COMMAND
from terminal import run_on_terminal

SECONDS = 120
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "claude-1"}
SECRET = "the vault is behind the painting"


class Surfaces:
    """A project, and the ways to its memory."""

    def __init__(self, root: Path, folder: StateFolder) -> None:
        self.root, self._folder = root, folder

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return cairn(*arguments, cwd=self.root, environment=environment)

    def cli(self, *arguments: str, **environment: str) -> Any:  # noqa: ANN401 - JSON
        done = self.run(*arguments, "--json", **environment)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    def http(self, operation: str, **fields: object) -> tuple[int, Any]:
        runtime = ensure(self._folder)
        body = json.dumps({"project": str(self.root), **fields}).encode()
        reply = ask(runtime, self._folder.read_token(), "POST", f"/api/{operation}", body)
        return reply.status, json.loads(reply.body)

    def mcp(self, tool: str, **arguments: object) -> tuple[str, bool]:
        """Call a tool through a front end of its own, as the agent `robot`."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "robot", "version": "1"}}
        lines = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
        ]
        process = subprocess.Popen(
            [COMMAND, "mcp"], cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            answers = []
            for line in lines:
                process.stdin.write(json.dumps(line) + "\n")
                process.stdin.flush()
                answers.append(json.loads(process.stdout.readline()))
            process.stdin.close()
            process.wait(SECONDS)
        result = answers[-1]["result"]
        return result["content"][0]["text"], result["isError"]


@pytest.fixture
def surfaces(tmp_path: Path, state_home: Path, git: Git) -> Iterator[Surfaces]:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    (root / "money.py").write_text(CODE)
    folder = StateFolder(state_home / "cairn")
    yield Surfaces(root, folder)
    stop(folder)


def test_what_one_surface_keeps_the_others_find_settle_and_bring_back(surfaces: Surfaces) -> None:
    kept = surfaces.cli(
        "remember", "total adds the tax twice for gifts", "--type", "gotcha", "--file", "money.py::total"
    )
    status, answer = surfaces.http("recall", query="is the tax of gifts added twice")
    assert (status, answer["memory"][0]["id"]) == (200, kept["id"])
    text, failed = surfaces.mcp("recall", query="is the tax of gifts added twice")
    assert not failed
    assert f"{kept['id']}  gotcha" in text
    assert "    > total adds the tax twice for gifts" in text
    text, failed = surfaces.mcp("resolve", ids=[kept["id"]], reason="gifts have their own total")
    assert not failed
    assert surfaces.run("recall", "tax of gifts").returncode == 1
    (shown,) = surfaces.cli("memories", "show", kept["id"])
    last = shown["history"][-1]
    assert (last["actor"], last["value"]["reason"]) == ("agent:robot", "gifts have their own total")
    surfaces.cli("memories", "reopen", kept["id"])
    text, failed = surfaces.mcp("resolve", ids=[kept["id"]])
    assert failed
    assert "error[authority]" in text
    status, error = surfaces.http("memories/status", ids=[kept["id"]])
    assert (status, error["code"]) == (403, "authority")
    assert surfaces.cli("recall", "tax of gifts")["memory"][0]["id"] == kept["id"]


def test_a_newer_memory_takes_the_place_of_an_older_one_and_gives_it_back(surfaces: Surfaces) -> None:
    old, new = (surfaces.cli("remember", f"the port is {port}", "--session", "s1")["id"] for port in (80, 8080))
    (row,) = surfaces.cli("memories", "supersede", old, new)["memories"]
    assert (row["status"], row["superseded_by"]) == ("superseded", new)
    (row,) = surfaces.cli("memories", "undo", old)["memories"]
    assert row["status"] == "active"
    surfaces.cli("memories", "archive", old, "--reason", "told apart")
    assert surfaces.run("recall", "the port is 80", "--include-resolved", "--json").stdout.count(old) == 0
    assert [row["id"] for row in surfaces.cli("resolve", "--session", "s1")["memories"]] == [new]
    changes = ("--text", "the port is 9090", "--tag", "net", "--importance", "9")
    (edited,) = surfaces.cli("memories", "-C", str(surfaces.root), "edit", new, *changes)["memories"]
    assert (edited["summary"], edited["tags"], edited["importance"]) == ("the port is 9090", ["net"], 9)
    assert {row["id"] for row in surfaces.cli("memories", "--tag", "net")["memories"]} == {new}
    assert surfaces.run("memories", "--tag", "nothing").returncode == 1


def test_an_agent_on_the_command_line_acts_as_one(surfaces: Surfaces) -> None:
    by_agent = surfaces.cli("remember", "the linter wants tabs", **AGENT)["id"]
    by_person = surfaces.cli("remember", "never touch the ledger")["id"]
    (shown,) = surfaces.cli("memories", "show", by_agent)
    assert (shown["actor"], shown["origin"], shown["session"]) == ("agent:claude-code", "agent", "claude-code:claude-1")
    refused = surfaces.run("forget", by_person, "--yes", **AGENT)
    assert refused.returncode == 2
    assert "was made by a person" in refused.stderr
    assert surfaces.run("forget", by_agent, "--yes", **AGENT).returncode == 0
    assert surfaces.run("remember", "x", CAIRN_ACTOR="rule:x").returncode == 2
    (shown,) = surfaces.cli("memories", "show", surfaces.cli("remember", "y", CAIRN_ACTOR="agent:bot")["id"])
    assert shown["actor"] == "agent:bot"


def test_text_comes_from_a_file_or_from_stdin(surfaces: Surfaces) -> None:
    (surfaces.root / "note.txt").write_text("first line\nsecond line\n")
    kept = surfaces.cli("remember", "@note.txt")["id"]
    assert surfaces.cli("memories", "show", kept)[0]["text"] == "first line\nsecond line"
    assert surfaces.cli("fetch", kept)[0]["text"] == "first line\nsecond line"
    piped = cairn("remember", "-", "--json", cwd=surfaces.root, stdin="from a pipe")
    assert json.loads(piped.stdout)["memory"]["summary"] == "from a pipe"
    missing = surfaces.run("remember", "@nothing.txt")
    assert missing.returncode == 2
    assert "nothing.txt cannot be read" in missing.stderr
    assert surfaces.cli("remember", "@property is slow here")["memory"]["summary"] == "@property is slow here"


def test_what_is_forgotten_is_on_no_surface_and_nowhere_on_disk(surfaces: Surfaces) -> None:
    kept = surfaces.cli("remember", SECRET)["id"]
    surfaces.http("recall", query=SECRET)
    surfaces.cli("memories", "edit", kept, "--text", f"{SECRET}, on the left")
    unasked = surfaces.run("forget", kept)
    assert unasked.returncode == 2
    assert f"cairn forget {kept} --yes" in unasked.stderr
    assert surfaces.cli("forget", kept, "--yes") == {"ids": [kept]}
    assert surfaces.run("memories", "show", kept).returncode == 1
    assert surfaces.http("memories/show", ids=[kept])[0] == 404
    text, failed = surfaces.mcp("fetch", ids=[kept])
    assert failed
    assert "was erased" in text
    assert surfaces.http("memories")[1]["total"] == 0
    for file in (surfaces.root / ".cairn").rglob("*"):
        assert not file.is_file() or b"behind the painting" not in file.read_bytes(), file


def at_terminal(root: Path, typed: str, *arguments: str) -> str:
    """Run a command on a terminal, type something there, and return what it showed."""
    return run_on_terminal([str(COMMAND), *arguments], root, typed=typed)[1]


def test_a_person_is_asked_before_anything_is_erased(surfaces: Surfaces) -> None:
    kept = surfaces.cli("remember", SECRET)["id"]
    shown = at_terminal(surfaces.root, "n\n", "forget", kept)
    assert SECRET in shown
    assert "This cannot be undone. [y/N]" in shown
    assert "Nothing was erased." in shown
    assert surfaces.cli("memories")["total"] == 1
    assert f"{kept} is erased." in re.sub(r"\x1b\[\d*m", "", at_terminal(surfaces.root, "y\n", "forget", kept))
    assert surfaces.run("memories").returncode == 1
