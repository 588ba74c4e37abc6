"""Changes the code in small ways, one at a time, and prints which changes no test notices.

    python bench/mutants.py --mutants 200                   # first finds out which test runs which line: 15 minutes
    python bench/mutants.py --mutants 200 --data .coverage  # from what `pytest --cov --cov-context=test` left
    python bench/mutants.py --mutants 20 --only search/score.py

A mutant is a copy of the sources with one comparison, condition, number or flag changed. The tests that run its line
are run against it, the nearest first, until one fails: then it is killed. What survives is printed with its line for
people to read: a test is missing, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "cairn"
FOLDERS = ("search", "index", "graph", "structure", "storage", "daemon")
FIRST_TESTS, FIRST_SECONDS = 60, 30.0  # most changes are noticed by tests of the module
LATER_SECONDS = 120.0  # what survives those gets the fastest of the others
TIMEOUT_SECONDS = 60.0  # beside four times what the tests took when they were measured
_SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(NamedTuple):
    """One change: where, the text that stands there, and what takes its place."""

    file: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        """Describe it on one line."""
        return f"{self.file.relative_to(SOURCES)}:{self.line}  {self.before}  ->  {self.after}"


def mutants_of(file: Path) -> Iterator[Mutant]:
    """Yield every change of a file."""
    text = file.read_text("utf-8")
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, changed in _changes(ast.parse(text)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        yield Mutant(file, node.lineno, start, end, data[start:end].decode(), changed)


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    quiet = {id(inner) for node in ast.walk(tree) for inner in _unseen(node)}
    for node in ast.walk(tree):
        if id(node) in quiet:
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            swapped = ast.Compare(node.left, [_SWAPS[type(node.ops[0])]()], node.comparators)
            yield node, f"({ast.unparse(swapped)})"
        elif isinstance(node, ast.BoolOp):
            swapped_operator = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            yield node, f"({ast.unparse(swapped_operator)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, f"bool({ast.unparse(node.operand)})"
        elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
            yield node.test, f"(not ({ast.unparse(node.test)}))"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield node, str(node.value + 1)


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what no test could notice: annotations, and what is only there for the type checker."""
    if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
        yield from ast.walk(node.annotation)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
        yield from ast.walk(node.returns)
    elif isinstance(node, ast.Assert) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        yield from ast.walk(node)
    elif isinstance(node, ast.JoinedStr):  # its parts have no places of their own before Python 3.12
        yield from (inner for inner in ast.walk(node) if inner is not node)


# -- which tests run a line --------------------------------------------------------------------------------------------


def measure(data: Path) -> None:
    """Run all tests, and keep which of them ran which line, in child processes too, and how long each took."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "contexts", "--cov", "--cov-context=test", "--cov-report="]
    command += ["--cov-fail-under=0", f"--junitxml={_seconds_file(data)}"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"COVERAGE_FILE": str(data)}, check=False)


def _seconds_file(data: Path) -> Path:
    return data.with_name(data.name + ".xml")


class Runs:
    """Which test ran which line, and how long each took.

    Args:
        data: as coverage wrote it, with the tests as contexts; a file beside it ending in `.xml` has the times.
    """

    def __init__(self, data: Path) -> None:
        self._lines: dict[str, dict[int, list[str]]] = {}
        self._data = data
        self._seconds: dict[str, float] = {}
        self._kept: set[str] | None = None
        if _seconds_file(data).exists():
            for case in ElementTree.parse(_seconds_file(data)).iter("testcase"):
                self._seconds[f"{case.get('classname')}::{case.get('name')}"] = float(case.get("time", "0"))

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a mutant's line, those of its module first, then the fastest."""
        name = mutant.file.relative_to(SOURCES).as_posix()
        if name not in self._lines:
            self._lines[name] = self._read(name)
        lines = self._lines[name]
        # What runs when a module is imported may matter to all tests that use the module.
        at_import = mutant.line not in _lines_of_functions(mutant.file)
        tests = {test for found in lines.values() for test in found} if at_import else set(lines.get(mutant.line, ()))
        words = {mutant.file.stem, mutant.file.parent.name}

        def distance(test: str) -> tuple[int, float]:
            near = words & set(test.partition("::")[0].replace("test_", "").replace(".", "/").split("/"))
            return -len(near), self.seconds(test)

        return sorted((test for test in tests if self._kept is None or test in self._kept), key=distance)

    def keep(self, tests: set[str]) -> None:
        """Leave out all other tests, such as those named after a folder of the day when they were measured."""
        self._kept = tests

    def seconds(self, test: str) -> float:
        """Return how long a test took when it was measured."""
        file, _, name = test.partition("::")
        return self._seconds.get(f"{file.removesuffix('.py').replace('/', '.')}::{name}", 1.0)

    def _read(self, name: str) -> dict[int, list[str]]:
        lines: dict[int, list[str]] = {}
        with closing(sqlite3.connect(self._data)) as connection:
            arcs = connection.execute(
                "SELECT DISTINCT context, fromno, tono FROM arc JOIN context ON context.id = context_id"
                " JOIN file ON file.id = file_id WHERE path LIKE ? AND context LIKE '%|run'",
                (f"%/cairn/{name}",),
            )
            for context, source, target in arcs:
                for line in {abs(source), abs(target)}:
                    lines.setdefault(line, []).append(context.removesuffix("|run"))
        return {line: sorted(set(tests)) for line, tests in lines.items()}


