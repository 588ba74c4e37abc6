from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cairn.errors import IndexLockedError, StoreError, StoreLockedError, UnsafeStateError
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import count_turns, file_lock, write_lock
from cairn.storage.lock import holder as holder_of

HOLDER = """
import sys
from pathlib import Path
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
with write_lock(Path(sys.argv[1]), 30, INDEX):
    print("held", flush=True)
    sys.stdin.readline()
print("released", flush=True)
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which has asked for the lock."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_the_lock_can_be_taken_again_after_it_was_released(tmp_path: Path) -> None:
    for _ in range(2):
        with write_lock(tmp_path / "lock", 0, INDEX):
            pass


def test_an_error_inside_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyError), write_lock(tmp_path / "lock", 0, INDEX):
        raise KeyError
    with write_lock(tmp_path / "lock", 0, INDEX):
        pass


def test_a_lock_that_another_process_holds_is_refused_in_time_with_what_to_do(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as other:
        assert said(other) == "held"
        with (
            pytest.raises(IndexLockedError, match="another process") as caught,
            write_lock(tmp_path / "lock", 0.1, INDEX),
        ):
            pass
    assert "cairn index" in caught.value.hint


def test_a_second_process_waits_until_the_first_is_done(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as first:
        assert said(first) == "held"
        with holder(tmp_path / "lock") as second:
            end(first)
            assert said(first) == "released"
            assert said(second) == "held"
            with pytest.raises(IndexLockedError), write_lock(tmp_path / "lock", 0, INDEX):
                pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as other:
        assert said(other) == "held"
        other.send_signal(signal.SIGKILL)
        other.wait()
        with write_lock(tmp_path / "lock", 0, INDEX):
            pass


def test_a_lock_file_that_cannot_be_opened_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(StoreError, match="cannot write"), write_lock(tmp_path / "lock", 0, INDEX):
        pass


def test_a_lock_counts_how_often_it_was_taken(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert count_turns(path) == 0
    for number in range(3):
        assert count_turns(path) == number
        with write_lock(path, 0, INDEX) as n_turns:
            assert n_turns == number
            assert holder_of(path) == os.getpid()
    assert holder_of(path) is None


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "12\n", "12 x\n", "\0" * 100])
def test_a_lock_file_that_says_nothing_of_turns_counts_from_the_beginning(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock"
    path.write_text(text)
    with write_lock(path, 0, INDEX) as n_turns:
        assert n_turns == 0
    assert count_turns(path) == 1


# -- what stands in the way --------------------------------------------------------------------------------------------


def test_a_lock_of_no_store_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as other:
        assert said(other) == "held"
        with pytest.raises(StoreLockedError, match="another process keeps") as caught, file_lock(path, 0.1):
            pass
        assert not isinstance(caught.value, IndexLockedError)
        assert str(path) in str(caught.value)
        end(other)
        assert said(other) == "released"
    with file_lock(path, 0):
        assert holder_of(path) == os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system shows which files a process has open")
def test_whoever_waited_for_a_lock_that_was_deleted_takes_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with write_lock(path, 0, INDEX), holder(path) as other:
        while not waits_for(other, path):
            time.sleep(0.01)
        path.unlink()
        with write_lock(path, 0, INDEX):
            assert holder_of(path) == os.getpid()
    with holder(path) as other:
        assert said(other) == "held"
        assert holder_of(path) == other.pid


def waits_for(process: subprocess.Popen[str], path: Path) -> bool:
    descriptors = Path(f"/proc/{process.pid}/fd")
    return any(os.path.realpath(one) == str(path) for one in descriptors.iterdir())


@pytest.mark.parametrize("text", ["", "nonsense 3", "-4 1"])
def test_a_lock_is_held_by_an_unknown_process_where_its_file_does_not_name_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock"
    with write_lock(path, 0, INDEX):
        path.write_text(text)
        assert holder_of(path) == 0
    assert holder_of(path) is None


def test_nobody_holds_a_lock_that_was_never_taken(tmp_path: Path) -> None:
    assert holder_of(tmp_path / "lock") is None
    assert not (tmp_path / "lock").exists()
    assert count_turns(tmp_path / "lock") == 0


def test_a_folder_in_the_place_of_a_lock_is_left_to_the_doctor(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.mkdir()
    with pytest.raises(StoreError, match="cannot write") as caught, file_lock(path, 0):
        pass
    assert caught.value.hint == "cairn doctor --fix"
    with pytest.raises(StoreError, match="cannot write"):
        holder_of(path)
    assert count_turns(path) == 0


def test_a_lock_in_a_folder_that_is_missing_is_an_error_with_another_way(tmp_path: Path) -> None:
    path = tmp_path / "none" / "lock"
    for lock, hint in (
        (write_lock(path, 0, INDEX), "make it writable, or set CAIRN_STATE_DIR to a folder that is"),
        (file_lock(path, 0), "make it writable, or set XDG_STATE_HOME to a folder that is"),
        (file_lock(path, 0, folder_variable=""), "make its folder writable"),
    ):
        with pytest.raises(StoreError, match="No such file") as caught, lock:
            pass
        assert caught.value.hint == hint


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "lock").symlink_to("precious")
    with pytest.raises(UnsafeStateError), file_lock(tmp_path / "lock", 0):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
    assert count_turns(tmp_path / "lock") == 0


def test_a_lock_works_on_a_full_disk_though_its_file_cannot_say_who_holds_it(tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from cairn.storage.lock import file_lock, holder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "limits = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))\n"
        "with file_lock(Path(sys.argv[1]), 0):\n"
        "    found = holder(Path(sys.argv[1]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, limits)\n"
        "print(found)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "lock")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
