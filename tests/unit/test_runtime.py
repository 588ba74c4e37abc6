from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from cairn.errors import StoreError, UnsafeStateError
from cairn.runtime import Runtime, StateFolder, environment_mark, is_replaced, process_started, program_mark
from cairn.storage.lock import file_lock


def runtime(pid: int) -> Runtime:
    return Runtime(pid, process_started(pid), "127.0.0.1", 37_800, "1", 1, "")


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    found = StateFolder(tmp_path / "state")
    found.create()
    return found


def test_a_daemon_is_found_while_it_holds_the_lock(folder: StateFolder) -> None:
    assert folder.find() is None
    with file_lock(folder.lock, 1):
        assert folder.find() is None  # it did not say where it listens yet
        folder.write(runtime(os.getpid()), "secret")
        assert folder.find() == runtime(os.getpid())
        assert folder.read_token() == "secret"
    assert folder.find() is None  # as after a kill, which leaves the file


def test_the_file_of_a_dead_daemon_does_not_count_when_another_process_holds_the_lock(folder: StateFolder) -> None:
    with file_lock(folder.lock, 1):
        folder.write(runtime(os.getpid() + 1), "secret")
        assert folder.find() is None


def test_only_the_owner_can_read_what_is_secret(folder: StateFolder) -> None:
    folder.write(runtime(os.getpid()), "secret")
    assert stat.S_IMODE(folder.token.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.runtime.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_token_file_of_others_is_not_written_into(folder: StateFolder) -> None:
    """A file that somebody put there before, to read it later, is replaced."""
    folder.token.touch(mode=0o666)
    folder.token.chmod(0o666)
    with folder.token.open(encoding="ascii") as before:
        folder.write(runtime(os.getpid()), "secret")
        assert before.read() == ""
    assert stat.S_IMODE(folder.token.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "port": 2, "other": 3}'])
def test_a_file_that_says_something_else_counts_as_none(folder: StateFolder, text: str) -> None:
    folder.runtime.write_text(text)
    assert folder.find() is None


def test_what_was_written_can_be_taken_back(folder: StateFolder) -> None:
    folder.write(runtime(os.getpid()), "secret")
    folder.forget()
    folder.forget()
    assert not folder.token.exists()
    assert not folder.runtime.exists()
    with pytest.raises(StoreError):
        folder.read_token()


def test_the_state_folder_follows_the_conventions() -> None:
    assert StateFolder.of_user({"XDG_STATE_HOME": "/somewhere"}).path == Path("/somewhere/cairn")
    assert StateFolder.of_user({"XDG_STATE_HOME": "some/where"}).path == StateFolder.of_user({}).path
    if sys.platform == "linux":
        assert StateFolder.of_user({}).path == Path.home() / ".local" / "state" / "cairn"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write"):
        StateFolder(tmp_path / "file" / "state").create()


def test_settings_in_the_environment_leave_a_mark() -> None:
    plain = environment_mark({"PATH": "/bin"})
    assert environment_mark({}) == plain
    assert environment_mark({"CAIRN_MAX_FILE_BYTES": "1"}) != plain
    assert environment_mark({"GIT_CONFIG_GLOBAL": "/dev/null"}) != plain
    assert environment_mark({"CAIRN_DAEMON": "1", "CAIRN_DAEMON_THREADS": "2"}) == plain


def test_a_process_is_told_from_another_with_its_number() -> None:
    assert process_started(os.getpid()) == process_started(os.getpid()) != ""
    assert process_started(2**22 + 1) == ""


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_refused_with_what_to_do(mode: int, folder: StateFolder) -> None:
    folder.write(runtime(os.getpid()), "secret")
    folder.path.chmod(mode)
    for use in (folder.create, folder.find):
        with pytest.raises(UnsafeStateError) as caught:
            use()
        assert caught.value.hint == f"chmod go-w {folder.path}"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_refused(folder: StateFolder) -> None:
    os.chown(folder.path, 12_345, -1)
    for use in (folder.create, folder.find):
        with pytest.raises(UnsafeStateError, match="another user"):
            use()


def test_files_that_are_links_say_nothing_and_are_replaced(folder: StateFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    for file in (folder.runtime, folder.token):
        file.symlink_to(elsewhere)
    with file_lock(folder.lock, 1):
        assert folder.find() is None
        with pytest.raises(StoreError):
            folder.read_token()
        folder.write(runtime(os.getpid()), "secret")
        assert folder.find() == runtime(os.getpid())
    assert elsewhere.read_text() == "precious"


def test_a_daemon_that_says_more_than_this_version_knows_is_found(folder: StateFolder) -> None:
    with file_lock(folder.lock, 1):
        folder.write(runtime(os.getpid()), "secret")
        said = json.loads(folder.runtime.read_bytes())
        folder.runtime.write_text(json.dumps({**said, "mood": "good"}))
        assert folder.find() == runtime(os.getpid())


def test_an_update_is_told_from_the_program_before_it_and_from_another_installation(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name / "part").mkdir(parents=True)
        (tmp_path / name / "part" / "code.py").write_text("x = 1\n")
    here, there = tmp_path / "here", tmp_path / "there"
    before = program_mark(here)
    (here / "__pycache__").mkdir()
    (here / "__pycache__" / "code.pyc").touch()
    assert program_mark(here) == before
    (here / "part" / "code.py").write_text("x = 12\n")
    assert is_replaced(before, program_mark(here))
    assert not is_replaced(before, before)
    assert not is_replaced(before, program_mark(there))
    assert not is_replaced("", program_mark(here))  # of a version that did not say
