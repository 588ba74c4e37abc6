from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("only Linux has inotify", allow_module_level=True)

from cairn.index.inotify import InotifyStream


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[InotifyStream]:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.py").write_text("a = 1\n")
    opened = InotifyStream([str(tmp_path), str(tmp_path / "lib")])
    yield opened
    opened.close()


def test_a_change_is_known_as_soon_as_it_was_made(stream: InotifyStream, tmp_path: Path) -> None:
    assert stream.is_quiet()
    for number in range(50):
        (tmp_path / "lib" / "a.py").write_text(f"a = {number}\n")
        assert not stream.is_quiet()
        assert stream.next(0) == {str(tmp_path / "lib" / "a.py")}
        assert not stream.is_quiet()  # it was reported, and nobody said that it was dealt with
        stream.settle()
        assert stream.is_quiet()


def test_every_way_to_change_a_file_is_told(stream: InotifyStream, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    a, b = str(lib / "a.py"), str(lib / "b.py")
    os.chmod(a, 0o700)
    assert stream.next(0) == {a}
    os.utime(a, (1, 1))
    assert stream.next(0) == {a}
    os.rename(a, b)
    assert stream.next(0) == {a, b}
    os.link(b, a)
    assert stream.next(0) == {a}
    os.unlink(b)
    assert b in stream.next(0)
    os.truncate(a, 0)
    assert stream.next(0) == {a}
    os.symlink(a, b)
    assert stream.next(0) == {b}
    assert (lib / "a.py").read_text() == ""
    assert stream.next(0) == set()


def test_news_of_a_renamed_folder_comes_under_its_new_name(stream: InotifyStream, tmp_path: Path) -> None:
    os.rename(tmp_path / "lib", tmp_path / "library")
    assert {str(tmp_path / "lib"), str(tmp_path / "library")} <= stream.next(0)
    stream.follow([str(tmp_path), str(tmp_path / "library")])
    (tmp_path / "library" / "a.py").write_text("")
    assert stream.next(0) == {str(tmp_path / "library" / "a.py")}


def test_a_folder_made_again_is_followed_and_one_left_out_is_not(stream: InotifyStream, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    (lib / "a.py").unlink()
    lib.rmdir()
    lib.mkdir()
    assert str(lib) in stream.next(0)
    stream.follow([str(tmp_path), str(lib)])
    (lib / "b.py").write_text("")
    assert stream.next(0) == {str(lib / "b.py")}
    stream.follow([str(tmp_path)])
    (lib / "b.py").write_text("b = 1\n")
    assert stream.next(0) == set()


def test_when_the_system_loses_count_a_folder_is_told(stream: InotifyStream, tmp_path: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    files = [tmp_path / "lib" / name for name in ("a.py", "b.py")]
    files[1].write_text("")
    for number in range(most + 10):  # the same twice in a row would count once
        os.utime(files[number % 2], (number, number))
    assert stream.next(0) & {str(tmp_path), str(tmp_path / "lib")}


def test_who_waits_can_be_woken(stream: InotifyStream) -> None:
    threading.Timer(0.05, stream.wake).start()
    assert stream.next(60) == set()
    stream.wake()
    assert stream.next(60) == set()


def test_a_folder_that_is_gone_is_an_error_and_leaves_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        InotifyStream([str(tmp_path), str(tmp_path / "gone")])
    assert len(os.listdir("/proc/self/fd")) == before
