"""What keeping feedback costs whoever asks: searches and reports of tools, with `memory.feedback` on and off, in turns.

    python bench/feedback_cost.py FOLDER --repository REPOS/flask [--rounds 10]

Two copies of the repository are made in FOLDER, one of which turns feedback off in its settings, and both are served
by one daemon with a state folder of its own. In turns, each is asked a block of questions over HTTP and as a tool of
MCP, and is reported a block of reads, as hooks do. Printed are the wall-clock times until an answer is there, and the
daemon's processor time for each, what it does after the answer included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from cairn.client import Client, SocketTransport, ensure, stop
from cairn.mcp.surface import Surface
from cairn.registry import Registry
from cairn.runtime import StateFolder
from metrics import percentile
from processes import cpu_seconds
from questions import QUESTIONS
from simulated_sessions import prepare

SESSION, AGENT = "claude-code:measured", "claude-code"
SETTLE_SECONDS = 0.3  # in which what is noted after the last answer is done
SIDES = ("kept", "off")


class Block(NamedTuple):
    """What a block took: each question in ms, and the daemon's processor time for one, in ms."""

    walls: list[float]
    cpu: float


async def search_http(client: Client, root: Path, query: str) -> None:
    """Search over HTTP, in a session."""
    await client.post("/api/search", {"project": str(root), "query": query, "session": SESSION, "repeat": True})


async def search_mcp(client: Client, root: Path, query: str) -> None:
    """Search as an agent's tool."""
    await Surface(client, str(root)).handle("tools/call", {"name": "search", "arguments": {"query": query}})


async def report_read(client: Client, root: Path, query: str) -> None:
    """Report that a file was read."""
    call = {"tool": "read", "name": "Read", "target": f"src/{len(query)}.py", "outcome": "ok"}
    fields = {"project": str(root), "session": SESSION, "agent": AGENT, "payload": json.dumps({"call": call})}
    await client.post("/api/hook/after-tool", fields)


WAYS: dict[str, Callable[[Client, Path, str], Awaitable[None]]] = {
    "search over HTTP": search_http,
    "search over MCP": search_mcp,
    "report of a read": report_read,
}


async def measure(
    client: Client, roots: dict[str, Path], pid: int, rounds: int, pause: float
) -> dict[tuple[str, str], list[Block]]:
    """Return the blocks of each way and side."""
    blocks: dict[tuple[str, str], list[Block]] = {(way, side): [] for way in WAYS for side in SIDES}
    for number in range(rounds + 1):
        for way, ask in WAYS.items():
            for side in SIDES if number % 2 else SIDES[::-1]:
                walls, used = [], cpu_seconds(pid)
                for query in QUESTIONS:
                    begun = time.perf_counter()
                    await ask(client, roots[side], query)
                    walls.append(1000 * (time.perf_counter() - begun))
                    await asyncio.sleep(pause)
                await asyncio.sleep(SETTLE_SECONDS)
                block = Block(walls, 1000 * (cpu_seconds(pid) - used) / len(QUESTIONS))
                if number:  # the first round warms
                    blocks[way, side].append(block)
    return blocks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument(
        "--pause", type=float, default=0.06, help="seconds between two questions; an agent takes longer"
    )
    options = parser.parse_args()
    base = options.folder.resolve()
    roots = {}
    os.environ["XDG_STATE_HOME"] = str(base / "state")
    folder = StateFolder.of_user()
    for side in SIDES:
        (base / side).mkdir(parents=True, exist_ok=True)
        roots[side] = prepare(base / side, options.repository)
        (roots[side] / ".cairn").mkdir(exist_ok=True)
        settings = f"memory:\n  feedback: {'true' if side == 'kept' else 'false'}\n"
        (roots[side] / ".cairn" / "config.yaml").write_text(settings, "utf-8")
        Registry(folder).add(roots[side], side)
    try:
        runtime = ensure(folder)
        blocks = asyncio.run(
            measure(Client(SocketTransport(folder)), roots, runtime.pid, options.rounds, options.pause)
        )
    finally:
        stop(folder)
    print(f"load {os.getloadavg()[0]:.1f}; {options.rounds} rounds of {len(QUESTIONS)}")
    for (way, side), found in blocks.items():
        walls = [wall for block in found for wall in block.walls]
        cpu = statistics.mean(block.cpu for block in found)
        print(
            f"{way}, feedback {side}: p50 {statistics.median(walls):.1f} ms, p95 {percentile(walls, 95):.1f} ms, "
            f"CPU of the daemon {cpu:.2f} ms"
        )


if __name__ == "__main__":
    main()
