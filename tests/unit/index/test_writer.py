from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.index.state_dir import StateDir
from cairn.index.views import CheckoutView
from cairn.index.writer import Writer
from cairn.source.walk import MAX_FILE_BYTES, Walk
from cairn.storage.index import view_db


class HeldUpView(CheckoutView):
    """A checkout in which something happens between the first listing of its files and the use of that list."""

    def __init__(self, root: Path, happens: Callable[[], object]) -> None:
        super().__init__(root, None, MAX_FILE_BYTES)
        self._happens: list[Callable[[], object]] = [happens]
        self.n_walks = 0

    def walk(self) -> Walk:
        found = super().walk()
        self.n_walks += 1
        if self._happens:
            self._happens.pop()()
        return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def alpha():\n    return 1\n")
    return root


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "state")


def writer(root: Path, state: StateDir) -> Writer:
    return Writer(root, state, Settings())


def checkout(root: Path) -> CheckoutView:
    return CheckoutView(root, None, MAX_FILE_BYTES)


def indexed_paths(root: Path, state: StateDir) -> list[str]:
    with closing(state.open_for_reading()) as connection:
        view = view_db.find_view(connection, checkout(root).name)
        assert view is not None
        return [path for path, _, _ in view_db.files_in_view(connection, view.id)]


@pytest.mark.parametrize(("full", "verify"), [(False, False), (False, True), (True, False)])
def test_a_file_that_another_run_took_in_meanwhile_stays(root: Path, state: StateDir, full: bool, verify: bool) -> None:
    writer(root, state).update(checkout(root))

    def other_run() -> None:
        (root / "b.py").write_text("def beta():\n    return 2\n")
        writer(root, state).update(checkout(root))

    report = writer(root, state).update(HeldUpView(root, other_run), full=full, verify=verify)
    assert indexed_paths(root, state) == ["a.py", "b.py"]
    assert (report.files, report.removed) == (2, 0)


def test_a_file_that_another_run_dropped_meanwhile_is_not_taken_in_again(root: Path, state: StateDir) -> None:
    (root / "b.py").write_text("def beta():\n    return 2\n")

    def other_run() -> None:
        (root / ".cairnignore").write_text("b.py\n")
        writer(root, state).update(checkout(root))

    writer(root, state).update(HeldUpView(root, other_run))
    assert indexed_paths(root, state) == [".cairnignore", "a.py"]


def test_files_are_listed_once_where_nobody_else_writes(root: Path, state: StateDir) -> None:
    for number in range(3):
        (root / "a.py").write_text(f"def alpha():\n    return {number}\n")
        view = HeldUpView(root, lambda: None)
        writer(root, state).update(view)
        assert view.n_walks == 1


def test_files_are_listed_once_where_another_run_leaves_nothing_to_do(root: Path, state: StateDir) -> None:
    (root / "b.py").write_text("def beta():\n    return 2\n")
    view = HeldUpView(root, lambda: writer(root, state).update(checkout(root)))
    assert writer(root, state).update(view).added == 0
    assert view.n_walks == 1
