from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import faults
from cairn.config import Settings
from cairn.errors import IndexMissingError, StoreError
from cairn.index import gc
from cairn.index.aside import files_set_aside
from cairn.index.health import file_system
from cairn.index.plan import is_collection_due
from cairn.index.state_dir import new_name
from cairn.index.watch import Watcher
from cairn.storage.index import blob_db, garbage_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import holder, write_lock
from cairn.workspace import Workspace
from interrupts import CAIRN

Git = Callable[..., str]
DAY = gc.DAY_SECONDS
CODE = 'def {name}(offset):\n    """Store the {name}."""\n    return store(offset)\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    for name in ("alpha", "beta", "gamma"):
        (folder / f"{name}.py").write_text(CODE.format(name=name))
    return folder


def open_(root: Path, **settings: object) -> Workspace:
    return Workspace.open(root, settings=Settings(**settings))  # type: ignore[arg-type] # any setting


def names(workspace: Workspace, query: str) -> list[str]:
    return [hit.name for hit in workspace.search(query, limit=1).code]


def collect(workspace: Workspace, now: float, *, quiet: bool = False) -> gc.GarbageReport:
    with closing(workspace.state.open_for_writing()) as connection:
        return gc.collect(connection, workspace.state, workspace.settings, workspace.root, now=now, quiet=quiet)


# -- garbage ----------------------------------------------------------------------------------------------------------


def test_what_no_view_shows_is_kept_for_the_grace_period_and_then_dropped(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        (root / "alpha.py").unlink()
        workspace.index()
        now = time.time()
        first = collect(workspace, now)
        assert (first.blobs, first.waiting) == (0, 1)
        assert collect(workspace, now + 13 * DAY).blobs == 0
        last = collect(workspace, now + 15 * DAY)
        assert (last.blobs, last.chunks, last.waiting) == (1, 1, 0)
        assert last.freed_bytes > 0
        assert names(workspace, "beta") == ["beta"]
        assert workspace.index().embedded_chunks == 0
        assert not [one for one in workspace.upkeep.doctor() if one.level == "error" or one.repair]


def test_what_returns_within_the_grace_period_is_not_embedded_again_and_starts_anew(root: Path) -> None:
    text = (root / "alpha.py").read_text()
    with open_(root) as workspace:
        workspace.index()
        (root / "alpha.py").unlink()
        workspace.index()
        now = time.time()
        collect(workspace, now - 10 * DAY)
        (root / "alpha.py").write_text(text)
        assert workspace.index().embedded_chunks == 0
        collect(workspace, now)
        (root / "alpha.py").unlink()
        workspace.index()
        assert collect(workspace, now + 10 * DAY).waiting == 1


def test_the_quiet_collection_leaves_a_segment_that_would_lose_little(root: Path) -> None:
    for number in range(20):
        (root / f"more_{number}.py").write_text(CODE.format(name=f"more_{number}"))
    with open_(root, garbage_days=0.0) as workspace:
        workspace.index()
        (root / "alpha.py").unlink()
        workspace.index()
        assert (collect(workspace, time.time(), quiet=True).blobs, collect(workspace, time.time()).blobs) == (0, 1)


def test_an_update_collects_quietly_once_a_day(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
    with open_(root) as workspace, closing(workspace.state.open_for_writing()) as connection:
        collected = garbage_db.last_collection(connection)
        assert abs(collected - time.time()) < 60
        assert not is_collection_due(connection, collected + DAY / 2)
        assert is_collection_due(connection, collected + 2 * DAY)
        assert is_collection_due(connection, collected - 60)  # a clock that was set back


def test_the_view_of_a_worktree_that_is_gone_is_dropped_after_the_grace_period(
    checkout: Path, tmp_path: Path, git: Git
) -> None:
    (checkout / "a.py").write_text(CODE.format(name="alpha"))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "x")
    git(checkout, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked" / "b.py").write_text(CODE.format(name="beta"))
    with open_(checkout) as workspace, open_(tmp_path / "linked") as linked:
        workspace.index()
        linked.index()
        assert linked.state.path == workspace.state.path
        now = time.time()
        assert collect(workspace, now).views == ()
        git(checkout, "worktree", "remove", "--force", str(tmp_path / "linked"))
        assert [one["gone"] for one in workspace.upkeep.status()["views"]] == [False, True]
        assert collect(workspace, now + DAY).views == ()
        done = collect(workspace, now + 16 * DAY)
        assert done.views == (str(tmp_path / "linked"),)
        assert collect(workspace, now + 32 * DAY).blobs == 1  # what only it showed
        assert names(workspace, "alpha") == ["alpha"]


def test_the_view_of_a_branch_that_was_deleted_is_dropped_after_the_grace_period(checkout: Path, git: Git) -> None:
    (checkout / "a.py").write_text(CODE.format(name="alpha"))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "x")
    git(checkout, "branch", "kept")
    git(checkout, "checkout", "-q", "-b", "side")
    (checkout / "b.py").write_text(CODE.format(name="beta"))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "y")
    git(checkout, "checkout", "-q", "main")
    with open_(checkout) as workspace:
        workspace.index()
        for branch in ("kept", "side"):
            workspace.index(branch=branch)
        git(checkout, "branch", "-q", "-D", "side")
        views = {one["name"]: one["gone"] for one in workspace.upkeep.status()["views"]}
        assert views == {str(checkout): False, "refs/heads/kept": False, "refs/heads/side": True}
        now = time.time()
        assert collect(workspace, now).views == ()
        assert collect(workspace, now + 16 * DAY).views == ("refs/heads/side",)
        assert collect(workspace, now + 32 * DAY).blobs == 1
        assert [hit.name for hit in workspace.search("alpha", branch="kept", limit=1).code] == ["alpha"]


