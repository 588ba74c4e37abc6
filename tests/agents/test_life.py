"""A day of each agent with Cairn: it is set up, works, fails, mends, ends, comes back, and everything is taken away.

The agents are real and run headless against a scripted model, set up by `cairn init` and by nothing else of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agents.model import Call, Endpoint, Seen, Step, serving
from agents.programs import AGENTS, Agent, Setting, environment_of
from agents.test_agents import BIN, RUN_SECONDS

pytestmark = [pytest.mark.agents, pytest.mark.slow]
BIG = "shop/prices.py"
TEST = "python3 -m unittest -q tests.test_prices"
GOTCHA = "Prices are kept in cents, never in euros: see cart_total."
PROMPT = "The tests of the prices fail. Find out why, and mend it."
LAST_WORDS = "It is mended."
WRONG, RIGHT = "subtotal - taxes", "subtotal + taxes"
FOREIGN = {
    ".mcp.json": '{\n    "mcpServers": {"other": {"command": "other-server",\n  "args": []}}\n}\n',
    ".claude/settings.json": '{"hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "true"}]} ]}}',
    ".gemini/settings.json": '{\r\n\t"ui": { "theme": "GitHub" }\r\n}\r\n',
    ".codex/config.toml": "# ours\nmodel_verbosity = 'low'   # short\n",
    "opencode.json": '{\n  "$schema": "https://opencode.ai/config.json"\n}',
    "AGENTS.md": "# Shop\n\nRun the tests before you commit.\n",
    "CLAUDE.md": "# Shop\r\n\r\nRun the tests before you commit.",
}


class Day(NamedTuple):
    """Where a day takes place."""

    agent: Agent
    name: str
    at: Setting
    environment: dict[str, str]

    def cairn(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run our command as a person would."""
        return subprocess.run(
            ["cairn", *arguments], cwd=self.at.project, env=self.environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip

    def work(self, model: Endpoint) -> str:
        """Let the agent do what the model says; return what it prints."""
        run = self.agent.prepare(self.at._replace(url=model.url, prompt=PROMPT))
        done = subprocess.run(
            [str(BIN / self.agent.program), *run.arguments],
            cwd=self.at.project,
            env={**environment_of(self.at, run), "PATH": self.environment["PATH"]},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert not model.failures
        assert model.documents, f"the model was not asked: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout + done.stderr


def _source() -> str:
    """Return a module that is worth an outline, with a mistake in its middle."""
    parts = ['"""What things in the shop cost, in cents."""\n']
    for number in range(40):
        parts.append(
            f"def discount_{number}(price):\n"
            f'    """Return the price less discount number {number}, in cents."""\n'
            f"    rate = {number} / 100\n"
            f"    less = round(price * rate)\n"
            f"    if less > price:\n"
            f"        return 0\n"
            f"    return price - less\n"
        )
        if number == 20:
            parts.append(
                "def cart_total(prices, taxes):\n"
                '    """Return what a cart costs."""\n'
                "    subtotal = sum(discount_0(price) for price in prices)\n"
                f"    return {WRONG}\n"
            )
    return "\n\n".join(parts)


@pytest.fixture(params=AGENTS)
def day(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Day]:
    agent = AGENTS[request.param]
    if not (BIN / agent.program).exists():
        pytest.skip(f"{request.param} is not installed; see: make test-agents")
    home, project = tmp_path / "home", tmp_path / "shop"
    files = {
        BIG: _source(),
        "shop/__init__.py": "",
        "tests/__init__.py": "",
        "tests/test_prices.py": "import unittest\n\nfrom shop.prices import cart_total\n\n\n"
        "class Prices(unittest.TestCase):\n    def test_a_cart_costs_its_prices_and_taxes(self):\n"
        "        self.assertEqual(cart_total([100, 200], 30), 330)\n",
        **FOREIGN,
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(text.encode())
    home.mkdir()
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }
    made = Day(agent, request.param, Setting(home, project, ""), environment)
    yield made
    made.cairn("daemon", "stop")


def _snapshot(*folders: Path) -> dict[str, bytes]:
    """Return every file, but for those of git, the index and Python's caches."""
    return {
        str(file): file.read_bytes()
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not {".git", ".cairn", "__pycache__"} & set(file.parts)
    }


def _texts(documents: Sequence[dict[str, Any]]) -> list[str]:
    """Return what the model was told in each request."""
    return [json.dumps(document, ensure_ascii=False) for document in documents]


def _steps(day: Day) -> list[Call]:
    """Return the work: the tests fail, the file is read and searched, the mistake is mended, and the tests pass."""
    _wait_until_warm(day)
    own, file = day.agent.tools, day.at.project / BIG
    return [
        own.shell(TEST), own.read(file), own.search("def cart_total"), own.read(file), own.edit(file, WRONG, RIGHT),
        own.shell(TEST),
    ]  # fmt: skip


def _ask(day: Day, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    done = day.cairn(*arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def _install(day: Day) -> dict[str, bytes]:
    """Set the agent up, twice; return the files that are there then."""
    done = day.cairn("init", "--agent", day.name, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    installed = _snapshot(day.at.project)
    again = day.cairn("init", "--agent", day.name, "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    assert _snapshot(day.at.project) == installed
    return installed


def _wait_until_warm(day: Day) -> None:
    """Wait until reads are answered in time: the first ones after a daemon starts are let pass."""
    file = str(day.at.project / BIG)
    for number in range(50):
        payload = {
            "session_id": f"warm-{number}", "cwd": str(day.at.project), "hook_event_name": "PreToolUse",
            "tool_name": "Read", "tool_input": {"file_path": file}, "tool_use_id": f"toolu_{number}",
        }  # fmt: skip
        done = subprocess.run(
            ["cairn", "hook", "before-tool", "--agent", "claude-code"], cwd=day.at.project, env=day.environment,
            input=json.dumps(payload), capture_output=True, text=True, timeout=30, check=True,
        )  # fmt: skip
        if '"deny"' in done.stdout:
            return
    raise AssertionError("no read was answered")


def _uninstall(day: Day, before: dict[str, bytes], installed: dict[str, bytes]) -> None:
    """Take everything away; what was there is as it was, but for what the agent mended."""
    assert day.cairn("uninstall").returncode == 0
    left = _snapshot(day.at.project)
    mended = str(day.at.project / BIG)
    assert {file: left.get(file) for file in before if file != mended} == {
        file: content for file, content in before.items() if file != mended
    }
    assert not set(left) & (set(installed) - set(before))


def test_a_day_with_cairn_from_init_to_uninstall(day: Day) -> None:
    before = _snapshot(day.at.project)
    installed = _install(day)
    assert day.cairn("remember", GOTCHA, "--type", "gotcha", "--file", BIG).returncode == 0
    _wait_until_warm(day)
    own, file = day.agent.tools, day.at.project / BIG
    steps = [
        own.shell(TEST), own.search("def cart_total"), own.read(file), own.read(file), own.edit(file, WRONG, RIGHT),
        own.shell(TEST), Call("recall", {"query": "prices"}), Call("fetch", {"ids": ["c_nothing"]}),
    ]  # fmt: skip

    def script(seen: Seen) -> Step:
        return steps[len(seen.results)] if len(seen.results) < len(steps) else LAST_WORDS

    with serving(day.agent.vendor(), script) as model:
        assert LAST_WORDS in day.work(model)
    told, results = _texts(model.documents), model.seen[-1].results
    assert len(results) == len(steps), results
    assert GOTCHA in told[0], "the memory is not in the first request"
    assert "cart_total" in results[1]
    assert "was not read, because it is long" in results[2]
    assert "rate = 39" not in results[2]
    assert "subtotal = sum" in results[2], "what was searched for is not shown"
    assert "rate = 39" in results[3], "the second read was not let through"
    assert RIGHT in file.read_text()
    assert GOTCHA in results[6]
    assert "c_nothing" in results[7]

    memories = _ask(day, "memories")["memories"]
    fixed = next(memory for memory in memories if memory["type"] == "bug_fix")
    assert "tests.test_prices" in fixed["summary"]
    assert fixed["session"].startswith(f"{day.name}:")
    sessions = [session for session in _ask(day, "sessions")["sessions"] if ":warm-" not in session["id"]]
    assert [session["agent"] for session in sessions] == [day.name]
    assert _ask(day, "savings")

    with serving(day.agent.vendor(), lambda seen: LAST_WORDS) as model:
        day.work(model)
    assert fixed["id"] in _texts(model.documents)[0], "what the first session learned is not in the second"
    _uninstall(day, before, installed)
