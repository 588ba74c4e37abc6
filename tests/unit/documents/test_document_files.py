from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cairn.documents.files import delete_file, read_file, write_file
from cairn.errors import ConfigError


def test_a_file_is_written_and_its_folders_are_made(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "settings.json"

    write_file(file, None, b"{}")

    assert read_file(file) == b"{}"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755])
def test_the_permissions_of_a_file_stay(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"old")
    file.chmod(mode)

    write_file(file, b"old", b"new")

    assert (read_file(file), stat.S_IMODE(file.stat().st_mode)) == (b"new", mode)


def test_a_link_stays_and_the_file_that_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "real.json").write_bytes(b"old")
    (tmp_path / "folder").symlink_to("dotfiles")
    link = tmp_path / "settings.json"
    link.symlink_to("folder/real.json")

    write_file(link, b"old", b"new")

    assert os.readlink(link) == "folder/real.json"
    assert (tmp_path / "dotfiles" / "real.json").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path / "dotfiles")) == ["real.json"]


def test_a_link_to_nothing_gets_its_file(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to("elsewhere/real.json")

    write_file(link, read_file(link), b"new")

    assert link.is_symlink()
    assert (tmp_path / "elsewhere" / "real.json").read_bytes() == b"new"


def test_what_another_program_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"theirs")

    for old in (b"old", None):
        with pytest.raises(ConfigError, match="was changed by another program"):
            write_file(file, old, b"ours")
    with pytest.raises(ConfigError, match="was changed by another program"):
        delete_file(file, b"old")

    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"theirs", ["settings.json"])


def test_a_directory_or_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for file, words in (
        (tmp_path, "Is a directory"),
        (Path("/dev/null"), "is a device"),
        (tmp_path / "pipe", "a pipe"),
    ):
        with pytest.raises(ConfigError, match=words):
            read_file(file)
        with pytest.raises(ConfigError, match="is not a regular file"):
            write_file(file, b"", b"new")


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"old")
    file.chmod(0o444)

    with pytest.raises(ConfigError, match="is read-only"):
        write_file(file, b"old", b"new")

    assert file.read_bytes() == b"old"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")

    with pytest.raises(ConfigError, match="cannot be written: Not a directory"):
        write_file(tmp_path / "a" / "settings.json", None, b"new")


def test_a_file_is_deleted_and_of_a_link_only_the_link(tmp_path: Path) -> None:
    file, link = tmp_path / "settings.json", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(file)

    delete_file(link, b"old")
    assert (file.exists(), link.is_symlink()) == (True, False)

    delete_file(file, b"old")
    assert not file.exists()