@pytest.mark.parametrize("lose", ["full", "file"])
def test_what_was_known_of_another_database_is_not_taken_for_this_one(root: Path, lose: str) -> None:
    (root / "delta.py").write_text("from alpha import alpha\n\n\ndef delta():\n    return alpha()\n")
    with open_(root) as workspace:
        workspace.index()
        network = workspace.graph.current().network
        network.save(workspace.state.graph(workspace.graph.current().code.view_id))
        assert [one.symbol.name for one in workspace.graph.callers("alpha").links] == ["delta"]
        # The blobs of the new database have the ids that those of the old one had.
        (root / "delta.py").write_text("from beta import beta\n\n\ndef delta():\n    return beta()\n")
        if lose == "file":
            for file in root.glob(".cairn/index.db*"):
                file.unlink()
        workspace.index(full=lose == "full")
        assert [one.symbol.name for one in workspace.graph.callers("beta").links] == ["delta"]
        assert workspace.graph.callers("alpha").links == ()


def test_an_id_is_never_given_to_another_content(root: Path) -> None:
    with open_(root, garbage_days=0.0) as workspace:
        workspace.index()
        (root / "gamma.py").unlink()
        workspace.index()
        assert collect(workspace, time.time() + 1).blobs == 1
        with closing(workspace.state.open_for_reading()) as connection:
            assert blob_db.next_blob_id(connection) == 4


def test_a_dry_run_says_what_would_go_and_changes_nothing(root: Path) -> None:
    with open_(root, garbage_days=0.0) as workspace:
        workspace.index()
        (root / "alpha.py").unlink()
        workspace.index()
        report = workspace.upkeep.collect(dry_run=True)
        assert (report.blobs, report.dry_run) == (1, True)
        assert report.freed_bytes > 0
        assert workspace.upkeep.collect().blobs == 1
        assert workspace.upkeep.collect().blobs == 0


def test_garbage_of_no_index_is_an_error_that_names_the_command(root: Path) -> None:
    with open_(root) as workspace, pytest.raises(IndexMissingError):
        workspace.upkeep.collect()


def test_a_reader_that_is_open_answers_after_its_segments_were_rewritten(root: Path) -> None:
    with open_(root, garbage_days=0.0) as workspace, open_(root) as reader:
        workspace.index()
        assert names(reader, "beta") == ["beta"]
        (root / "alpha.py").unlink()
        workspace.index()
        workspace.upkeep.collect()
        assert names(reader, "gamma") == ["gamma"]


