#!/usr/bin/env python3
"""Measure branches and worktrees: what a switch costs, what a worktree adds, and whether answers stay right."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

from cairn.types import Mode
from cairn.workspace import Workspace
from histories import STEPS, contents, differences

N_STEPS = (6, 14)
MODES: tuple[Mode, ...] = ("hybrid", "symbol", "literal", "hybrid")  # of the questions, in turn
# How long importing and an update with nothing to do take stands beside each time, measured in the same way.
CHILD = """
import json, sys, time
from cairn.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    wall, cpu = time.perf_counter(), time.process_time()
    report = workspace.index()
    workspace.search(sys.argv[2])
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, report.embedded_chunks,
                      report.added + report.changed]))
"""


def main() -> int:
    """Run the parts that are asked for, and print one JSON document for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, help="a git repository; it is cloned")
    parser.add_argument("--branches", nargs=2, metavar="REV", help="two branches or tags of it")
    parser.add_argument("--beside", type=int, default=0, help="earlier commits to index beside what is checked out")
    parser.add_argument("--worktrees", type=int, default=20)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--sequences", type=int, default=0, help="random histories to play")
    parser.add_argument("--first", type=int, default=0, help="number of the first history")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.repository and options.branches:
            measure_repository(options, Path(name))
        if options.repository and options.beside:
            measure_beside(options, Path(name))
        if options.sequences:
            return play(options, Path(name))
    return 0


def measure_repository(options: argparse.Namespace, base: Path) -> None:
    """Index one branch, switch to the other and back, add worktrees, and compare answers with a fresh index."""
    root, (one, other) = base / "clone", options.branches
    git(base, "clone", "-q", str(options.repository.resolve()), str(root))
    git(root, "checkout", "-q", one)
    started = time.process_time()
    with Workspace.open(root) as workspace:
        report = workspace.index()
    emit("first index", files=report.files, chunks=report.chunks, cpu_seconds=time.process_time() - started)
    measure_worktrees(root, base, options.worktrees)
    time_update(root, "nothing new")
    for label, branch in (("one new", other), ("both seen", one), ("both seen", other), ("both seen", one)):
        git(root, "checkout", "-q", branch)
        time_update(root, label, branch=branch)
        time_update(root, "nothing new")
    compare(root, other, base, options.questions)


