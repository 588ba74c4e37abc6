#!/usr/bin/env python3
"""Time Cairn against semble, in one run on one machine; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import TypeVar

import systems
from dataset import Repository, load_repositories
from metrics import percentile

Item = TypeVar("Item")
Command = Callable[[int], Sequence[str]]  # from the number of the run

LIMIT = 10
PROJECT = "laravel-framework"
QUERIES = (
    "how are routes registered",
    "QueueManager",
    "where are failed jobs stored and retried",
    "validate that an uploaded file is an image",
    "database transaction commit and rollback",
)
MIN_EDITED_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `semble` is None where it has no counterpart."""

    name: str
    unit: str
    cairn: float
    semble: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times Cairn's figure semble's is; above 1 Cairn needs less."""
        return self.semble / self.cairn if self.semble is not None and self.cairn else None


def measure_in_process(
    workers: Sequence[systems.Worker], repositories: Sequence[Repository]
) -> tuple[list[Row], dict[str, dict[str, dict[str, float]]]]:
    """Index every repository afresh and ask all its questions, in both systems by turns.

    Returns:
        the table's rows, and the seconds and counts by repository and system.
    """
    details: dict[str, dict[str, dict[str, float]]] = {}
    seconds: dict[str, list[float]] = {worker.name: [] for worker in workers}
    for number, repository in enumerate(repositories):
        details[repository.name] = {}
        for worker in _by_turns(workers, number):
            indexed = worker.index(repository.folder)
            worker.search(repository.questions[0].query, LIMIT)  # opens what is opened once
            taken = []
            for question in repository.questions:
                worker.search(question.query, LIMIT)
                taken.append(worker.search_seconds)
            seconds[worker.name] += taken
            details[repository.name][worker.name] = {**asdict(indexed), "query_ms": 1000 * median(taken)}
        print(f"{repository.name:<20} {_progress(details[repository.name])}", file=sys.stderr)

    def both(name: str, unit: str, value: Callable[[systems.Worker], float], note: str = "") -> Row:
        cairn, semble = workers
        return Row(name, unit, value(cairn), value(semble), note)

    def total(worker: systems.Worker, *keys: str) -> float:
        return sum(details[repository.name][worker.name][key] for repository in repositories for key in keys)

    return [
        both("index, all repositories", "s", lambda worker: total(worker, "seconds"), "semble: in memory only"),
        both("  and saved to disk", "s", lambda worker: total(worker, "seconds", "save_seconds")),
        both("peak memory while indexing", "MB", lambda worker: worker.peak_bytes() / 1e6),
        both("query, p50", "ms", lambda worker: 1000 * percentile(seconds[worker.name], 50)),
        both("query, p95", "ms", lambda worker: 1000 * percentile(seconds[worker.name], 95)),
    ], details


class Stopwatch:
    """Times whole processes.

    Args:
        environment: all of their environment.
        folder: their current folder.
    """

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self._environment = environment
        self._folder = folder

    def seconds(self, command: Sequence[str]) -> float:
        """Run a command to its end and return the time it took, output piped and thrown away."""
        started = time.perf_counter()
        done = subprocess.run(command, env=self._environment, cwd=self._folder, capture_output=True, check=False)
        taken = time.perf_counter() - started
        if done.returncode:
            message = done.stderr.decode(errors="replace")[-2000:]
            raise SystemExit(f"{' '.join(command)} ended with exit code {done.returncode}\n{message}")
        return taken

    def by_turns(self, commands: Sequence[Command], runs: int, before: Callable[[], None] | None = None) -> list[float]:
        """Return each command's median in milliseconds; `before` is called ahead of each single run."""
        taken: list[list[float]] = [[] for _ in commands]
        for number in range(runs):
            for position in _by_turns(range(len(commands)), number):
                if before is not None:
                    before()
                taken[position].append(self.seconds(commands[position](number)))
        return [1000 * median(times) for times in taken]


