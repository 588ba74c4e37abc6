from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cairn.errors import IndexLockedError, StoreError
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import count_turns, write_lock
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
