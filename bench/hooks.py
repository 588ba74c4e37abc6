"""Times the hook program as agents run it, against an interpreter that does nothing, in turns.

    python bench/hooks.py [--rounds 200] [--starts 20] [--cairn PATH_OF_THE_COMMAND]

Each round starts `python -c pass`, with the interpreter of the installation, and then `cairn hook` for each event, with
a payload as Claude Code sends it and through pipes as agents have them. First with a daemon that is warm; then without
one, as when it was started a moment ago and is not there yet; then without one, so that each hook starts it, which is
killed after that. At the end all events must be in the memory, each once. Times are wall-clock; load on the machine
raises all of them, so look at the ratios. To time what users install: build a wheel, install it into a fresh
environment, and name the `cairn` there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cairn.client import ensure, stop
from cairn.hooks.plain_files import SPOOL
from cairn.hooks.raw_spool import RawSpool
from cairn.runtime import StateFolder
from cairn.storage.lock import file_lock
from cairn.storage.memory.session_db import SessionConditions
from cairn.workspace import Workspace
from metrics import percentile

EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "before-tool": "PreToolUse",
    "after-tool": "PostToolUse",
    "before-compaction": "PreCompact",
    "turn-end": "Stop",
    "subagent-start": "SubagentStart",
    "subagent-end": "SubagentStop",
    "session-end": "SessionEnd",
}
NOTHING = "python -c pass"
WARM, DOWN, STARTING = (2.0, 3.0), (2.5, 0.0), (2.5, 0.0)  # the bars for p50 and p95, 0 where there is none


class Cost(NamedTuple):
    """What a process took, in milliseconds: of the clock, and of a processor (which the system counts in tens)."""

    wall: float
    cpu: float


Costs = dict[str, list[Cost]]


class Agent:
    """Reports events as Claude Code does.

    Args:
        command: the installed `cairn`.
        root: of the project.
    """

    def __init__(self, command: Path, root: Path) -> None:
        self._command, self._root = command, root
        self._n_tools = 0
        self.tools: list[str] = []  # the ids of what was reported after a tool

    def report(self, event: str) -> Cost:
        """Report an event and return what that took."""
        return timed([str(self._command), "hook", event, "--agent", "claude-code"], self._payload(event))

    def _payload(self, event: str) -> bytes:
        self._n_tools += 1
        payload: dict[str, object] = {
            "session_id": "40c3b001-c0cd-4a73-81a4-9b235edbe581",
            "transcript_path": str(self._root / "transcript.jsonl"),
            "cwd": str(self._root),
            "hook_event_name": EVENTS[event],
            "prompt_id": f"p{self._n_tools}",
            "permission_mode": "default",
        }
        if event.endswith("-tool"):
            file = str(self._root / "shop" / f"module_{self._n_tools % 20}.py")
            payload |= {"tool_name": "Read", "tool_input": {"file_path": file}, "tool_use_id": f"t{self._n_tools}"}
        if event == "after-tool":
            self.tools.append(f"t{self._n_tools}")
            payload["tool_response"] = {"type": "text", "file": {"filePath": file, "content": "x = 1\n" * 200}}
        if event.startswith("subagent"):
            payload |= {"agent_id": f"a{self._n_tools}", "agent_type": "Explore"}
        payload |= {"prompt": "why is the tax wrong", "last_assistant_message": "done", "source": "resume"}
        return json.dumps(payload).encode()


def timed(command: list[str], payload: bytes) -> Cost:
    used, begun = os.times(), time.perf_counter()
    subprocess.run(command, input=payload, capture_output=True, check=True)
    wall, now = time.perf_counter() - begun, os.times()
    cpu = now.children_user - used.children_user + now.children_system - used.children_system
    return Cost(1000 * wall, 1000 * cpu)


def interpreter_of(command: Path) -> str:
    """Return the interpreter that runs a script."""
    return command.read_bytes().split(b"\n", 1)[0].removeprefix(b"#!").decode().strip()


def make_project(root: Path) -> None:
    (root / "shop").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for number in range(20):
        body = "".join(f"def price_{name}(net):\n    return net * {name}\n\n\n" for name in range(30))
        (root / "shop" / f"module_{number}.py").write_text(body)
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "Begin"], check=True)
    with Workspace.open(root) as workspace:
        workspace.index()
        for number in range(10):
            text = f"Prices of group {number} are net; module {number} adds the tax before it rounds."
            workspace.memory.remember(text, files=[f"shop/module_{number}.py"])


def measure(agent: Agent, python: str, rounds: int, events: list[str]) -> Costs:
    times: Costs = {NOTHING: [], **{event: [] for event in events}}
    for _ in range(rounds):
        for event in events:
            times[NOTHING].append(timed([python, "-c", "pass"], b"{}"))
            times[event].append(agent.report(event))
    return times


def measure_starts(agent: Agent, python: str, starts: int, folder: StateFolder) -> Costs:
    """Time hooks that start the daemon, which is killed after each."""
    times: Costs = {NOTHING: [], "after-tool": []}
    for _ in range(starts):
        (folder.path / "hooks.start").unlink(missing_ok=True)
        times[NOTHING].append(timed([python, "-c", "pass"], b"{}"))
        times["after-tool"].append(agent.report("after-tool"))
        kill(folder)
    return times


def kill(folder: StateFolder) -> None:
    """Kill the daemon once it is there."""
    runtime = None
    deadline = time.monotonic() + 30
    while runtime is None and time.monotonic() < deadline:
        runtime = folder.find()
        time.sleep(0.01)
    if runtime is None:
        raise SystemExit("no daemon was started")
    time.sleep(0.5)
    os.kill(runtime.pid, signal.SIGKILL)
    while folder.find() is not None:
        time.sleep(0.01)


def show(title: str, costs: Costs, bars: tuple[float, float]) -> list[str]:
    """Print what each event took, and return what misses its bar."""
    print(f"\n{title}")
    base = [percentile([cost.wall for cost in costs[NOTHING]], percent) for percent in (50, 95)]
    missed = []
    for name, values in costs.items():
        p50, p95 = (percentile([cost.wall for cost in values], percent) for percent in (50, 95))
        cpu = sum(cost.cpu for cost in values) / len(values)
        ratios = p50 / base[0], p95 / base[1]
        shown = f"p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  processor {cpu:5.1f} ms   {ratios[0]:.2f}  {ratios[1]:.2f}"
        print(f"  {name:18} {shown}  ({len(values)})", flush=True)
        if any(bar and ratio > bar for ratio, bar in zip(ratios, bars, strict=True)):
            missed.append(f"{title}: {name}")
    return missed


def count_kept(root: Path) -> Iterator[str]:
    with Workspace.open(root) as workspace:
        while workspace.memory.inbox.catch_up():
            pass
        for session in workspace.memory.sessions.select(SessionConditions()):
            yield from (activity.target for activity in workspace.memory.sessions.activities(session))


def main() -> None:
    """Print the times and their ratios; the exit code is 1 if a bar is missed or an event is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--cairn", type=Path, default=Path(sys.executable).parent / "cairn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_STATE_HOME"], os.environ["XDG_CONFIG_HOME"] = f"{work}/state", f"{work}/config"
        root = Path(work) / "project"
        make_project(root)
        subprocess.run([str(options.cairn), "index", str(root)], check=True, capture_output=True)
        folder = StateFolder.of_user()
        agent, python = Agent(options.cairn, root), interpreter_of(options.cairn)
        subprocess.run([str(options.cairn), "daemon", "ensure"], check=True, capture_output=True)
        measure(agent, python, 3, list(EVENTS))
        missed = show("warm", measure(agent, python, options.rounds, list(EVENTS)), WARM)
        stop(folder)
        with file_lock(folder.start_lock, 1.0):  # as while it is being started
            missed += show("no daemon", measure(agent, python, options.rounds, ["prompt", "after-tool"]), DOWN)
        n_waiting = len(RawSpool(folder.path).names())
        missed += show(
            "no daemon, which the hook starts", measure_starts(agent, python, options.starts, folder), STARTING
        )
        ensure(folder)
        while RawSpool(folder.path).is_waiting():
            time.sleep(0.1)
        stop(folder)
        n_kept = len(list(count_kept(root)))
        print(f"\n{n_waiting} events waited in {SPOOL}/; {len(agent.tools)} tools were reported, {n_kept} are kept")
        if n_kept != len(agent.tools):
            missed.append("events were lost or doubled")
    if missed:
        raise SystemExit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
