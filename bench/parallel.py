"""Measures searches of a daemon that has other things to do: by several clients at once, and beside a cold graph.

    python bench/parallel.py --project FOLDER [--against CHECKOUT] [--rounds 3] [--searches 60]

The project is copied and indexed first; state is kept in a temporary folder, so a daemon that runs already is left
alone. Each round starts a daemon of this checkout, and one of CHECKOUT (its `src/` under this Python), and asks over
HTTP, each search on a connection of its own, from this one process:

- alone: one client asks one search after the other;
- 4 and 8 clients at once, each asks one after the other;
- beside a cold graph: one client, while the daemon finds all edges of the project for the first time.

Times are wall-clock, in ms. "delayed" is how much longer the median and the slowest search took than alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from metrics import percentile
from questions import QUESTIONS

CLIENTS = (1, 4, 8)
GRAPH_SECONDS = 300


def measure(root: Path, searches: int) -> dict[str, list[float]]:
    """Return the times of searches in ms, by situation, of a fresh daemon of the package that is imported here."""
    from cairn.client import ensure, stop  # noqa: PLC0415 - of the checkout that PYTHONPATH names
    from cairn.runtime import StateFolder  # noqa: PLC0415 - as above
    from cairn.transport import ask  # noqa: PLC0415 - as above

    folder = StateFolder.of_user()
    stop(folder)
    forget_graph(root)
    runtime = ensure(folder)
    token = folder.read_token()

    def post(path: str, asked: dict[str, object], timeout_seconds: float = 60.0) -> float:
        body = json.dumps({"project": str(root), **asked}).encode()
        begun = time.perf_counter()
        reply = ask(runtime, token, "POST", path, body, timeout_seconds=timeout_seconds)
        assert reply.status == 200, reply.body
        return 1000 * (time.perf_counter() - begun)

    def search(number: int) -> float:
        return post("/api/search", {"query": QUESTIONS[number % len(QUESTIONS)]})

    try:
        for number in range(2 * len(QUESTIONS)):
            search(number)
        time.sleep(3)  # the first look of the watcher
        found = {f"{n} at once": _by_clients(search, n, searches) for n in CLIENTS}
        found["cold graph"] = _beside_graph(post, search)
    finally:
        stop(folder)
    return found


def forget_graph(root: Path) -> None:
    """Make the graph of an index cold: remove its edges and what its files refer to."""
    for file in (root / ".cairn" / "derived").glob("graph-*"):
        file.unlink()
    with closing(sqlite3.connect(root / ".cairn" / "index.db")) as connection, connection:
        connection.execute("DELETE FROM facts")


def _by_clients(search: Callable[[int], float], n_clients: int, searches: int) -> list[float]:
    times: list[float] = []

    def client(first: int) -> None:
        times.extend([search(first + number) for number in range(searches // n_clients)])

    begun = time.perf_counter()
    threads = [threading.Thread(target=client, args=(first,)) for first in range(n_clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"  {n_clients} at once: {len(times) / (time.perf_counter() - begun):.1f} searches/s", file=sys.stderr)
    return times


def _beside_graph(post: Callable[..., float], search: Callable[[int], float]) -> list[float]:
    """Return the times of searches that began while the graph was being made."""
    took: list[float] = []
    thread = threading.Thread(target=lambda: took.append(post("/api/core/suggest", {}, GRAPH_SECONDS)))
    thread.start()
    time.sleep(0.1)
    times: list[float] = []
    while thread.is_alive():
        times.append(search(len(times)))
        time.sleep(0.02)
    thread.join()
    print(f"  cold graph: {took[0] / 1000:.1f} s, {len(times)} searches meanwhile", file=sys.stderr)
    return times


def run_child(source: Path, root: Path, searches: int) -> dict[str, list[float]]:
    """Measure the package below a folder, in a process of its own."""
    command = [sys.executable, __file__, "--measure", "--project", str(root), "--searches", str(searches)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def report(name: str, rounds: Sequence[dict[str, list[float]]]) -> None:
    """Print what was measured of one checkout."""
    alone = [milliseconds for found in rounds for milliseconds in found["1 at once"]]
    for situation in rounds[0]:
        times = [milliseconds for found in rounds for milliseconds in found[situation]]
        p50, p95, worst = percentile(times, 50), percentile(times, 95), max(times)
        delayed = p50 - statistics.median(alone)
        print(
            f"{name:>8}, {situation:>10}: p50 {p50:7.1f}, p95 {p95:7.1f}, slowest {worst:8.1f} ms; "
            f"p50 delayed by {delayed:6.1f} ms, p95 by {p95 - percentile(alone, 95):6.1f} ms (n = {len(times)})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        json.dump(measure(options.project, options.searches), sys.stdout)
        return
    scratch = Path(tempfile.mkdtemp(prefix="cairn-bench-"))
    os.environ["XDG_STATE_HOME"] = str(scratch / "state")
    os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
    sources = {"now": Path(__file__).parents[1] / "src"}
    if options.against is not None:
        sources["before"] = options.against / "src"
    rounds: dict[str, list[dict[str, list[float]]]] = {name: [] for name in sources}
    try:
        root = scratch / "project"
        shutil.copytree(options.project, root, ignore=shutil.ignore_patterns(".cairn", ".git"), symlinks=True)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        subprocess.run([sys.executable, "-m", "cairn", "index", "-C", str(root)], check=True, stdout=subprocess.DEVNULL)
        for number in range(options.rounds):
            names = list(sources)
            random.Random(number).shuffle(names)
            for name in names:
                print(f"round {number + 1}, {name}", file=sys.stderr)
                rounds[name].append(run_child(sources[name], root, options.searches))
        for name, found in rounds.items():
            report(name, found)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
