from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cairn
from cairn.errors import UnsafeStateError
from cairn.storage.atomic import AtomicFile, sync_folder, write_file

PACKAGE = Path(cairn.__file__).parent
# What makes files otherwise, and why that is right.
OTHERS = {
    "client.py": "the daemon's log",
    "daemon/lifecycle.py": "the daemon's log",
    "hooks/entry.py": "what agents wait for, by hand: the writer takes too long to import",
    "hooks/plain_files.py": "the same",
    "hooks/raw_spool.py": "renames events that cannot be read",
    "index/background.py": "a log",
    "index/hnsw.py": "a scratch file that a library fills, copied from there",
    "index/health.py": "tries whether a folder can be written; moves what is in the way aside",
    "index/aside.py": "moves what is there",
    "index/helper.py": "pipes",
    "index/ahead.py": "a pipe",
    "index/isolation.py": "a list in the cache that grows, of which a half-written line counts for nothing",
    "index/state_dir.py": "an empty database, which SQLite fills",
    "cli/main.py": "the null device",
    "memory/salvage.py": "gives a damaged database another name",
    "memory/spool.py": "moves aside what is no event",
    "storage/lock.py": "locks, which hold nothing that counts",
    "storage/own_files.py": "opens files for the others",
    "storage/atomic.py": "the writer",
    "source/mirror.py": "a checkout of a team's worker, which is written again if that was interrupted",
    "team/doctor.py": "what is stored to see whether that works",
    "team/generation.py": "what a node throws away when it starts, and a worker when it has published",
    "team/objects.py": "the same",
    "team/texts.py": "the same",
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_the_old_content_until_the_block_ends(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    write_file(file, b"old")
    with AtomicFile(file) as new:
        new.stream.write(b"new")
        assert file.read_bytes() == b"old"
    assert file.read_bytes() == b"new"
    assert names(tmp_path) == ["settings"]


def test_an_error_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    write_file(file, b"old")
    with pytest.raises(StopIteration), AtomicFile(file) as new:
        new.stream.writelines([b"half", next(iter(()))])
    assert file.read_bytes() == b"old"
    assert names(tmp_path) == ["settings"]


def test_a_folder_in_the_place_of_the_file_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "settings").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_file(tmp_path / "settings", b"new")
    assert names(tmp_path) == ["settings"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_permissions_of_a_file_are_kept(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_file(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_others_may_not_write_what_is_written_though_they_could_before(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_bytes(b"old")
    file.chmod(0o666)
    write_file(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o664


def test_a_secret_is_its_users_alone_whatever_was_there(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"old")
    file.chmod(0o644)
    write_file(file, b"new", mode=0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim, file = tmp_path / "victim", tmp_path / "settings"
    victim.write_bytes(b"precious")
    file.symlink_to(victim)
    write_file(file, b"new")
    assert (victim.read_bytes(), file.read_bytes(), file.is_symlink()) == (b"precious", b"new", False)


def test_a_folder_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(UnsafeStateError):
        write_file(tmp_path / "link" / "settings", b"new")
    assert names(tmp_path / "real") == []


def test_threads_that_write_the_same_file_never_mix_their_contents(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    contents = [bytes([number]) * 100_000 for number in range(4)]
    threads = [threading.Thread(target=write_file, args=(file, content)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() in contents
    assert names(tmp_path) == ["settings"]


@pytest.mark.parametrize(("durable", "expected"), [(True, "fsync replace fsync"), (False, "fsync replace")])
def test_the_content_is_on_disk_before_the_name_and_the_name_after_it(
    durable: bool, expected: str, tmp_path: Path
) -> None:
    called: list[str] = []

    def watch(_frame: object, event: str, function: object) -> None:
        if event == "c_call" and (name := getattr(function, "__name__", "")) in ("fsync", "replace"):
            called.append(name)

    sys.setprofile(watch)
    try:
        with AtomicFile(tmp_path / "settings", durable=durable) as new:
            new.stream.write(b"new")
    finally:
        sys.setprofile(None)
    assert " ".join(called) == expected


KILLED = """
import os, signal, sys
from pathlib import Path
from cairn.storage.atomic import write_file

file = Path(sys.argv[1])

def trace(frame, event, argument):
    global lines
    if not frame.f_code.co_filename.endswith(("atomic.py", "own_files.py")):
        return None
    lines -= event == "line"
    if not lines:
        os.kill(os.getpid(), signal.SIGKILL)
    return trace

for last in range(1, 10_000):
    file.write_bytes(b"old")
    if not (child := os.fork()):
        lines = last
        sys.settrace(trace)
        write_file(file, b"new")
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    print(killed, file.read_text())
    if not killed:
        break
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_kill_at_any_line_leaves_the_old_content_or_the_new(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "settings"], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.splitlines()) == {"True old", "True new", "False new"}


def makes_a_file(call: ast.Call) -> bool:
    """Tell whether a call writes, makes or renames a file by itself."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name in ("write_text", "write_bytes", "mkstemp", "NamedTemporaryFile", "rename", "create_new", "symlink_to"):
        return True
    if name == "replace":  # of `os` or of a path; that of a text takes two
        return owner == "os" or (len(call.args) == 1 and not call.keywords)
    words = [ast.unparse(argument) for argument in (*call.args[1:], *(key.value for key in call.keywords))]
    if name in ("open_own", "open"):
        modes = ("'w'", "'wb'", "'a'", "'ab'", "'x'", "'w+b'", "'a+b'", "O_CREAT", "O_WRONLY", "O_RDWR")
        first = [ast.unparse(call.args[0])] if call.args and isinstance(call.func, ast.Attribute) else []
        return any(mode in word for word in (*words, *first) for mode in modes)
    return name == "open_stream" and any(word in ("'wb'", "'ab'") for word in words)


def test_where_folders_cannot_be_synced_files_are_written_all_the_same() -> None:
    source, sink = os.pipe()
    try:
        with pytest.raises(OSError, match="Invalid argument"):
            os.fsync(sink)
        sync_folder(sink)
    finally:
        os.close(source)
        os.close(sink)


def test_every_file_is_written_by_the_one_writer() -> None:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
        if any(map(makes_a_file, calls)):
            found.add(file.relative_to(PACKAGE).as_posix())
    assert found == set(OTHERS)
