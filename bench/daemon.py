"""Measures the daemon: from nothing to the first answer, answers while it runs, and its memory.

    python bench/daemon.py --sources FOLDER... [--starts 7] [--searches 300]

Projects are made of the first source files of the folders: one of 1,000 files, and three of 2,000. State is kept in a
temporary folder, so a daemon that runs already is left alone. Times are wall-clock; the processor time of the same work
in a command of its own stands beside them, because a busy machine slows both.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cairn.client import ensure, stop
from cairn.runtime import Runtime, StateFolder
from cairn.transport import ask
from metrics import percentile
from processes import cpu_seconds
from questions import QUESTIONS

SUFFIXES = (".py", ".php", ".js", ".ts", ".go", ".rs", ".java", ".rb", ".c", ".h", ".cc", ".cs", ".kt", ".scala")
MAX_BYTES = 200_000


def make_project(root: Path, sources: Sequence[Path], count: int) -> Path:
    """Copy some source files into a new git repository."""
    root.mkdir(parents=True)
    for number, file in enumerate(sources[:count]):
        folder = root / f"part{number // 100}"
        folder.mkdir(exist_ok=True)
        shutil.copyfile(file, folder / f"f{number}_{file.name}")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def list_sources(folders: Sequence[Path], wanted: int) -> list[Path]:
    """Return source files of middling size, in a fixed order."""
    found: list[Path] = []
    for folder in folders:
        for place, names, files in os.walk(folder):
            names.sort()
            for name in sorted(files):
                file = Path(place, name)
                if file.suffix in SUFFIXES and not file.is_symlink() and 200 < file.stat().st_size < MAX_BYTES:
                    found.append(file)
    random.Random(1).shuffle(found)
    if len(found) < wanted:
        raise SystemExit(f"{len(found)} source files; {wanted} are needed: name more folders")
    return found


def cairn(*arguments: str) -> float:
    """Run a command and return its processor time with that of its children, in seconds."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "cairn", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def search(folder: StateFolder, runtime: Runtime, root: Path, query: str) -> int:
    """Search, each time over a connection of its own, and return the number of hits."""
    reply = ask(runtime, folder.read_token(), "POST", "/api/search", search_body(root, query))
    assert reply.status == 200, reply.body
    return len(json.loads(reply.body)["code"])


def search_body(root: Path, query: str) -> bytes:
    """Return the body of a search."""
    return json.dumps({"project": str(root), "query": query}).encode()


def measure_starts(folder: StateFolder, root: Path, count: int) -> None:
    """Print how long it takes until the daemon answers, and until it has answered a first search."""
    starts, firsts, processors = [], [], []
    for _ in range(count):
        stop(folder)
        begun = time.perf_counter()
        runtime = ensure(folder)
        starts.append(time.perf_counter() - begun)
        search(folder, runtime, root, QUESTIONS[0])
        firsts.append(time.perf_counter() - begun)
        processors.append(cpu_seconds(runtime.pid))
    print(f"cold: median {statistics.median(processors):.2f} s of the daemon's processor time until the first search")
    for name, values in (("answers", starts), ("first search", firsts)):
        print(f"cold, {name}: median {statistics.median(values):.2f} s, of {min(values):.2f} to {max(values):.2f}")


def measure_searches(folder: StateFolder, root: Path, count: int) -> None:
    """Print how long searches take while the daemon runs, on new connections and on one that is kept."""
    runtime = ensure(folder)
    kept = http.client.HTTPConnection(runtime.host, runtime.port)
    headers = {"authorization": f"Bearer {folder.read_token()}", "content-type": "application/json"}

    def search_kept(query: str) -> None:
        kept.request("POST", "/api/search", search_body(root, query), headers)
        assert json.loads(kept.getresponse().read())["code"]

    search(folder, runtime, root, QUESTIONS[0])
    for name, ask_once in (("new", partial(search, folder, runtime, root)), ("kept", search_kept)):
        times = []
        before = cpu_seconds(runtime.pid)
        for place in range(count):
            begun = time.perf_counter()
            ask_once(QUESTIONS[place % len(QUESTIONS)])
            times.append(1000 * (time.perf_counter() - begun))
        processor = 1000 * (cpu_seconds(runtime.pid) - before) / count
        print(f"warm search, {name} connection: p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms")
        print(f"warm search, {name} connection: {processor:.1f} ms of the daemon's processor time")
    kept.close()


def measure_commands(root: Path, count: int) -> None:
    """Print what a search takes as a command, with the daemon and without."""
    for name, option in (("with the daemon", ()), ("without", ("--no-daemon",))):
        arguments = ("search", QUESTIONS[0], "-C", str(root), *option)
        cairn(*arguments)
        walls, processors = [], []
        for _ in range(count):
            begun = time.perf_counter()
            processors.append(cairn(*arguments))
            walls.append(time.perf_counter() - begun)
        wall, processor = statistics.median(walls), statistics.median(processors)
        print(f"cairn search {name}: {wall:.2f} s, {processor:.2f} s of processor time")


def measure_memory(folder: StateFolder, roots: Sequence[Path]) -> None:
    """Print what the daemon holds with some projects open, each searched and watched."""
    stop(folder)
    runtime = ensure(folder)
    for root in roots:
        for query in QUESTIONS:
            search(folder, runtime, root, query)
        usage = json.loads(ask(runtime, "", "GET", "/api/health").body)["usage"]
        print(f"resident after {root.name}: {usage['memory_mb']:.0f} MB, {usage['threads']} threads")
    time.sleep(5)  # the first look of the watchers
    usage = json.loads(ask(runtime, "", "GET", "/api/health").body)["usage"]
    print(f"resident with {len(roots)} projects open: {usage['memory_mb']:.0f} MB, {usage['threads']} threads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, nargs="+", required=True)
    parser.add_argument("--scratch", type=Path, help="keep the projects here, and use them again")
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--searches", type=int, default=300)
    options = parser.parse_args()
    scratch: Path = options.scratch or Path(tempfile.mkdtemp(prefix="cairn-bench-"))
    os.environ["XDG_STATE_HOME"] = str(scratch / "state")
    folder = StateFolder.of_user()
    roots = [scratch / name for name in ("small", "first", "second", "third")]
    if not roots[-1].exists():
        sources = list_sources(options.sources, 7_000)
        for root, begin, count in zip(roots, (0, 1_000, 3_000, 5_000), (1_000, 2_000, 2_000, 2_000), strict=True):
            make_project(root, sources[begin:], count)
            cairn("index", "-C", str(root))
    try:
        measure_starts(folder, roots[0], options.starts)
        measure_searches(folder, roots[0], options.searches)
        measure_commands(roots[0], 5)
        measure_memory(folder, roots[1:])
    finally:
        stop(folder)
        if options.scratch is None:
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
