"""Measures a watcher: from saving an edit to finding it, what an idle one takes, and how long readers wait for writers.

    python bench/watch.py edits REPOSITORY --edits 60
    python bench/watch.py idle --files 20000 --seconds 120
    python bench/watch.py readers REPOSITORY --searches 400

`edits` copies the repository, starts `cairn index --watch` on the copy, and saves edits at random moments: a new
function each, found when a search of the workspace in this process shows it. `idle` makes a tree of files in a git
repository, lets `cairn index --watch` index it, and reads /proc while nothing happens. `readers` asks for answers from
an index that is up to date, first alone, then while another process keeps building it from scratch.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from cairn.workspace import Workspace
from processes import cpu_seconds, n_descriptors, n_threads, private_mb, resident_mb

DEFINITIONS = {
    ".py": "\n\ndef {}():\n    pass\n",
    ".php": "\nfunction {}() {{}}\n",
    ".rb": "\ndef {}\nend\n",
    ".go": "\nfunc {}() {{}}\n",
    ".js": "\nfunction {}() {{}}\n",
    ".ts": "\nfunction {}() {{}}\n",
}
POLL_SECONDS = 0.01
GIVE_UP_SECONDS = 30.0


@contextmanager
def watching(root: Path, state: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `cairn index --watch` on a folder, from when its first update is done."""
    command = [sys.executable, "-m", "cairn", "index", str(root), "--watch", "--json", "--state-dir", str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def commit(root: Path) -> None:
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)


def measure_edits(source: Path, n_edits: int, seed: int) -> dict[str, object]:
    """Return the quantiles, in milliseconds, of how long an edit takes to be found once it is saved.

    And what the watcher used of the processor for each, with the load of the machine, on which the rest depends.
    """
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder, "copy"), Path(folder, "state")
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cairn"))
        commit(root)
        with Workspace.open(root, state_dir=state) as workspace:
            workspace.index()  # not by the watcher, whose use of the processor is read below, with its helpers'
        took = []
        with (
            watching(root, state) as process,
            Workspace.open(root, state_dir=state) as workspace,
            closing(sqlite3.connect(state / "index.db")) as database,
        ):
            skipped = cast("dict[str, str]", workspace.upkeep.status()["skipped"])
            files = sorted(
                file for file in root.rglob("*") if file.suffix in DEFINITIONS and ".blade." not in file.name
            )
            files = [file for file in files if file.relative_to(root).as_posix() not in skipped]
            before, load = cpu_seconds(process.pid, with_children=True), []
            generation = _generation(database)
            for _ in range(n_edits):
                load.append(os.getloadavg()[0])
                time.sleep(moments.uniform(0.3, 1.5))
                file = moments.choice(files)
                mark = "".join(moments.choices("bcdfghjklmnpqrstvwxz", k=14))
                text = file.read_bytes() + DEFINITIONS[file.suffix].format(mark).encode()
                begun = time.perf_counter()
                file.write_bytes(text)
                known = generation
                while (generation := _generation(database)) == known or not _finds(workspace, mark):
                    if time.perf_counter() - begun > GIVE_UP_SECONDS:
                        raise SystemExit(f"{file} was not found after {GIVE_UP_SECONDS:.0f} s")
                    time.sleep(POLL_SECONDS)
                took.append(1000 * (time.perf_counter() - begun))
            n_files = workspace.upkeep.status()["files"]
            used_seconds = cpu_seconds(process.pid, with_children=True) - before
    took.sort()
    return {
        "files": n_files,
        "edits": n_edits,
        "median_ms": round(statistics.median(took)),
        "p95_ms": round(took[int(0.95 * (len(took) - 1))]),
        "max_ms": round(took[-1]),
        "processor_ms": round(1000 * used_seconds / n_edits),
        "load": round(statistics.mean(load), 1),
    }


def _generation(database: sqlite3.Connection) -> str:
    """Return the number of the state of the index: far less work than a search, which would slow the watcher down."""
    row = database.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return str(row[0])


def _finds(workspace: Workspace, name: str) -> bool:
    return any(hit.name == name for hit in workspace.search(name, mode="symbol", limit=1).code)