def measure_commands(arguments: argparse.Namespace, source: Path, state: Path) -> list[Row]:
    """Time the two command lines, by turns, on a copy of the folder `source`."""
    project = state / "project"
    shutil.copytree(source, project)
    files = sum(path.is_file() for path in project.rglob("*"))
    edit = _editor(project)
    cairn = arguments.cairn or str(Path(sys.executable).parent / "cairn")
    semble = str(Path(arguments.semble_python).parent / "semble")

    def search(number: int) -> list[str]:
        return [cairn, "search", QUERIES[number % len(QUERIES)], "-C", str(project), "-n", str(LIMIT)]

    def semble_search(number: int) -> list[str]:
        return [semble, "search", QUERIES[number % len(QUERIES)], str(project), "-k", str(LIMIT)]

    bare, index = [sys.executable, "-c", "pass"], [cairn, "index", str(project)]
    version, semble_version = [cairn, "--version"], [semble, "--version"]
    watch, runs = Stopwatch(systems.environment(arguments, state), state), arguments.runs
    for command in (bare, index, search(0), version, semble_search(0), semble_search(0), semble_version):
        watch.seconds(command)  # builds the indexes, compiles the modules, warms the page cache
    versions = watch.by_turns([lambda _: version, lambda _: semble_version, lambda _: bare], runs)
    searches = watch.by_turns([search, semble_search], runs)
    unchanged = watch.by_turns([lambda _: index], runs)
    # Both look for changes before they search, and each finds a file that changed since its own last run.
    after_edit = watch.by_turns([search, semble_search], runs, edit)
    reindexed = watch.by_turns([lambda _: index], runs, edit)
    return [
        Row("--version", "ms", versions[0], versions[1], f"a bare python: {versions[2]:.0f} ms"),
        Row("search", "ms", searches[0], searches[1], f"{files} files, nothing changed"),
        Row("search after an edit", "ms", after_edit[0], after_edit[1], "one file changed since the last run"),
        Row("cairn index, no change", "ms", unchanged[0], note=f"{unchanged[0] / versions[0]:.1f} x --version"),
        Row("cairn index, one file", "ms", reindexed[0], note=f"{reindexed[0] / versions[0]:.1f} x --version"),
    ]


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print rows with the ratio of semble's figure to Cairn's."""
    print(f"\n{title:<30}{'cairn':>10}{'semble':>10}{'ratio':>8}")
    for row in rows:
        semble = f"{row.semble:>10.1f}" if row.semble is not None else f"{'':>10}"
        ratio = f"{row.ratio:>7.1f}x" if row.ratio is not None else f"{'':>8}"
        line = f"{f'{row.name} ({row.unit})':<30}{row.cairn:>10.1f}{semble}{ratio}  {row.note}"
        print(line.rstrip())


def main() -> int:
    """Parse the command line, run both parts, print, and write the JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    systems.add_arguments(parser)
    parser.add_argument("--cairn", metavar="PATH", help="the cairn command (default: beside this Python)")
    parser.add_argument("--project", default=PROJECT, metavar="NAME", help=f"for the commands (default: {PROJECT})")
    parser.add_argument("--runs", type=int, default=9, metavar="N", help="runs of each command (default: 9)")
    parser.add_argument("--skip", choices=("process", "commands"), help="leave out one part")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all figures to this file")
    arguments = parser.parse_args()
    repositories = load_repositories(arguments.bench, arguments.repos, arguments.only)
    (project,) = load_repositories(arguments.bench, arguments.repos, [arguments.project])
    document: dict[str, object] = {
        "python": platform.python_version(),
        "machine": platform.platform(),
        "cpus": os.cpu_count(),
        "model": str(arguments.model.name) if arguments.model else "",
    }
    if arguments.skip != "process":
        with ExitStack() as stack:
            state = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cairn-bench-")))
            workers = [stack.enter_context(systems.start(name, arguments, state)) for name in systems.NAMES]
            rows, details = measure_in_process(workers, repositories)
            document |= {"versions": {worker.name: worker.version for worker in workers}}
        document |= {"in_process": [asdict(row) for row in rows], "repositories": details}
        questions = sum(len(repository.questions) for repository in repositories)
        print_table(f"{len(repositories)} repositories, {questions} questions", rows)
    if arguments.skip != "commands":
        with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
            rows = measure_commands(arguments, project.folder, Path(folder))
        document |= {"commands": [asdict(row) for row in rows]}
        print_table(f"commands, median of {arguments.runs}", rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return 0


def _by_turns(items: Sequence[Item], number: int) -> Sequence[Item]:
    """Return `items` in order, or in reverse for odd numbers."""
    return items[::-1] if number % 2 else items


def _editor(project: Path) -> Callable[[], None]:
    """Return a function that gives one file of the project a content it never had."""
    edited = min(path for path in project.rglob("*.*") if path.is_file() and path.stat().st_size >= MIN_EDITED_BYTES)
    original, numbers = edited.read_bytes(), count(1)

    def edit() -> None:
        edited.write_bytes(original + f"\n// edited {next(numbers)}\n".encode())

    return edit


def _progress(details: dict[str, dict[str, float]]) -> str:
    return "   ".join(
        f"{name} {figures['files']:>5} files {figures['chunks']:>6} chunks "
        f"{figures['seconds']:>6.2f} s {figures['query_ms']:>6.2f} ms"
        for name, figures in sorted(details.items())
    )


if __name__ == "__main__":
    raise SystemExit(main())
