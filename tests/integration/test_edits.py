"""An index that follows reported edits, file by file, is the one that comparing all files makes."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cairn.index.news import ChangeStream
from cairn.index.watch import Update, Watcher
from cairn.source.git import find_repository
from cairn.workspace import Workspace
from commands_run import note_commands
from histories import History, contents

Step = Callable[[], object]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What this process runs."""
    run: list[list[str]] = []
    note_commands(monkeypatch, run.append)
    return run


class StillClock:
    """Clocks that move when news are waited for."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def wall(self) -> float:
        return self.now

    def steady(self) -> float:
        return self.now


class Disk(ChangeStream):
    """News of a disk: each look does one step and tells what that changed, as the system would."""

    def __init__(self, root: Path, steps: Sequence[Step], clock: StillClock) -> None:
        self._root = root
        self._steps = list(steps)
        self._clock = clock
        self._known = self._stamps()

    def __call__(self, folders: Collection[str], stop: threading.Event) -> Disk:
        return self

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        if not self._steps:
            return None
        self._clock.now += 3
        self._steps.pop(0)()
        before, self._known = self._known, self._stamps()
        either = before.keys() | self._known.keys()
        return frozenset(path for path in either if before.get(path) != self._known.get(path))

    def close(self) -> None:
        """Nothing is open."""

    def _stamps(self) -> dict[str, object]:
        """Return what tells that a file changed, of a folder only that it is there."""
        found: dict[str, object] = {}
        for folder, names, files in os.walk(self._root):
            names[:] = [name for name in names if name != ".cairn"]
            found.update((os.path.join(folder, name), None) for name in names)
            for name in files:
                status = os.lstat(path := os.path.join(folder, name))
                found[path] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return found


def follow(workspace: Workspace, root: Path, steps: Sequence[Step]) -> Iterator[Update]:
    clock = StillClock()
    watcher = Watcher(root, find_repository(root), open_stream=Disk(root, steps, clock), clock=clock)
    return workspace.upkeep.watch(watcher)


def entries(workspace: Workspace) -> list[tuple[Any, ...]]:
    """Return all files of the only view as they are known, but for whether they were changed just before."""
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        query = "SELECT path, size, mtime_ns, ctime_ns, reason, blob_id IS NULL FROM file ORDER BY path"
        return connection.execute(query).fetchall()


def check_same(workspace: Workspace, root: Path, state: Path, update: Update) -> None:
    """Compare with an index that is built at once."""
    assert update.report is not None
    with Workspace.open(root, state_dir=state) as fresh:
        whole = fresh.index()
        assert entries(workspace) == entries(fresh)
        assert contents(workspace, str(root)) == contents(fresh, str(root))
        shown = [(hit.path, hit.start_line) for hit in workspace.search("load_1 total", limit=500).code]
        assert sorted(shown) == sorted(
            (hit.path, hit.start_line) for hit in fresh.search("load_1 total", limit=500).code
        )
    ours = update.report
    assert (ours.files, ours.chunks, ours.languages) == (whole.files, whole.chunks, whole.languages)
    assert ours.skipped == whole.skipped
    assert ours.unchanged + ours.changed + ours.added + ours.renamed == whole.files


EDITS = ("edit", "edit", "edit", "add", "rename", "delete", "copy", "touch")
STEPS = (*EDITS, *EDITS, "commit", "branch", "switch", "stash", "unstash", "restore", "ignore", "exclude")


class EditedHistory(History):
    """As `History`, with rules about what counts."""

    def _ignore(self) -> None:
        rules = self._dice.choice(("lib/inner/\n", "new_*\n", "*.md\n!copy_*\n"))
        (self.root / self._dice.choice(("", "lib")) / ".gitignore").write_text(rules)

    def _exclude(self) -> None:
        (self.root / ".cairnignore").write_text(self._dice.choice(("tests/\n", "*.js\n", "moved_*\n")))


@pytest.mark.parametrize("seed", range(2))
def test_edits_followed_file_by_file_leave_what_a_new_index_holds(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    root = tmp_path / "root"
    root.mkdir()
    history = EditedHistory(root, dice)
    chosen = dice.choices(STEPS, k=12) + list(EDITS)
    with Workspace.open(root) as workspace:
        exact = 0
        steps = [partial(history.apply, one) for one in chosen]
        for number, update in enumerate(follow(workspace, root, steps)):
            exact += update.batch.is_exact
            if number % 6 == 5:
                check_same(workspace, root, tmp_path / f"fresh-{number}", update)
        check_same(workspace, root, tmp_path / "fresh", update)
    assert exact >= 5


def test_an_edit_has_git_asked_about_nothing_but_the_file(checkout: Path, commands: list[list[str]]) -> None:
    for number in range(20):
        (checkout / f"file_{number}.py").write_text(f"def load_{number}():\n    return {number}\n")
    asked = []

    def edit() -> None:
        (checkout / "file_3.py").write_text("def changed():\n    return 3\n")
        commands.clear()

    with Workspace.open(checkout) as workspace:
        for update in follow(workspace, checkout, [edit]):
            assert update.report is not None
            asked = [one for one in commands if "ls-files" in one]
            report = update.report
        assert [hit.path for hit in workspace.search("changed", limit=1).code] == ["file_3.py"]
    assert (report.changed, report.unchanged, report.files) == (1, 19, 20)
    assert len(asked) == 1
    assert ":(literal)file_3.py" in asked[0]


def test_what_another_process_wrote_meanwhile_has_all_files_compared(checkout: Path) -> None:
    for name in ("a", "b"):
        (checkout / f"{name}.py").write_text(f"def load_{name}():\n    return 1\n")

    def edit() -> None:
        (checkout / "a.py").write_text("def first():\n    return 1\n")
        command = [sys.executable, "-m", "cairn", "index", str(checkout), "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with closing(sqlite3.connect(workspace.state.database)) as connection:  # as if it had missed a file
            connection.execute(
                "DELETE FROM entry WHERE path_id = (SELECT id FROM path WHERE path = CAST('b.py' AS BLOB))"
            )
            connection.commit()

    with Workspace.open(checkout) as workspace:
        *_, update = follow(workspace, checkout, [edit])
    assert update.batch.is_exact
    assert update.report is not None
    assert update.report.files == 2