def measure_beside(options: argparse.Namespace, base: Path) -> None:
    """Ask about what is checked out, by itself and beside many other commits; commits are not asked about."""
    root = base / "crowded"
    git(base, "clone", "-q", str(options.repository.resolve()), str(root))
    listed = ["git", "rev-list", "--first-parent", "HEAD~1"]
    commits = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.split()
    chosen = commits[:: max(1, min(30, len(commits) // options.beside))][: options.beside]
    folders = {name: base / name for name in ("alone", "beside")}
    for name, folder in folders.items():
        with Workspace.open(root, state_dir=folder) as workspace:
            for commit in chosen if name == "beside" else ():
                workspace.index(branch=commit)
            for _ in range(3):  # until all of the history is read, which counts as well
                workspace.index()
    found, taken = {}, {}
    for name, folder in folders.items():
        with Workspace.open(root, state_dir=folder) as workspace:
            questions = make_questions(workspace, options.questions)
            for _ in range(2):
                started = time.process_time()
                found[name] = [
                    [(hit.id, hit.score) for hit in workspace.search(question, mode="hybrid").code]
                    for question in questions
                ]
                taken[name] = 1000 * (time.process_time() - started) / len(questions)
    same = sum(alone == beside for alone, beside in zip(found["alone"], found["beside"], strict=True))
    emit("beside", commits=len(chosen), questions=len(found["alone"]), identical=same, cpu_ms=taken)


def time_update(root: Path, label: str, **facts: object) -> None:
    """Update and search in a process of its own, and print the time without its start."""
    command = [sys.executable, "-c", CHILD, str(root), "where are requests routed"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, cpu, embedded, read = json.loads(done.stdout)
    emit(label, **facts, wall_seconds=wall, cpu_seconds=cpu, embedded_chunks=embedded, files=read)


def measure_worktrees(root: Path, base: Path, count: int) -> None:
    """Add worktrees of what is checked out, until there are `count`; print what each costs and how the state grows."""
    with Workspace.open(root) as workspace:
        alone = workspace.state.disk_bytes()
    trees = [base / f"tree-{number}" for number in range(1, count)]
    for tree in trees:
        git(root, "worktree", "add", "-q", "--detach", str(tree))
        time_update(tree, "worktree")
    for tree in trees[:3]:
        time_update(tree, "worktree again")
    total = workspace.state.disk_bytes()
    emit("worktrees", count=count, bytes_of_one=alone, bytes_of_all=total, ratio=total / alone)
    for tree in trees:
        git(root, "worktree", "remove", "--force", str(tree))


def compare(root: Path, branch: str, base: Path, n_questions: int) -> None:
    """Ask questions about a branch that is not checked out, and about a fresh index of a clone of it."""
    clone = base / "fresh"
    git(base, "clone", "-q", str(root), str(clone))
    git(clone, "checkout", "-q", branch)
    with Workspace.open(root) as ours, Workspace.open(clone) as fresh:
        ours.index(branch=branch)
        fresh.index()
        questions = make_questions(fresh, n_questions)
        started = time.process_time()
        same = [
            first_hits(ours, question, mode, branch) == first_hits(fresh, question, mode)
            for question, mode in zip(questions, cycle(MODES), strict=False)
        ]
        emit(
            "answers on a branch",
            questions=len(questions),
            identical=sum(same),
            different=[question for question, equal in zip(questions, same, strict=True) if not equal][:5],
            cpu_seconds=time.process_time() - started,
        )


def first_hits(workspace: Workspace, question: str, mode: Mode, branch: str | None = None) -> list[tuple[object, ...]]:
    """Return the best hits for a question, in order."""
    hits = workspace.search(question, mode=mode, branch=branch).code
    return [(hit.path, hit.start_line, hit.end_line, hit.id, hit.name, hit.confidence, hit.preview) for hit in hits]


def make_questions(workspace: Workspace, count: int) -> list[str]:
    """Return names, documentation and lines of an index's own code, evenly, the same every time."""
    dice = random.Random(5)
    symbols = [(row[4], row[6]) for _, _, _, rows in contents(workspace, str(workspace.root)) for row in rows]
    chosen = dice.sample(symbols, min(count, len(symbols)))
    questions = []
    for number, (name, doc) in enumerate((str(name), str(doc)) for name, doc in chosen):
        prose = " ".join(doc.split()[:12])
        questions.append((prose or name, name, name, f"where is {name} used")[number % len(MODES)])
    return questions


def play(options: argparse.Namespace, base: Path) -> int:
    """Play random histories and print those whose index is not what a fresh one would be."""
    wrong = []
    started = time.process_time()
    for number in range(options.first, options.first + options.sequences):
        dice = random.Random(number)
        folder = base / str(number)
        folder.mkdir()
        steps = dice.choices(STEPS, k=dice.randint(*N_STEPS))
        if found := differences(folder, dice, steps):
            wrong.append({"history": number, "steps": steps, "differs": found})
            emit("history", **wrong[-1])
        shutil.rmtree(folder)
        if (number + 1) % 50 == 0:
            emit("so far", histories=number + 1 - options.first, wrong=len(wrong))
    emit("histories", played=options.sequences, wrong=len(wrong), cpu_seconds=time.process_time() - started)
    return bool(wrong)


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def emit(what: str, **facts: object) -> None:
    """Print one measurement."""
    rounded = {name: round(value, 3) if isinstance(value, float) else value for name, value in facts.items()}
    print(json.dumps({"what": what, **rounded}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
