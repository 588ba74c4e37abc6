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
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from coverage.numbits import numbits_to_nums

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "cairn"
FOLDERS = ("search", "index", "graph", "structure", "storage", "daemon")
MAX_TESTS = 60  # of a line that nearly every test runs: the nearest by name, then others at random
TIMEOUT_SECONDS = 240
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
    """Run all tests, and keep which of them ran which line."""
    command = [sys.executable, "-m", "pytest", "-q", "--cov", "--cov-branch", "--cov-context=test", "--cov-report="]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"COVERAGE_FILE": str(data)}, check=False)


class Runs:
    """Which test ran which line.

    Args:
        data: as coverage wrote it, with the tests as contexts.
    """

    def __init__(self, data: Path) -> None:
        self._lines: dict[str, dict[int, list[str]]] = {}
        self._data = data

    def tests_of(self, mutant: Mutant, dice: random.Random) -> list[str]:
        """Return tests that run a mutant's line, those of its module first."""
        name = mutant.file.relative_to(SOURCES).as_posix()
        if name not in self._lines:
            self._lines[name] = self._read(name)
        lines = self._lines[name]
        # What runs when a module is imported runs in no test, but may matter to all that use the module.
        tests = sorted(lines.get(mutant.line) or {test for found in lines.values() for test in found})
        dice.shuffle(tests)
        words = {mutant.file.stem, mutant.file.parent.name}
        tests.sort(key=lambda test: -len(words & set(test.replace("test_", "").replace(".", "/").split("/"))))
        return tests[:MAX_TESTS]

    def _read(self, name: str) -> dict[int, list[str]]:
        lines: dict[int, list[str]] = {}
        with closing(sqlite3.connect(self._data)) as connection:
            arcs = connection.execute(
                "SELECT context, fromno, tono FROM arc JOIN context ON context.id = context_id"
                " JOIN file ON file.id = file_id WHERE path LIKE ? AND context LIKE '%|run'",
                (f"%/cairn/{name}",),
            )
            for context, source, target in arcs:
                for line in {abs(source), abs(target)}:
                    lines.setdefault(line, []).append(context.removesuffix("|run"))
            bits = connection.execute(
                "SELECT context, numbits FROM line_bits JOIN context ON context.id = context_id"
                " JOIN file ON file.id = file_id WHERE path LIKE ? AND context LIKE '%|run'",
                (f"%/cairn/{name}",),
            )
            for context, numbits in bits:
                for line in numbits_to_nums(numbits):
                    lines.setdefault(line, []).append(context.removesuffix("|run"))
        return {line: sorted(set(tests)) for line, tests in lines.items()}


# -- running them ------------------------------------------------------------------------------------------------------


def is_killed(mutant: Mutant, tests: list[str], copy: Path) -> bool:
    """Tell whether a test fails once the change is made in a copy of the checkout."""
    target = copy / mutant.file.relative_to(ROOT)
    data = target.read_bytes()
    target.write_bytes(data[: mutant.start] + mutant.after.encode() + data[mutant.end :])
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-cov", *tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, timeout=TIMEOUT_SECONDS, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_bytes(data)
    return done.returncode != 0


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
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--data", type=Path, help="of coverage, with the tests as contexts")
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    survivors: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or Path(scratch) / "coverage"
        if arguments.data is None:
            measure(data)
        runs = Runs(data)
        copy = Path(scratch) / "copy"
        for part in ("src", "tests", "bench", "training", "docs"):
            shutil.copytree(ROOT / part, copy / part)
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, copy / name)
        chosen = choose(arguments.mutants, arguments.only, dice)
        for number, mutant in enumerate(chosen, 1):
            tests = runs.tests_of(mutant, dice)
            if not tests or not is_killed(mutant, tests, copy):
                survivors.append(f"{mutant}{'' if tests else '  (no test runs it)'}")
                print(f"{number:4} survived  {survivors[-1]}", flush=True)
    killed = len(chosen) - len(survivors)
    print(json.dumps({"mutants": len(chosen), "killed": killed, "share": round(killed / max(1, len(chosen)), 3)}))


if __name__ == "__main__":
    main()
