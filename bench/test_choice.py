"""Chooses tests for past commits of a repository, and compares with the test files that those commits touched.

    python bench/test_choice.py CLONE [--commits 30] [--before REV] [--verbose]

CLONE is checked out at each commit in turn, its test files as they were before it, so that the choice sees the change
of the code alone. Commits count that change code and also test files that were there before. Recall is the share of
these files among the first quarter of the suite, averaged over the commits.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cairn.graph.changes import change_since
from cairn.graph.selection import rank_tests
from cairn.source.git import find_repository
from cairn.source.roles import Role, role_of
from cairn.workspace import Workspace

CODE = (".py", ".ts", ".tsx", ".js", ".jsx", ".go", ".java", ".rs", ".cs", ".rb", ".php", ".kt")
MAX_CODE_FILES = 15  # a commit of more is a sweep over the repository


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def candidates(folder: Path, start: str) -> list[tuple[str, list[str], list[str]]]:
    """Return (commit, code files changed, test files modified) of commits that suit, newest first."""
    log = git(folder, "log", "--no-merges", "--name-status", "--no-renames", "--format=commit %H", "-n", "3000", start)
    found = []
    for block in log.split("commit ")[1:]:
        revision, *rows = [line for line in block.splitlines() if line]
        files = [(row.split("\t")[0], row.split("\t")[-1]) for row in rows]
        code = [
            path
            for status, path in files
            if path.endswith(CODE) and not role_of(path, "") & (Role.TEST | Role.EXAMPLE | Role.DOCS)
        ]
        tests = [
            path for status, path in files if status == "M" and path.endswith(CODE) and role_of(path, "") & Role.TEST
        ]
        if code and tests and len(code) <= MAX_CODE_FILES:
            found.append((revision, code, tests))
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("clone", type=Path)
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--before", default="HEAD", help="the newest commit to look at")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    clone: Path = options.clone.resolve()
    recalls: list[float] = []
    with tempfile.TemporaryDirectory() as state, Workspace.open(clone, state_dir=state) as workspace:
        for revision, _, touched in candidates(clone, options.before):
            if len(recalls) == options.commits:
                break
            git(clone, "checkout", "--quiet", "--force", revision)
            git(clone, "checkout", "--quiet", f"{revision}^", "--", *touched)
            workspace.index()
            graph = workspace.graph.current()
            code = graph.code
            started = time.perf_counter()
            changed = [
                node for node in change_since(graph, clone, find_repository(clone), f"{revision}^").nodes
                if not code.tests[node >> 20]
            ]  # fmt: skip
            ranked, _ = rank_tests(graph, changed, graph.feelers.reach(changed), graph.network.importers)
            suite = {code.paths[number] for number in graph.tests.numbers}
            wanted = {path for path in touched if path in suite}
            if not wanted or not changed:
                continue
            quarter = math.ceil(len(suite) / 4)
            chosen = [file.path for file in ranked[:quarter]]
            recalls.append(len(wanted & set(chosen)) / len(wanted))
            places = [place for place, file in enumerate(ranked, 1) if file.path in wanted]
            if options.verbose:
                missed = ", ".join(sorted(wanted - set(chosen)))
                print(
                    f"{revision[:9]} recall {recalls[-1]:.2f} of {len(wanted)}, {quarter} of {len(suite)} files, "
                    f"{time.perf_counter() - started:.2f} s, places {places} missed {missed}", flush=True
                )  # fmt: skip
    print(f"{clone.name}: {len(recalls)} commits, recall at a quarter of the suite {sum(recalls) / len(recalls):.3f}")
    print(f"every touched test found: {sum(recall == 1 for recall in recalls)} commits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
