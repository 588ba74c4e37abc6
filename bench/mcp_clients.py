"""Front ends of agents under stress: what each takes, and what is left when they are killed at random.

    python bench/mcp_clients.py PROJECT [--clients 20] [--rounds 180]

A round stands for 20 seconds of an hour: clients that were killed are started again, each asks something, and a third
of them is killed, some in the middle of a call. Everything runs with a state folder of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from cairn import __version__
from cairn.client import stop
from cairn.mcp.about import INSTRUCTIONS
from cairn.mcp.surface import PROMPTS
from cairn.mcp.tools import TOOLS
from cairn.runtime import StateFolder
from cairn.source.text import estimate_tokens
from processes import n_descriptors, resident_mb

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": __version__}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
QUERIES = ("read the settings", "write a file", "parse arguments", "open a connection", "format an error")


class FrontEnd:
    """One `cairn mcp`, asked over its pipes."""

    def __init__(self, project: Path, environment: dict[str, str]) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cairn", "mcp"],
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, method: str, params: dict[str, Any]) -> None:
        """Ask something."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for the next answer."""
        assert self.process.stdout is not None
        while True:
            message: dict[str, Any] = json.loads(self.process.stdout.readline())
            if "id" in message:
                return message

    def kill(self) -> None:
        """Kill it, and let go of its pipes."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:  # what was written last is not read any more
                continue


def measure_start(project: Path, environment: dict[str, str], n: int = 10) -> None:
    """Print how long front ends take until their first answer."""
    for method, params in (("initialize", HELLO), ("server/discover", {"_meta": ENVELOPE})):
        seconds = []
        for _ in range(n):
            one = FrontEnd(project, environment)
            one.send(method, params)
            one.receive()
            seconds.append(time.perf_counter() - one.started)
            one.kill()
        seconds.sort()
        print(f"{method}: median {seconds[n // 2] * 1000:.0f} ms, most {seconds[-1] * 1000:.0f} ms, of {n} starts")


class Swarm:
    """Many front ends, some of which are killed in each round."""

    def __init__(self, project: Path, environment: dict[str, str], n_clients: int) -> None:
        self._start = partial(FrontEnd, project, environment)
        self._rng = random.Random(6)
        self.clients: list[FrontEnd] = [self._start() for _ in range(n_clients)]
        self.pids = [client.process.pid for client in self.clients]
        self.n_killed = 0
        self.most_mb = 0.0

    def round(self) -> None:
        """Ask all, kill a third, half of those before they have their answer, and start others in their place."""
        victims = set(self._rng.sample(range(len(self.clients)), len(self.clients) // 3))
        for client in self.clients:
            client.send("tools/call", {"name": "search", "arguments": {"query": self._rng.choice(QUERIES)}})
        for place, client in enumerate(self.clients):
            if place not in victims or self._rng.random() < 0.5:
                answer = client.receive()
                assert not answer["result"]["isError"], answer
            self.most_mb = max(self.most_mb, resident_mb(client.process.pid))
        for place in victims:
            self.clients[place].kill()
            self.n_killed += 1
            self.clients[place] = self._start()
            self.pids.append(self.clients[place].process.pid)

    def end(self) -> list[int]:
        """End all by closing their pipes, and return those that live on."""
        for client in self.clients:
            assert client.process.stdin is not None
            client.process.stdin.close()
            client.process.wait(10)
        return [pid for pid in self.pids if Path(f"/proc/{pid}").exists()]


def stress(project: Path, environment: dict[str, str], folder: StateFolder, n_clients: int, n_rounds: int) -> None:
    """Print what is left of many front ends that are killed at random."""
    swarm = Swarm(project, environment, n_clients)
    daemons: set[int] = set()
    descriptors: list[int] = []
    for _ in range(n_rounds):
        swarm.round()
        if (runtime := folder.find()) is not None:
            daemons.add(runtime.pid)
            descriptors.append(n_descriptors(runtime.pid))
    left = swarm.end()
    time.sleep(1)  # until the daemon has noticed
    (daemon,) = daemons
    print(f"{n_rounds} rounds, {len(swarm.pids)} front ends, {swarm.n_killed} killed: {len(left)} left")
    print(f"daemons: {len(daemons)}; its descriptors: {descriptors[0]} first, {n_descriptors(daemon)} at the end")
    print(f"resident: front end at most {swarm.most_mb:.1f} MB, daemon {resident_mb(daemon):.0f} MB")


def measure_texts() -> None:
    """Print what the texts that agents always read cost."""
    tools = json.dumps({"tools": [tool.describe() for tool in TOOLS.values()]}, separators=(",", ":"))
    print(f"tools: {len(TOOLS)}, {len(tools):,} bytes, about {estimate_tokens(len(tools)):,} tokens{_exact(tools)}")
    print(f"instructions: {len(INSTRUCTIONS):,} characters; prompts: {len(PROMPTS)}")


def _exact(text: str) -> str:
    try:
        import bpe_openai  # noqa: PLC0415 - not needed otherwise; it brings its tables along
    except ImportError:
        return " (pip install bpe-openai counts them)"
    return f", {len(bpe_openai.get_encoding('cl100k_base').encode(text)):,} by cl100k"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=180)
    options = parser.parse_args()
    measure_texts()
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {"XDG_STATE_HOME": scratch}
        project = Path(scratch) / "project"
        shutil.copytree(options.project, project, ignore=shutil.ignore_patterns(".cairn", ".git"))
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        folder = StateFolder(Path(scratch) / "cairn")
        try:
            measure_start(project, environment)
            stress(project, environment, folder, options.clients, options.rounds)
        finally:
            stop(folder)


if __name__ == "__main__":
    main()