@cache
def _lines_of_functions(file: Path) -> set[int]:
    return {
        line
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }


# -- running them ------------------------------------------------------------------------------------------------------


class Checkout:
    """A copy of the checkout in which one change is tried at a time.

    Args:
        copy: its folder.
    """

    def __init__(self, copy: Path) -> None:
        self._copy = copy
        self._environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        self._sound: dict[str, bool] = {}

    def tests(self) -> set[str]:
        """Return the names of all tests."""
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--no-cov"]
        done = subprocess.run(
            command, cwd=self._copy, env=self._environment, capture_output=True, text=True, check=True
        )
        return {line for line in done.stdout.splitlines() if "::" in line}

    def killer_of(self, mutant: Mutant, tests: list[str], runs: Runs) -> str:
        """Return the test that fails once a change is made, "" if none does, `timeout` if they never end."""
        target = self._copy / mutant.file.relative_to(ROOT)
        sound = target.read_bytes()
        changed = sound[: mutant.start] + mutant.after.encode() + sound[mutant.end :]
        seconds = TIMEOUT_SECONDS + 4 * sum(runs.seconds(test) for test in tests)
        try:
            while tests:
                target.write_bytes(changed)
                failed = self._first_failure(tests, seconds)
                if failed in ("", "timeout", "crash"):
                    return failed
                fails_again = self._first_failure([failed], TIMEOUT_SECONDS) != ""
                target.write_bytes(sound)
                if fails_again and self._passes(failed):
                    return failed
                tests = [test for test in tests if test != failed]  # it fails without the change, too, now and then
            return ""
        finally:
            target.write_bytes(sound)

    def _passes(self, test: str) -> bool:
        if test not in self._sound:
            self._sound[test] = self._first_failure([test], TIMEOUT_SECONDS) == ""
        return self._sound[test]

    def _first_failure(self, tests: list[str], seconds: float) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-cov", "--tb=no", *tests]
        with subprocess.Popen(
            command,
            cwd=self._copy,
            env=self._environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                return "timeout"
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode == 0:
            return ""
        for line in output.splitlines():
            if line.startswith(("FAILED ", "ERROR ")):
                name = line.split(" ", 1)[1]
                return next((test for test in tests if name == test or name.startswith(f"{test} - ")), "crash")
        return "crash"


def choose(count: int, only: str, dice: random.Random) -> list[Mutant]:
    """Return mutants at random, each line at most once."""
    files = [file for folder in FOLDERS for file in sorted((SOURCES / folder).rglob("*.py"))]
    every = [mutant for file in files if only in file.as_posix() for mutant in mutants_of(file)]
    dice.shuffle(every)
    lines: dict[tuple[Path, int], Mutant] = {}
    for mutant in every:
        lines.setdefault((mutant.file, mutant.line), mutant)
    return list(lines.values())[:count]


def main() -> None:
    """Try mutants, and print those that survive and how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="so many of them, tried before")
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--data", type=Path, help="of coverage, with the tests as contexts")
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or Path(scratch) / "coverage"
        if arguments.data is None:
            measure(data)
        runs = Runs(data)
        copy = Path(scratch) / "copy"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".venv", ".tools", ".*_cache"))
        checkout = Checkout(copy)
        runs.keep(checkout.tests())
        chosen = choose(arguments.mutants, arguments.only, dice)
        for number, mutant in enumerate(chosen[arguments.skip :], arguments.skip + 1):
            killer = _killer_of(mutant, runs, checkout)
            survivors += not killer
            print(f"{number:4} {'killed' if killer else 'SURVIVED':8}  {mutant}  by {killer or 'none'}", flush=True)
    tried = len(chosen) - arguments.skip
    print(json.dumps({"mutants": tried, "killed": tried - survivors, "share": round(1 - survivors / max(1, tried), 3)}))


def _killer_of(mutant: Mutant, runs: Runs, checkout: Checkout) -> str:
    tests = runs.tests_of(mutant)
    near = list(_within(FIRST_SECONDS, tests[:FIRST_TESTS], runs))
    if near and (killer := checkout.killer_of(mutant, near, runs)):
        return killer
    others = sorted(set(tests) - set(near), key=runs.seconds)
    return checkout.killer_of(mutant, list(_within(LATER_SECONDS, others, runs)), runs)


def _within(seconds: float, tests: list[str], runs: Runs) -> Iterator[str]:
    for test in tests:
        seconds -= runs.seconds(test)
        if seconds >= 0:
            yield test


if __name__ == "__main__":
    main()
