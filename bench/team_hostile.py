#!/usr/bin/env python3
"""Has a team's worker publish repositories that were planted to harm, and reports what escaped it.

    python bench/team_hostile.py [--only TEXT] [--mb 700] [--no-trace]

Each plant of `hostile_repositories.py` is a project, beside an ordinary one. First its branch is at the plant's own
commit, hostile objects and all; then at one of whatever lies in its folder, which replaces the first. After each of
the two, a worker looks at all of them, under strace where there is one, and a node is asked about each. It counts as a
failure when

- the worker ends otherwise than in order, or takes more than `--mb`;
- a project is neither published nor has a problem that says why, or the ordinary one is not published;
- a program ran that is neither Python nor git, or the planted one left its mark;
- a file outside the worker's folder and the store was written, made, renamed or deleted;
- a connection was opened to anything but the database;
- an answer of the node shows a file outside, or is an error of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import httpx

from cairn.team.catalog import Catalog
from cairn.team.operator import Operator
from hostile import OUTSIDE_TEXTS, Ground, index_as_user, make_index, read_trace, strace
from hostile_repositories import all_plants
from plants import SECRETS, Plant, git, make_checkout
from postgres import find_programs, postgres
from team_installation import Installation

_PERSON = "ada"
_MAX_SERVED_BYTES = 100_000_000  # of a file; what serves repositories to others takes no larger ones
_ORDINARY = "plants/ordinary"
_QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "how are settings read"}),
    ("search", {"query": r"def \w+", "mode": "regex"}),
    ("outline", {"file": "src/session.py"}),
    ("fetch", {"ids": ["src/session.py#load_settings"]}),
    ("fetch", {"ids": ["../victims/authorized_keys#1"]}),
    ("graph/callers", {"symbol": "load_settings"}),
    ("context", {"task": "open a session"}),
    ("history", {"query": "keep more"}),
)


def make_sources(plants: Sequence[Plant], folder: Path) -> dict[str, tuple[Ground, Path]]:
    """Lay out the plants, each with an empty repository that serves it; return both by project."""
    index = make_index(folder)
    sources = {}
    for number, plant in enumerate(plants):
        ground = Ground.make(folder / f"p{number:03}", index)
        try:
            if plant.later is not None:
                index_as_user(ground)
            plant.make(ground.root, ground.outside)
            if plant.later is not None:
                plant.later(ground.root, ground.outside)
        except (OSError, subprocess.SubprocessError, sqlite3.Error) as error:
            print(f"{plant.name} could not be made: {error!r}")
            continue
        (ground.folder / "ran").unlink(missing_ok=True)  # making the plant may have run it
        served = folder / "served" / f"{number:03}.git"
        git(folder, "init", "-q", "--bare", str(served))
        sources[f"plants/{number:03}"] = ground, served
    return sources


def serve_commit(ground: Ground, served: Path) -> bool:
    """Have the repository serve the plant's own commit, if it has any; return whether it does."""
    objects = ground.root / ".git" / "objects"
    if not objects.is_dir() or objects.is_symlink():
        return False
    left_out = shutil.ignore_patterns("info")  # which other objects to take is the business of whoever serves them
    shutil.copytree(objects, served / "objects", symlinks=True, ignore=left_out, dirs_exist_ok=True)
    try:
        head = _read(ground.root, "rev-parse", "--verify", "HEAD^{commit}")
        git(served, "update-ref", "refs/heads/main", head)
    except subprocess.CalledProcessError:
        return False
    return True


def serve_files(ground: Ground, served: Path) -> bool:
    """Have it serve a commit of whatever lies in the plant's folder; return whether there is one."""
    _remove_what_git_cannot_hold(ground.root)
    there = ("--git-dir", str(served), "--work-tree", str(ground.root), "-c", "core.bare=false")
    try:
        git(ground.root, *there, "add", "--all", "--force", "--ignore-errors", ".")
    except subprocess.CalledProcessError as error:
        print(f"some of {ground.folder.name} cannot be committed: {error.stderr[-200:].decode(errors='replace')}")
    try:
        tree = _read(served, "write-tree")
        git(served, "update-ref", "refs/heads/main", _read(served, "commit-tree", "-m", "Plant", tree))
    except subprocess.CalledProcessError as error:
        print(f"{ground.folder.name} cannot be committed: {error.stderr[-200:].decode(errors='replace')}")
        return False
    return True


def _remove_what_git_cannot_hold(root: Path) -> None:
    """Remove pipes, sockets and devices, for which git would wait, and files that no server takes."""
    for folder, _, names in os.walk(root):
        for name in names:
            status = os.lstat(place := os.path.join(folder, name))
            is_plain = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_SERVED_BYTES
            if not is_plain and not stat.S_ISLNK(status.st_mode):
                os.unlink(place)


