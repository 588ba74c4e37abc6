from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.errors import IndexLockedError, StoreError
from cairn.index.last_error import read_error
from cairn.index.state_dir import StateDir
from cairn.index.views import CheckoutView
from cairn.index.writer import READER_WAIT_SECONDS, Writer
from cairn.source.walk import MAX_FILE_BYTES, Walk
from cairn.storage.index import view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock


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
        return [path for path, *_ in view_db.files_in_view(connection, view.id)]


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


# -- what there is to answer from --------------------------------------------------------------------------------------


def test_a_view_counts_as_indexed_from_its_first_run_on(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    assert not one.is_indexed(view)
    one.update(view)
    assert one.is_indexed(view)
    assert not one.is_indexed(checkout(root.parent))  # another view of the same index


def test_a_view_that_shows_nothing_until_it_is_brought_up_to_date_does_not_count(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    with closing(state.open_for_writing()) as connection:
        row = view_db.find_view(connection, view.name)
        assert row is not None
        view_db.hide_views(connection, [row.id])
    assert not one.is_indexed(view)
    assert not one.appears(view)
    assert one.refresh(view) == ""
    assert one.is_indexed(view)


def test_an_answer_makes_do_with_what_it_holds_while_another_process_writes(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    (root / "b.py").write_text("def beta():\n    return 2\n")
    with write_lock(state.lock, 1.0, INDEX):
        assert one.appears(view)
        assert one.refresh(view) == "another process is updating the index: this is what it holds so far"
    assert indexed_paths(root, state) == ["a.py"]
    assert one.refresh(view) == ""
    assert indexed_paths(root, state) == ["a.py", "b.py"]


def test_an_answer_waits_for_another_thread_that_takes_an_edit_in(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    (root / "b.py").write_text("def beta():\n    return 2\n")
    held = threading.Event()

    def follow() -> None:
        with write_lock(state.lock, 1.0, INDEX):
            held.set()
            time.sleep(READER_WAIT_SECONDS * 4)  # longer than an answer waits for another process

    watch = threading.Thread(target=follow)
    watch.start()
    assert held.wait(10)
    assert one.refresh(view) == ""
    watch.join()
    assert indexed_paths(root, state) == ["a.py", "b.py"]


def test_without_anything_to_answer_from_a_lock_is_waited_for_and_then_an_error(root: Path, state: StateDir) -> None:
    state.create()
    impatient = Writer(root, state, Settings(lock_timeout_seconds=0.1))
    with write_lock(state.lock, 1.0, INDEX):
        assert not impatient.appears(checkout(root))
        with pytest.raises(IndexLockedError, match="another process"):
            impatient.refresh(checkout(root))
    assert impatient.refresh(checkout(root)) == ""


def test_an_answer_from_before_says_why_the_index_could_not_be_updated(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    (root / "b.py").write_text("def beta():\n    return 2\n")
    state.lock.unlink()
    state.lock.mkdir()
    assert one.refresh(view).startswith("the index could not be updated, so this is from before: cannot write ")
    state.lock.rmdir()
    assert one.refresh(view) == ""


def test_an_update_of_named_files_takes_in_only_what_changed(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    (root / "b.py").write_text("def beta():\n    return 2\n")
    report = one.update(view, changed=["b.py"])
    assert (report.added, report.files) == (1, 2)
    (root / "b.py").unlink()
    report = one.update(view, changed=["b.py"])
    assert (report.removed, report.files) == (1, 1)
    assert one.update(view, changed=[]).added == 0


def test_an_update_of_named_files_notices_that_another_writer_was_at_work(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    (root / "b.py").write_text("def beta():\n    return 2\n")
    writer(root, state).update(checkout(root))
    (root / "a.py").unlink()
    report = one.update(view, changed=[])
    assert (report.files, report.removed) == (1, 1)
    assert indexed_paths(root, state) == ["b.py"]


def test_a_failed_update_is_remembered_until_one_succeeds(root: Path, state: StateDir) -> None:
    one, view = writer(root, state), checkout(root)
    one.update(view)
    state.lock.unlink()
    state.lock.mkdir()
    (root / "b.py").write_text("def beta():\n    return 2\n")
    with pytest.raises(StoreError):
        one.update(view)
    told = read_error(state)
    assert told is not None
    assert "cannot write" in str(told["message"])
    state.lock.rmdir()
    one.update(view)
    assert read_error(state) is None
