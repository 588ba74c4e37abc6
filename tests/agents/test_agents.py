"""Real agents, run headless against a scripted model, use our server: what it says must reach the model whole.

They are told of it as our documentation says, word by word. Nothing else makes them show it.
They are installed by `make test-agents`, or found in the folder that CAIRN_TEST_AGENTS names.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.model import Call, Seen, Step, serving
from agents.programs import AGENTS, Setting, environment_of
from cairn.client import Client, SocketTransport, stop
from cairn.mcp.surface import Surface
from cairn.mcp.tools import TOOLS
from cairn.runtime import StateFolder

pytestmark = [pytest.mark.agents, pytest.mark.slow]
BIN = Path(os.environ.get("CAIRN_TEST_AGENTS") or Path(__file__).parents[2] / ".agents") / "node_modules" / ".bin"
DOCUMENT = Path(__file__).parents[2] / "docs" / "mcp.md"
RUN_SECONDS = 240
QUERY = "parse_options"
FILE = "shop/options.py"
# The other tools, and what a part of their answers is; the last but one call needs the id of what was remembered.
OTHERS: list[tuple[Call, str]] = [
    (Call("graph", {"relation": "callers", "symbol": QUERY}), "main"),
    (Call("context", {"task": "change how options are parsed"}), QUERY),
    (Call("core_files", {}), "core"),
    (Call("index_status", {}), "indexed"),
    (Call("recall", {"query": "how many options"}), "remembered"),
    (Call("remember", {"text": "There are 150 options, for the tests of the shop rely on it."}), "m_"),
]
MISTAKE = (Call("outline", {"file": "shop/nothing.py"}), "error[")
LAST_WORDS = "That is how."


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    (root / "shop").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    # Long, and with letters and signs that a transport may spoil.
    body = "\n".join(f'    table["option {n}"] = "größe {n} → \\"x\\" & <y>"' for n in range(150))
    (root / FILE).write_text(
        f'"""Parses the options of a command."""\n\n\ndef parse_options(arguments):\n'
        f'    """Return the options of a command out of its arguments."""\n    table = {{}}\n{body}\n'
        f"    return table\n\n\n"
        f'def main():\n    """Run."""\n    return parse_options([])\n',
        encoding="utf-8",
    )
    return root


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateFolder]:
    folder = StateFolder.of_user({"XDG_STATE_HOME": str(tmp_path / ".local" / "state")})  # as in the home of the agent
    yield folder
    stop(folder)


def _script(seen: Seen) -> Step:
    """Search, fetch the best hit, outline its file, call every other tool, make a mistake, end."""
    n_done = len(seen.results)
    if n_done == 0:
        return Call("search", {"query": QUERY})
    if n_done == 1:
        found = re.search(r"\bc_[0-9a-z.]+", seen.results[0])
        return Call("fetch", {"ids": [found[0]]}) if found else "There is no id."
    if n_done == 2:
        return Call("outline", {"file": FILE})
    others = [*OTHERS, (Call("resolve", {"ids": re.findall(r"\bm_\w+", seen.results[-1])[:1]}), "resolved"), MISTAKE]
    return others[n_done - 3][0] if n_done < 3 + len(others) else LAST_WORDS


def _documented(name: str) -> str:
    """Return how an agent is told of our server: a command, or the content of a file."""
    titles = {
        "claude-code": "Claude Code",
        "gemini-cli": "Gemini CLI",
        "opencode": "OpenCode",
        "copilot-cli": "Copilot CLI",
    }
    row = next(
        line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith(f"| {titles.get(name, 'Codex')} |")
    )
    return row.split("`")[-2]


def _tell(name: str, project: Path, environment: dict[str, str]) -> None:
    """Tell an agent of our server as our documentation says."""
    told = _documented(name)
    if told.startswith("{"):
        (project / f"{name}.json").write_text(told)
        return
    done = subprocess.run(
        shlex.split(told), cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=RUN_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_shows_the_model_what_our_tools_say(
    name: str, project: Path, state: StateFolder, tmp_path: Path
) -> None:
    agent = AGENTS[name]
    program = BIN / agent.program
    if not program.exists():
        pytest.skip(f"{name} is not installed; see: make test-agents")
    with serving(agent.vendor(), _script) as model:
        at = Setting(tmp_path, project, model.url)
        run = agent.prepare(at)
        environment = environment_of(at, run)
        programs = (str(BIN), str(Path(sys.executable).parent), environment["PATH"])
        environment["PATH"] = os.pathsep.join(programs)
        _tell(name, project, environment)
        done = subprocess.run(
            [str(program), *run.arguments],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
    assert state.find() is not None, "the daemon ended with the agent, and other agents may be using it"
    assert not model.failures
    assert model.seen, f"the model was not asked: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    results = model.seen[-1].results
    others = [*(part for _, part in OTHERS), "m_", MISTAKE[1]]
    assert len(results) == 3 + len(others), f"{results} {done.stdout[-2000:]} {done.stderr[-2000:]}"
    for expected, result in zip([*_expected(project, state, results[0]), *others], results, strict=True):
        assert expected in result
    if name == "claude-code":  # it hides what has to be searched for first
        shown = [tool for tool in model.seen[0].tools if tool.startswith("mcp__cairn__")]
        assert sorted(shown) == sorted(f"mcp__cairn__{tool}" for tool in TOOLS)
    assert LAST_WORDS in done.stdout


def _expected(project: Path, state: StateFolder, first: str) -> list[str]:
    """Return what the three calls say when nothing is between."""
    surface = Surface(Client(SocketTransport(state)), str(project))
    results: list[str] = []
    for _ in range(3):
        step = _script(Seen([], results))
        assert isinstance(step, Call)
        asked = {"name": step.tool, "arguments": step.arguments}
        answer = asyncio.run(surface.handle("tools/call", asked))
        assert not answer["isError"], answer
        results.append(answer["content"][0]["text"])
    assert len(results[1]) > 5_000
    assert results[0] in first
    return results
