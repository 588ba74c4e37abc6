"""Random histories of a git repository: edits, renames, deletions, branches, stashes and rebases, with real git."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cairn.workspace import Workspace

STEPS = (
    "edit", "edit", "add", "rename", "delete", "restore", "commit", "commit", "branch", "switch", "switch", "stash",
    "unstash", "rebase", "detach", "touch", "copy",
)  # fmt: skip
QUERIES = ("where is the total kept", "load_3", '"return total"', "how are parts of alpha joined", r"part_\d+\(")
MANY = 500  # hits: all that these small repositories have
_WORDS = ("alpha", "beta", "gamma", "delta", "store", "router", "parser", "cache")
_SETTINGS = ("user.name=A", "user.email=a@example.org", "init.defaultBranch=main", "advice.detachedHead=false")
_QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_EDITOR": "true"}


class History:
    """A repository and the dice that change it.

    Args:
        root: an empty folder.
        dice: decides what a step does.
    """

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root = root
        self._dice = dice
        self._branches = ["main"]
        self._git("init", "-q")
        for number in range(6):
            self._write(f"{self._folder()}file_{number}.py")
        self._git("add", "-A")
        self._git("commit", "-qm", "first")

    def apply(self, step: str) -> None:
        """Do one of `STEPS`; what git refuses, such as a switch over local changes, is left undone."""
        getattr(self, f"_{step}")()

    @property
    def branches(self) -> list[str]:
        """The branches there are."""
        return list(self._branches)

    def _git(self, *arguments: str) -> bool:
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        environment = {**os.environ, **_QUIET}
        done = subprocess.run(["git", *options, *arguments], cwd=self.root, env=environment, capture_output=True)
        return done.returncode == 0

    def _folder(self) -> str:
        return self._dice.choice(("", "lib/", "lib/inner/", "tests/"))

    def _files(self) -> list[str]:
        found = (file.relative_to(self.root) for file in sorted(self.root.rglob("*.*")) if file.is_file())
        return [str(file) for file in found if file.parts[0] not in (".git", ".cairn")]

    def _pick(self) -> Path | None:
        files = self._files()
        return self.root / self._dice.choice(files) if files else None

    def _text(self) -> str:
        word, parts = self._dice.choice(_WORDS), []
        for number in range(self._dice.randint(1, 4)):
            steps = "\n".join(f"    total += part_{part}(total)" for part in range(self._dice.randint(1, 6)))
            parts.append(f'def load_{number}(total):\n    """Join parts of {word}."""\n{steps}\n    return total\n')
        return "\n\n".join(parts)

    def _write(self, path: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(self._text())

    def _edit(self) -> None:
        if (file := self._pick()) is not None:
            lines = file.read_text().split("\n")
            lines.insert(self._dice.randrange(len(lines)), f"# {self._dice.choice(_WORDS)} {self._dice.random()}")
            file.write_text("\n".join(lines))

    def _add(self) -> None:
        ending = self._dice.choice(("py", "js", "md"))
        self._write(f"{self._folder()}new_{self._dice.randrange(1000)}.{ending}")

    def _copy(self) -> None:
        if (file := self._pick()) is not None:
            target = self.root / f"{self._folder()}copy_{self._dice.randrange(1000)}{file.suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())

    def _rename(self) -> None:
        if (file := self._pick()) is not None:
            target = self.root / f"{self._folder()}moved_{self._dice.randrange(1000)}{file.suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)

    def _delete(self) -> None:
        if (file := self._pick()) is not None:
            file.unlink()

    def _touch(self) -> None:
        if (file := self._pick()) is not None:
            file.touch()

    def _restore(self) -> None:
        self._git("checkout", "-q", "--", ".")

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-qm", "more")

    def _branch(self) -> None:
        name = f"branch-{len(self._branches)}"
        if self._git("switch", "-qc", name):
            self._branches.append(name)

    def _switch(self) -> None:
        self._git("switch", "-q", self._dice.choice(self._branches))

    def _detach(self) -> None:
        self._git("switch", "-q", "--detach", "HEAD~1")

    def _stash(self) -> None:
        self._git("stash", "-qu")

    def _unstash(self) -> None:
        if not self._git("stash", "pop", "-q"):
            self._git("checkout", "-q", "--", ".")

    def _rebase(self) -> None:
        if not self._git("rebase", "-q", self._dice.choice(self._branches)):
            self._git("rebase", "--abort")


Content = tuple[str, str, list[tuple[Any, ...]], list[tuple[Any, ...]]]  # path, language, chunks, symbols


def contents(workspace: Workspace, view: str) -> list[Content]:
    """Return all the index holds of each path of a view, without the ids that depend on history."""
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        files = connection.execute(
            """SELECT path, blob_id, language FROM file JOIN blob ON blob.id = file.blob_id
               WHERE view_id = (SELECT id FROM view WHERE name = ?) ORDER BY path""",
            (view,),
        ).fetchall()
        result: list[Content] = []
        for path, blob, language in files:
            bounds = (blob << 20, (blob + 1) << 20)
            chunks = connection.execute(
                "SELECT id & 1048575, * FROM chunk WHERE id >= ? AND id < ? ORDER BY id", bounds
            ).fetchall()
            symbols = connection.execute(
                "SELECT id & 1048575, * FROM definition WHERE id >= ? AND id < ? ORDER BY id", bounds
            ).fetchall()
            first = [(row[0], *row[2:]) for row in chunks]
            second = [(row[0], row[2] & 1048575, *row[3:]) for row in symbols]
            result.append((os.fsdecode(path), language, first, second))
    return result


def answers(
    workspace: Workspace, queries: Sequence[str], branch: str | None = None
) -> list[list[tuple[str | int, ...]]]:
    """Return what is found for some queries, by place: the order of equal scores depends on an index's history."""
    found: list[list[tuple[str | int, ...]]] = []
    for query in queries:
        hits = workspace.search(query, limit=MANY, branch=branch).code
        found.append(sorted((hit.path, hit.start_line, hit.end_line, hit.id, hit.name, hit.preview) for hit in hits))
    return found


def differences(base: Path, dice: random.Random, steps: Iterable[str]) -> list[str]:
    """Play a history, indexing now and then, and return in what the index differs from one that is built at once.

    Args:
        base: an empty folder.
        dice: decide what the steps do, when to index, and which branch to index unchecked out.
        steps: of `STEPS`.
    """
    root = base / "root"
    root.mkdir()
    history = History(root, dice)
    found = []
    with Workspace.open(root) as ours:
        ours.index()
        for step in steps:
            history.apply(step)
            if dice.random() < 0.6:
                ours.index()
            if dice.random() < 0.2:
                ours.index(branch=dice.choice(history.branches))
        ours.index()
        with Workspace.open(root, state_dir=base / "fresh") as fresh:
            fresh.index()
            if contents(ours, str(root)) != contents(fresh, str(root)):
                found.append("chunks or symbols of the checkout")
            if answers(ours, QUERIES) != answers(fresh, QUERIES):
                found.append("answers about the checkout")
        branch = dice.choice(history.branches)
        clone = base / "clone"
        subprocess.run(["git", "clone", "-q", "--branch", branch, str(root), str(clone)], check=True)
        ours.index(branch=branch)
        with Workspace.open(clone) as fresh:
            fresh.index()
            if contents(ours, f"refs/heads/{branch}") != contents(fresh, str(clone)):
                found.append(f"chunks or symbols of {branch}")
            if answers(ours, QUERIES, branch) != answers(fresh, QUERIES):
                found.append(f"answers about {branch}")
    return found
