from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import StoreError, UnsafeStateError
from cairn.storage.own_files import check_folder, create_new, is_own_file, open_own, open_stream, read_own


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user that must stay as it is."""
    file = tmp_path / "precious"
    file.write_text("precious")
    return file


def as_link(path: Path, precious: Path) -> None:
    path.symlink_to(precious)


def as_link_to_nothing(path: Path, precious: Path) -> None:
    path.symlink_to(precious.with_name("new"))


def as_second_name(path: Path, precious: Path) -> None:
    path.hardlink_to(precious)


def as_pipe(path: Path, precious: Path) -> None:
    os.mkfifo(path)


def as_socket(path: Path, precious: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        before = Path.cwd()
        os.chdir(path.parent)  # the name of a socket may not be long
        try:
            listener.bind(path.name)
        finally:
            os.chdir(before)


def open_to_all(path: Path, precious: Path) -> None:
    path.touch()
    path.chmod(0o666)


HARM = [as_link, as_link_to_nothing, as_second_name, as_pipe, as_socket, open_to_all]


@pytest.mark.parametrize("mode", ["rb", "r+b", "ab", "wb"])
@pytest.mark.parametrize("harm", HARM, ids=lambda one: one.__name__)
def test_what_is_no_file_of_ours_is_refused_and_left_as_it_is(
    harm: Callable[[Path, Path], None], mode: str, tmp_path: Path, precious: Path
) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    harm(folder / "file", precious)
    if harm is as_second_name and mode == "rb":
        assert read_own(folder / "file", 100) == b"precious"  # reading does no harm
    else:
        with pytest.raises(UnsafeStateError):
            open_stream(folder / "file", mode)
    assert precious.read_text() == "precious"
    assert not precious.with_name("new").exists()
    assert harm in (as_link_to_nothing,) or is_own_file(folder / "file") is False


@pytest.mark.parametrize("harm", [as_link, as_link_to_nothing, as_second_name], ids=lambda one: one.__name__)
def test_a_new_file_takes_the_place_of_what_is_there(
    harm: Callable[[Path, Path], None], tmp_path: Path, precious: Path
) -> None:
    harm(tmp_path / "file", precious)
    with os.fdopen(create_new(tmp_path / "file"), "w") as stream:
        stream.write("ours")
    assert (tmp_path / "file").read_text() == "ours"
    assert precious.read_text() == "precious"
    assert is_own_file(tmp_path / "file")


def test_no_file_is_opened_in_a_folder_behind_a_link(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UnsafeStateError, match="is a link"):
        open_own(tmp_path / "link" / precious.name, os.O_RDONLY)
    with pytest.raises(UnsafeStateError, match="is a link"):
        check_folder(tmp_path / "link")


def test_a_file_that_is_missing_or_a_folder_is_an_error_of_the_system(tmp_path: Path, precious: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_own(tmp_path / "missing", 1)
    with pytest.raises(NotADirectoryError):
        read_own(precious / "file", 1)
    with pytest.raises(IsADirectoryError):
        read_own(tmp_path, 1)
    with pytest.raises(StoreError, match="is not a directory"):
        check_folder(precious)


def test_only_the_beginning_of_a_file_is_read(precious: Path) -> None:
    assert read_own(precious, 4) == b"prec"
