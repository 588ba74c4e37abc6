"""Measures how long a relation of one symbol takes: asked first of an index whose graph was never read, and again.

    python bench/relations.py --project FOLDER --symbols NAME... [--profile]
    python bench/relations.py --project FOLDER --symbols NAME... --prepared
    python bench/relations.py --project FOLDER --symbols NAME... --staying

Each relation of each symbol is asked in a process of its own, first with no facts and no edges stored, then twice more.
With `--prepared` the facts and edges are there, as an idle daemon prepares them. Times are seconds on the clock and of
the processor, since other programs slow the former. `--profile` prints where they go.

With `--staying`, one process asks all, as a daemon does, each of a workspace that was just opened, with no facts and no
edges stored: at once, again after the answer was gone on with for two seconds at most, and again then.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from cairn.errors import CairnError
from cairn.workspace import Workspace
from parallel import forget_graph

GOES_ON_SECONDS = 2.0
RELATIONS = ("callers", "callees", "references", "subclasses", "importers", "tests", "impact")


def ask(workspace: Workspace, relation: str, symbol: str) -> int:
    """Ask, and return how many there are; -1 where the symbol has no such relation."""
    try:
        if relation == "references":
            return len(workspace.graph.references(symbol).references)
        if relation == "importers":
            return len(workspace.graph.importers(symbol).importers)
        if relation == "tests":
            return len(workspace.graph.choose_tests(symbol).tests)
        if relation == "impact":
            return len(workspace.graph.impact(symbol, limit=50).affected)
        return len(getattr(workspace.graph, relation)(symbol).links)
    except CairnError:
        return -1


def measure(root: Path, relation: str, symbol: str, *, profile: bool) -> dict[str, object]:
    """Ask three times in this process."""
    took = []
    with Workspace.open(root) as workspace:
        workspace.search(symbol)
        for _ in range(3):
            wall, cpu = time.perf_counter(), time.process_time() + sum(os.times()[2:4])
            profiler = cProfile.Profile()
            if profile:
                profiler.enable()
            count = ask(workspace, relation, symbol)
            profiler.disable()
            if profile:
                pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)
            cpu = time.process_time() + sum(os.times()[2:4]) - cpu
            took.append((round(time.perf_counter() - wall, 3), round(cpu, 3)))
    return {"relation": relation, "symbol": symbol, "found": count, "first": took[0], "next": took[1:]}


def _is_past(until: float) -> bool:
    return time.monotonic() > until


def measure_staying(root: Path, relation: str, symbol: str) -> dict[str, object]:
    """Ask three times of a graph that was never read, and go on after the first answer as the daemon does."""
    forget_graph(root)
    asked = []
    with Workspace.open(root) as workspace:
        workspace.search(symbol)
        for _ in range(3):
            wall, cpu = time.perf_counter(), time.process_time() + sum(os.times()[2:4])
            found = ask(workspace, relation, symbol)
            took = time.perf_counter() - wall, time.process_time() + sum(os.times()[2:4]) - cpu
            opened = workspace.graph.current()
            asked.append(
                {"found": found, "cut": opened.answers.are_cut, "wall": round(took[0], 3), "cpu": round(took[1], 3)}
            )
            if len(asked) == 1:
                workspace.graph.go_on(partial(_is_past, time.monotonic() + GOES_ON_SECONDS))
    return {"relation": relation, "symbol": symbol, "load": os.getloadavg()[0], "asked": asked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--symbols", nargs="+", required=True)
    parser.add_argument("--relations", nargs="+", choices=RELATIONS, default=RELATIONS)
    parser.add_argument("--prepared", action="store_true")
    parser.add_argument("--staying", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.project, options.relations[0], options.symbols[0], profile=options.profile)))
        return
    for symbol in options.symbols:
        for relation in options.relations:
            if options.staying:
                print(json.dumps(measure_staying(options.project, relation, symbol)), flush=True)
                continue
            if not options.prepared:
                forget_graph(options.project)
            elif symbol == options.symbols[0] and relation == options.relations[0]:
                with Workspace.open(options.project) as workspace:
                    workspace.graph.map()
            command = [sys.executable, __file__, "--one", "--project", str(options.project), "--symbols", symbol]
            command += ["--relations", relation, *(["--profile"] if options.profile else [])]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