def measure_idle(n_files: int, seconds: float) -> dict[str, object]:
    """Return what a watcher takes while nothing happens: processor share, memory in MB, descriptors, threads."""
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder, "tree"), Path(folder, "state")
        for number in range(n_files):
            file = root / f"package_{number // 500}" / f"part_{number // 10 % 50}" / f"module_{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"def work_{number}(offset):\n    return offset + {number}\n")
        commit(root)
        with watching(root, state) as process:
            time.sleep(5)
            before = _usage(process.pid)
            samples = []
            for _ in range(10):
                time.sleep(seconds / 10)
                samples.append(_usage(process.pid))
    return {
        "files": n_files,
        "seconds": seconds,
        "processor_percent": round(100 * (samples[-1]["cpu_seconds"] - before["cpu_seconds"]) / seconds, 3),
        "memory_mb": max(sample["memory_mb"] for sample in samples),
        "private_mb": max(sample["private_mb"] for sample in samples),
        "descriptors": sorted({sample["descriptors"] for sample in samples}),
        "threads": sorted({sample["threads"] for sample in samples}),
    }


def measure_readers(source: Path, n_searches: int) -> dict[str, object]:
    """Return the quantiles, in milliseconds, of an answer's two parts: to bring the index up to date, and to search.

    Both also as processor time, for a writer takes its share of a machine with few cores, too.
    """
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder, "copy"), Path(folder, "state")
        shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cairn"))
        commit(root)
        with Workspace.open(root, state_dir=state) as workspace:
            workspace.index()
            alone = _answer(workspace, n_searches)
            stop = threading.Event()
            writer = threading.Thread(target=_write, args=(root, state, stop))
            writer.start()
            try:
                beside = _answer(workspace, n_searches)
            finally:
                stop.set()
                writer.join()
    return {"alone": alone, "beside a writer": beside}


def _write(root: Path, state: Path, stop: threading.Event) -> None:
    command = [sys.executable, "-m", "cairn", "index", str(root), "--full", "--json", "--state-dir", str(state)]
    while not stop.is_set():
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _answer(workspace: Workspace, n_searches: int) -> dict[str, object]:
    refreshed, searched, processor, told = [], [], [], 0
    for number in range(n_searches):
        begun, used = time.perf_counter(), time.process_time()
        told += bool(workspace.refresh())
        between = time.perf_counter()
        workspace.search(f"where is part {number} of the settings read")
        refreshed.append(1000 * (between - begun))
        searched.append(1000 * (time.perf_counter() - between))
        processor.append(1000 * (time.process_time() - used))
    return {
        "refresh_ms": _quantiles(refreshed),
        "search_ms": _quantiles(searched),
        "processor_ms": _quantiles(processor),
        "without_update": told,
    }


def _quantiles(values: list[float]) -> dict[str, float]:
    values = sorted(values)
    shares = {"median": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: round(values[int(share * (len(values) - 1))], 1) for name, share in shares.items()}


def _usage(pid: int) -> dict[str, float]:
    return {
        "cpu_seconds": cpu_seconds(pid, with_children=True),
        "memory_mb": round(resident_mb(pid)),
        "private_mb": round(private_mb(pid)),
        "descriptors": n_descriptors(pid),
        "threads": n_threads(pid),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    edits = commands.add_parser("edits")
    edits.add_argument("repository", type=Path)
    edits.add_argument("--edits", type=int, default=60)
    edits.add_argument("--seed", type=int, default=1)
    idle = commands.add_parser("idle")
    idle.add_argument("--files", type=int, default=20_000)
    idle.add_argument("--seconds", type=float, default=120.0)
    readers = commands.add_parser("readers")
    readers.add_argument("repository", type=Path)
    readers.add_argument("--searches", type=int, default=400)
    options = parser.parse_args()
    if options.command == "readers":
        print(json.dumps(measure_readers(options.repository, options.searches)))
    elif options.command == "edits":
        print(json.dumps(measure_edits(options.repository, options.edits, options.seed)))
    else:
        print(json.dumps(measure_idle(options.files, options.seconds)))


if __name__ == "__main__":
    main()