# -- the doctor -------------------------------------------------------------------------------------------------------


def findings(workspace: Workspace, *, fix: bool = False) -> dict[str, tuple[str, str]]:
    return {
        one.check: (one.level, one.repair) for one in workspace.upkeep.doctor(fix=fix) if one.level != "ok" or one.fixed
    }


def test_a_git_that_is_too_old_for_some_answers_is_told(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "old" / "git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" | grep -q version && echo git version 2.9.5 || {shutil.which("git")} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    with Workspace.open(root) as workspace:
        finding = workspace.upkeep.doctor()[0]
    assert (finding.check, finding.level, finding.hint) == ("git", "warning", "upgrade git")
    assert finding.message.startswith("2.9.5 is older than 2.30")


def test_a_healthy_index_has_nothing_to_mend(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        assert not [one for one in workspace.upkeep.doctor() if one.repair or one.level == "error"]


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(9_000))


def as_folder(file: Path) -> None:
    file.unlink(missing_ok=True)
    file.mkdir()


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def undecodable(file: Path) -> None:
    data = file.read_bytes()
    assert b"CREATE TABLE meta" in data
    file.write_bytes(data.replace(b"CREATE TABLE meta", b"CREATE TABL\xcc meta"))


def empty(file: Path) -> None:
    os.truncate(file, 0)


def flip_last(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 0xFF
    file.write_bytes(data)


@pytest.mark.parametrize("harm", [garbage, cut, undecodable, as_folder], ids=lambda one: one.__name__)
@pytest.mark.parametrize("mend", ["index", "search", "doctor"])
def test_a_damaged_database_is_kept_and_rebuilt(harm: Callable[[Path], None], mend: str, root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
    harm(workspace.state.database)
    with open_(root) as workspace:
        if mend == "doctor":
            assert findings(workspace)["database"] == ("error", "rebuild")
            assert findings(workspace, fix=True)["database"] == ("error", "rebuild")
        elif mend == "index":
            workspace.index()
        assert names(workspace, "alpha") == ["alpha"]
        assert files_set_aside(workspace.state)
        assert not [one for one in workspace.upkeep.doctor() if one.repair]


@pytest.mark.parametrize("mend", ["index", "doctor"])
def test_a_number_in_the_place_of_a_path_is_damage_of_the_database(mend: str, root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
    with closing(sqlite3.connect(workspace.state.database)) as connection, connection:
        connection.execute("UPDATE path SET path = 1 WHERE id = (SELECT min(id) FROM path)")
    with open_(root) as workspace:
        if mend == "doctor":
            assert findings(workspace, fix=True)["database"] == ("error", "rebuild")
        else:
            workspace.index()
        assert names(workspace, "alpha") == ["alpha"]
        assert files_set_aside(workspace.state)


def test_an_empty_database_is_filled_again(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
    empty(workspace.state.database)
    (workspace.state.path / "index.db-wal").unlink(missing_ok=True)
    with open_(root) as workspace:
        assert workspace.index().files == 3


def test_a_log_that_is_none_is_ignored(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
    garbage(workspace.state.path / "index.db-wal")
    with open_(root) as workspace:
        workspace.index()
        assert names(workspace, "beta") == ["beta"]


@pytest.mark.parametrize("kind", ["seg", "arr"])
@pytest.mark.parametrize("harm", [flip_last, cut, empty, Path.unlink], ids=lambda one: one.__name__)
def test_the_doctor_finds_and_mends_damaged_derived_files(harm: Callable[[Path], None], kind: str, root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        (file,) = workspace.state.derived.glob(f"*.{kind}")
        harm(file)
        assert findings(workspace)["derived"] == ("error", "redo")
        findings(workspace, fix=True)
        assert "derived" not in findings(workspace)
        assert names(workspace, "alpha") == ["alpha"]


def test_a_value_that_was_altered_in_the_database_is_found_and_mended(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        with closing(sqlite3.connect(workspace.state.database)) as connection, connection:
            connection.execute("UPDATE chunk SET start_line = start_line + 1")
        assert findings(workspace)["database"] == ("error", "rebuild")
        findings(workspace, fix=True)
        assert workspace.search("alpha").code[0].start_line == 1


def test_rows_that_point_at_nothing_are_found_and_mended(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        with closing(sqlite3.connect(workspace.state.database)) as connection, connection:
            connection.execute("DELETE FROM blob WHERE id = 1")
        assert any("a missing blob" in one.message for one in workspace.upkeep.doctor())
        findings(workspace, fix=True)
        assert workspace.index().files == 3


def test_files_that_belong_to_nothing_are_deleted(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        stray = workspace.state.segment(new_name())
        stray.write_bytes(b"x")
        assert findings(workspace)["litter"] == ("warning", "tidy")
        findings(workspace, fix=True)
        assert not stray.exists()


@pytest.mark.parametrize("name", ["derived", "index.lock"])
def test_what_is_in_the_way_is_moved_aside(name: str, root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        path = workspace.state.path / name
        if name == "derived":
            shutil.rmtree(path)
            path.write_text("no folder")
        else:
            path.unlink()
            path.mkdir()
        with pytest.raises(StoreError) as caught:
            workspace.index()
        assert "cairn doctor --fix" in caught.value.hint
        assert findings(workspace)["folder"] == ("error", "move")
        findings(workspace, fix=True)
        assert workspace.index().files == 3
        assert list(workspace.state.path.glob(f"{name}.moved-*"))


def test_a_link_in_the_place_of_a_derived_file_is_moved_aside(root: Path, tmp_path: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        link = workspace.state.segment(new_name())
        link.symlink_to(tmp_path / "elsewhere")
        assert findings(workspace)["folder"] == ("error", "move")
        findings(workspace, fix=True)
        assert not os.path.lexists(link)
        (moved,) = workspace.state.path.glob(f"{link.name}.moved-*")
        assert moved.is_symlink()


def test_what_lies_behind_a_link_is_not_moved(root: Path, tmp_path: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        behind = tmp_path / "elsewhere" / workspace.state.segment(new_name()).name
        behind.mkdir(parents=True)
        shutil.rmtree(workspace.state.derived)
        workspace.state.derived.symlink_to(behind.parent)
        findings(workspace, fix=True)
        assert list(behind.parent.iterdir()) == [behind]
        assert not workspace.state.derived.is_symlink()


def test_the_last_error_is_shown_until_a_run_succeeds(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        workspace.state.lock.unlink()
        workspace.state.lock.mkdir()
        with pytest.raises(StoreError):
            workspace.index()
        assert workspace.upkeep.status()["last_error"]["code"] == "store"
        workspace.state.lock.rmdir()
        assert findings(workspace)["last-run"][0] == "warning"
        workspace.index()
        assert workspace.upkeep.status()["last_error"] is None


def test_the_doctor_says_who_holds_a_lock(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        with write_lock(workspace.state.embedding_lock, 0, INDEX):
            told = [one.message for one in workspace.upkeep.doctor() if one.check == "lock"]
        assert told == [f"embedding: held by process {os.getpid()}, and free once that ends"]
        assert holder(workspace.state.embedding_lock) is None


def test_a_network_file_system_is_named(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 0:1 / / rw - ext4 /dev/sda rw\n"
        f"22 21 0:2 / {os.path.realpath(tmp_path)} rw,relatime - nfs4 server:/x rw\n"
    )
    assert file_system(tmp_path / "project", mounts).level == "warning"
    assert "nfs4" in file_system(tmp_path, mounts).message
    assert file_system(Path("/"), mounts).level == "ok"
    assert file_system(tmp_path, tmp_path / "missing").message == "not known"


# -- faults -----------------------------------------------------------------------------------------------------------


def test_a_content_that_changed_behind_size_and_time_is_read_again(root: Path) -> None:
    file = root / "alpha.py"
    os.utime(file, ns=(1_600_000_000_000_000_000,) * 2)
    with open_(root) as workspace:
        workspace.index()
        file.write_text(file.read_text().replace("alpha", "aleph"))
        os.utime(file, ns=(1_600_000_000_000_000_000,) * 2)
        assert workspace.index().changed == 1
        assert names(workspace, "aleph") == ["aleph"]


@pytest.mark.parametrize("seconds", [-10 * 365 * DAY, 10 * 365 * DAY], ids=["past", "future"])
def test_times_far_off_hide_no_change(seconds: float, root: Path) -> None:
    file = root / "alpha.py"
    moment = time.time() + seconds
    os.utime(file, (moment, moment))
    with open_(root) as workspace:
        workspace.index()
        file.write_text(file.read_text().replace("alpha", "aleph"))
        os.utime(file, (moment, moment))
        workspace.index()
        assert names(workspace, "aleph") == ["aleph"]


def test_a_lock_file_that_is_deleted_while_held_does_not_let_two_write(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with write_lock(lock, 0, INDEX):
        lock.unlink()
        with write_lock(lock, 0, INDEX):  # whoever comes now has a lock of its own; the first must notice next time
            assert holder(lock) == os.getpid()
    with write_lock(lock, 0, INDEX):
        assert holder(lock) == os.getpid()


WRITER = """
import sys
from contextlib import closing
from cairn.storage.connection import transaction
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.workspace import Workspace

with (
    Workspace.open(sys.argv[1]) as workspace,
    write_lock(workspace.state.lock, 0, INDEX),
    closing(workspace.state.open_for_writing()) as connection,
    transaction(connection),
):
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_an_answer_waits_for_no_other_process_that_writes(root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        (root / "new.py").write_text(CODE.format(name="new_one"))
        command = [sys.executable, "-c", WRITER, str(root)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "writing\n"
            begun = time.perf_counter()
            told = workspace.refresh()
            waited = time.perf_counter() - begun
            assert names(workspace, "alpha") == ["alpha"]
            writer.communicate()
        assert "another process" in told
        assert waited < 30  # and not the two minutes that a writer waits
        assert workspace.refresh() == ""
        assert names(workspace, "new_one") == ["new_one"]


LIMITED = """
import resource, sys
from cairn.cli.main import main
from cairn.storage.index.schema import INDEX
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("size", [0, 5_000, 20_000, 60_000])
def test_writes_that_fail_are_told_and_lose_nothing(size: int, root: Path) -> None:
    with open_(root) as workspace:
        workspace.index()
        for number in range(30):
            (root / f"more_{number}.py").write_text(CODE.format(name=f"more_{number}") * 20)
    command = [sys.executable, "-c", LIMITED, str(size), "index", "-C", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "error[store]" in done.stderr
    assert "try: " in done.stderr
    with open_(root) as workspace:
        assert names(workspace, "alpha") == ["alpha"]
        assert workspace.index().files == 33


@pytest.mark.parametrize("number", range(8))
def test_after_a_fault_the_answers_are_those_of_a_fresh_index(number: int) -> None:
    what, wrong = faults.one_fault(number, seed=5, seconds=0.6, disks=False)
    assert not wrong, what


# -- watching ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("polling", [False, True], ids=["told", "polling"])
def test_edits_are_followed_until_the_watcher_is_stopped(polling: bool, root: Path) -> None:
    settings = {"watch_polling": polling, "watch_poll_seconds": 0.1, "background_nice": 0, "background_cores": 64}
    with open_(root, **settings) as workspace, open_(root) as reader:
        watcher: Watcher = workspace.upkeep.watcher()
        updates = workspace.upkeep.watch(watcher)
        first = next(updates)
        assert first.report is not None
        assert first.report.files == 3
        (root / "delta.py").write_text(CODE.format(name="delta"))
        assert any(one.report is not None and one.report.added for one in updates)
        assert names(reader, "delta") == ["delta"]
        watcher.stop()
        assert list(updates) == []


def test_the_command_follows_edits_and_ends_with_an_interrupt(root: Path) -> None:
    command = [*CAIRN, "index", str(root), "--watch", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["reason"] == "start"
        (root / "delta.py").write_text(CODE.format(name="delta"))
        document = json.loads(process.stdout.readline())
        assert (document["reason"], document["added"]) == ("changes", 1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "Stopped" in said
