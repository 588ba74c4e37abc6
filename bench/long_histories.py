#!/usr/bin/env python3
"""Read histories that are very long, damaged, cut or odd; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from cairn.workspace import Workspace

_WORDS = ("retry", "upload", "parse", "empty", "document", "cache", "route", "token", "index", "branch", "watch")
_SETTINGS = ("user.name=A", "user.email=a@example.org", "init.defaultBranch=main", "uploadpack.allowFilter=true")
_OCTOPUS_PARENTS = 12
_DEPTH = 50


def git(folder: Path, *arguments: str) -> str:
    """Run git, and return what it printed."""
    options = [part for setting in _SETTINGS for part in ("-c", setting)]
    done = subprocess.run(["git", *options, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write_commits(root: Path, n_commits: int, n_parents: int = 1) -> None:
    """Make a repository with so many commits, each tenth of which changes a file.

    Args:
        n_parents: from two on, each 20th commit is a merge of so many.
    """
    root.mkdir()
    git(root, "init", "-q")
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE) as importer:
        assert importer.stdin is not None
        for number in range(n_commits):
            _write_commit(importer.stdin, number, n_parents if number % 20 == 19 else 1)
    git(root, "reset", "-q", "--hard")


def _write_commit(stream: IO[bytes], number: int, n_parents: int) -> None:
    count = len(_WORDS)
    message = f"{_WORDS[number % count].title()} the {_WORDS[number * 7 % count]} of part {number % 997}\n".encode()
    lines = [
        b"commit refs/heads/main",
        b"mark :%d" % (number + 1),
        b"committer A <a@example.org> %d +0000" % (1_000_000_000 + number * 60),
        b"data %d\n%s" % (len(message), message),
    ]
    if number:
        lines.append(b"from :%d" % number)
    lines += [b"merge :%d" % (number - other) for other in range(1, min(n_parents, number))]
    if number % 10 == 0:
        content = b"line = %d\n" % number
        lines.append(b"M 100644 inline f%d.py\ndata %d\n%s" % (number % 97, len(content), content))
    stream.write(b"\n".join([*lines, b"\n"]))


def _long(base: Path, n_commits: int) -> Path:
    write_commits(base / "long", n_commits)
    return base / "long"


def _octopus(base: Path, n_commits: int) -> Path:
    write_commits(base / "octopus", min(n_commits, 20_000), _OCTOPUS_PARENTS)
    return base / "octopus"


def _short(base: Path, name: str, n_commits: int) -> Path:
    write_commits(base / name, min(n_commits, 5_000))
    return base / name


def _grafted(base: Path, n_commits: int) -> Path:
    """The root of the history gets the tip's parent for its own parent: a circle."""
    root = _short(base, "grafted", n_commits)
    (root / ".git" / "info").mkdir(exist_ok=True)
    first = git(root, "rev-list", "--max-parents=0", "HEAD")
    (root / ".git" / "info" / "grafts").write_text(f"{first} {git(root, 'rev-parse', 'HEAD~1')}\n")
    return root


def _replaced(base: Path, n_commits: int) -> Path:
    """The 100th commit from the tip is replaced by the first one."""
    root = _short(base, "replaced", n_commits)
    git(root, "replace", "HEAD~100", git(root, "rev-list", "--max-parents=0", "HEAD"))
    return root


def _corrupt(base: Path, n_commits: int) -> Path:
    """Objects in the middle are gone, and one is nonsense."""
    root = _short(base, "corrupt", n_commits)
    lost = [git(root, "rev-parse", f"HEAD~{back}") for back in (300, 301, 302)]
    pack = next((root / ".git" / "objects" / "pack").glob("*.pack"))
    moved = base / "moved.pack"
    shutil.move(pack, moved)
    pack.with_suffix(".idx").unlink()
    with moved.open("rb") as content:
        subprocess.run(["git", "unpack-objects", "-q"], cwd=root, stdin=content, check=True)
    for name in lost:
        (root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    tree = root / ".git" / "objects" / git(root, "rev-parse", "HEAD~50^{tree}")[:2]
    for file in sorted(tree.iterdir())[:1]:
        file.chmod(0o600)
        file.write_bytes(b"nonsense")
    return root


def _rewritten(base: Path, n_commits: int) -> Path:
    """All of a history that was read already gets new hashes."""
    root = _short(base, "rewritten", n_commits)
    with Workspace.open(root) as workspace:
        workspace.index()
    (root / ".git" / "logs").mkdir(exist_ok=True)
    moved = base / "rewritten-again"
    write_commits(moved, min(n_commits, 5_000) - 1)
    git(root, "fetch", "-q", str(moved), "main")
    git(root, "reset", "-q", "--hard", "FETCH_HEAD")
    return root


def _shallow(base: Path, n_commits: int) -> Path:
    origin = _short(base, "shallow-origin", n_commits)
    git(base, "clone", "-q", f"--depth={_DEPTH}", origin.as_uri(), "shallow")
    return base / "shallow"


def _partial(base: Path, n_commits: int) -> Path:
    """A clone without contents and folders, whose origin is gone."""
    origin = _short(base, "partial-origin", n_commits)
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(base, "clone", "-q", "--filter=tree:0", origin.as_uri(), "partial")
    shutil.rmtree(origin)
    return base / "partial"


CASES: dict[str, Callable[[Path, int], Path]] = {
    "long": _long, "octopus": _octopus, "grafted": _grafted, "replaced": _replaced, "corrupt": _corrupt,
    "rewritten": _rewritten, "shallow": _shallow, "partial": _partial,
}  # fmt: skip


def measure(root: Path) -> dict[str, object]:
    """Index a folder, read its history, ask it, and return what that took and what was said."""
    with Workspace.open(root) as workspace:
        started = time.perf_counter()
        workspace.index()
        run = time.perf_counter() - started
        longest, extent = 0.0, workspace.history.update(2.0)
        while extent is not None and extent.read < extent.listed:
            started = time.perf_counter()
            n_read, extent = extent.read, workspace.history.update(2.0)
            longest = max(longest, time.perf_counter() - started)
            if extent is None or extent.read == n_read:
                break
        started = time.perf_counter()
        solved = workspace.history.solve("retry the upload")
        asked = time.perf_counter() - started
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "run_s": round(run, 2),
        "longest_part_s": round(longest, 2),
        "question_s": round(asked, 2),
        "cpu_s": round(sum(one.ru_utime + one.ru_stime for one in usage), 2),
        "peak_mb": [one.ru_maxrss // 1024 for one in usage],
        "commits": [solved.read, solved.listed],
        "found": len(solved.commits),
        "notes": list(solved.notes),
    }


def main() -> int:
    """Measure each case in a process of its own, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=1_000_000, help="of the long history")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--measure", type=Path, metavar="FOLDER", help="measure this repository alone")
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments.measure)))
        return 0
    for name in arguments.only:
        with tempfile.TemporaryDirectory() as base:
            root = CASES[name](Path(base), arguments.commits)
            done = subprocess.run([sys.executable, __file__, "--measure", str(root)], capture_output=True, text=True)
            print(f"{name:<10} {done.stdout.strip() or done.stderr[-2000:]}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
