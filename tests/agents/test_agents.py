"""Real agents, run headless against a scripted model, use our server: what it says must reach the model whole.

They are installed by `make test-agents`, or found in the folder that CAIRN_TEST_AGENTS names.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.model import Call, Seen, Step, serving
from agents.programs import AGENTS, Setting, environment_of
from cairn.client import Client, SocketTransport, stop
from cairn.mcp.surface import Surface
from cairn.runtime import StateFolder

pytestmark = [pytest.mark.agents, pytest.mark.slow]
BIN = Path(os.environ.get("CAIRN_TEST_AGENTS") or Path(__file__).parents[2] / ".agents") / "node_modules" / ".bin"
RUN_SECONDS = 240
QUERY = "parse_options"
FILE = "shop/options.py"
LAST_WORDS = "That is how."


@pytest.fixture(scope="module")
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
def state() -> Iterator[StateFolder]:
    folder = StateFolder.of_user()  # of this test alone
    yield folder
    stop(folder)


def _script(seen: Seen) -> Step:
    """Search, fetch the best hit, outline its file, end."""
    if not seen.results:
        return Call("search", {"query": QUERY})
    if len(seen.results) == 1:
        found = re.search(r"\bc_[0-9a-z.]+", seen.results[0])
        return Call("fetch", {"ids": [found[0]]}) if found else "There is no id."
    return Call("outline", {"file": FILE}) if len(seen.results) == 2 else LAST_WORDS


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_shows_the_model_what_our_tools_say(
    name: str, project: Path, state: StateFolder, tmp_path: Path
) -> None:
    agent = AGENTS[name]
    program = BIN / agent.program
    if not program.exists():
        pytest.skip(f"{name} is not installed; see: make test-agents")
    with serving(agent.vendor(), _script) as model:
        server = [sys.executable, "-m", "cairn", "mcp"]
        at = Setting(tmp_path, project, model.url, server, {"XDG_STATE_HOME": str(state.path.parent)})
        run = agent.prepare(at)
        done = subprocess.run(
            [str(program), *run.arguments],
            cwd=project,
            env=environment_of(at, run),
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
    assert len(results) == 3, f"{results} {done.stdout[-2000:]} {done.stderr[-2000:]}"
    for expected, result in zip(_expected(project, state, results[0]), results, strict=True):
        assert expected in result
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