def _read(folder: Path, *arguments: str) -> str:
    """Return what git says in a folder."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


class Trial:
    """A team whose projects are plants.

    Attributes:
        wrong: what went wrong so far.
    """

    def __init__(self, address: str, folder: Path, sources: dict[str, tuple[Ground, Path]], mb: float) -> None:
        variables = {name: f"secret-{name}" for name in SECRETS} | {"PYTHONDONTWRITEBYTECODE": "1"}
        self._installation = Installation(address, folder / "team", variables=variables)
        self._installation.folder.mkdir()
        self._sources = sources
        self._mb = mb
        self._trace = folder / "trace"
        self.wrong: list[str] = []
        self._installation.run("migrate")
        self._token = self._installation.token(_PERSON)
        make_checkout(folder / "ordinary")
        served = {_ORDINARY: folder / "ordinary", **{name: served for name, (_, served) in sources.items()}}
        with closing(Catalog(address)) as catalog:
            operator = Operator(catalog)
            for project, repository in served.items():
                operator.add_project(project, f"file://{repository}", "main")
                operator.grant(_PERSON, project)

    def work(self, traced: bool) -> None:
        """Have a worker look at all projects once."""
        words = self._installation.command("worker", "--folder", str(self._installation.folder / "worker"), "--once")
        before = {name: ground.fingerprint() for name, (ground, _) in self._sources.items()}
        process = subprocess.Popen(
            [*(strace(self._trace) if traced else ()), *words],
            env=self._installation.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self._installation.folder / "worker.log").open("ab"),
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            self.wrong.append(f"the worker ended with {process.returncode}")
        if usage.ru_maxrss / 1024 > self._mb:
            self.wrong.append(f"the worker took {usage.ru_maxrss / 1024:.0f} MB")
        seconds = usage.ru_utime + usage.ru_stime
        print(f"the worker took {seconds:.0f} s of processor time, {usage.ru_maxrss / 1024:.0f} MB", flush=True)
        for name, (ground, _) in self._sources.items():
            if ground.fingerprint() != before[name]:
                self.wrong.append(f"{name}: its files, or what lies beside them, changed")
            if (ground.folder / "ran").exists():
                self.wrong.append(f"{name}: the planted program ran")
            self.wrong += [f"{name}: a server was asked: {heard[:150]}" for heard in ground.listener.heard]

    def judge_trace(self, planted: Path) -> None:
        """Take what a trace shows into what went wrong."""
        own = [self._installation.folder / name for name in ("worker", "bucket", ".cache", ".local", ".config")]
        lines = self._trace.read_text(errors="replace").splitlines()
        # Git has a shell start what serves a repository of the same machine; elsewhere that is the other side's.
        self.wrong += read_trace(lines, own, planted, harmless_shell='"git-upload-pack ')
        self._trace.unlink()

    def ask(self) -> int:
        """Ask a node about each project that is published, and return their number."""
        rows = json.loads(self._installation.run("status", "--json"))["branches"]
        published = [row["project"] for row in rows if row["published"]]
        self.wrong += [
            f"{row['project']}: neither published nor said why"
            for row in rows
            if not (row["published"] or row["problem"] or row["look_problem"])
        ]
        if _ORDINARY not in published:
            self.wrong.append("the ordinary project is not published")
        with self._installation.serving() as address:
            for project in published:
                self.wrong += [f"{project}: {line}" for line in self._complaints(address, project)]
        return len(published)

    def _complaints(self, address: str, project: str) -> Iterator[str]:
        headers = {"authorization": f"Bearer {self._token}"}
        for operation, values in _QUESTIONS:
            # Each on a connection of its own: a refusal may end one.
            path = f"/api/projects/{project}/{operation}"
            answer = httpx.post(f"{address}{path}", json=values, headers=headers, timeout=60)
            if answer.is_server_error:
                yield f"{operation}: {answer.status_code} {answer.text[:200]}"
            if any(secret in answer.text for secret in OUTSIDE_TEXTS):
                yield f"{operation} shows a file outside: {answer.text[:200]}"


def main() -> int:
    """Try all plants and print what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="plants whose name matches this pattern")
    parser.add_argument("--mb", type=float, default=700.0)
    parser.add_argument("--no-trace", action="store_true", help="do without strace")
    options = parser.parse_args()
    plants = [plant for plant in all_plants() if re.search(options.only, plant.name)]
    traced = not options.no_trace and shutil.which("strace") is not None
    if (programs := find_programs()) is None:
        raise SystemExit("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, postgres(programs) as server:
        folder = Path(scratch)
        sources = make_sources(plants, folder)
        names = dict(zip(sources, (plant.name for plant in plants), strict=False))
        trial = Trial(server.address, folder, sources, options.mb)
        for serve in (serve_commit, serve_files):
            n_served = sum(serve(*source) for source in sources.values())
            trial.work(traced)
            if traced:
                trial.judge_trace(folder)
            print(f"{n_served} served by {serve.__name__}; {trial.ask()} are published")
        for line in trial.wrong:
            print(re.sub(r"plants/\d+", lambda match: f"{match[0]} ({names.get(match[0])})", line))
        subprocess.run(["rm", "-rf", scratch], check=False)  # deeper than Python's own can delete
    print(f"{len(sources)} repositories: {len(trial.wrong)} failures; traced: {traced}")
    return int(bool(trial.wrong))


if __name__ == "__main__":
    sys.exit(main())
