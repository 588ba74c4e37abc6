from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cairn.errors import UnsafeStateError
from cairn.folders import check_private, settings_folder, state_folder, unwritable

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
as_administrator = pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can act for another user")


@pytest.mark.parametrize("value", ["", "relative/folder", "."])
@linux_only
def test_without_an_absolute_folder_in_the_environment_files_are_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {"XDG_CONFIG_HOME": value, "XDG_STATE_HOME": value}
    for given in (environment, {}):
        assert settings_folder(given) == tmp_path / ".config" / "cairn"
        assert state_folder(given) == tmp_path / ".local" / "state" / "cairn"


def test_an_absolute_folder_in_the_environment_is_used_for_what_it_is_for() -> None:
    environment = {"XDG_CONFIG_HOME": "/some/settings", "XDG_STATE_HOME": "/some/state"}
    assert settings_folder(environment) == Path("/some/settings/cairn")
    assert state_folder(environment) == Path("/some/state/cairn")


@linux_only
@as_administrator
def test_a_user_without_a_home_folder_is_told_what_to_set() -> None:
    program = (
        "import os\n"
        "from cairn.errors import ConfigError\n"
        "from cairn.folders import settings_folder, state_folder\n"
        "del os.environ['HOME']\n"
        "os.setuid(54321)\n"
        "for find in (settings_folder, state_folder):\n"
        "    try:\n"
        "        find({})\n"
        "    except ConfigError as error:\n"
        "        print(error, error.hint, sep='; ')\n"
        "print(state_folder({'XDG_STATE_HOME': '/elsewhere'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    told = "your home folder is unknown; set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME\n"
    assert done.stdout == told * 2 + "/elsewhere/cairn\n", done.stderr


# -- safe folders ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755, 0o500])
def test_a_folder_that_only_its_owner_can_write_is_private(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    folder.chmod(mode)
    check_private(folder)
    check_private(folder, follow=False)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_refused_with_the_command_that_closes_it(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UnsafeStateError, match="other users can write") as caught:
        check_private(folder)
    assert shlex.split(caught.value.hint) == ["chmod", "go-w", str(folder)]
    subprocess.run(caught.value.hint, shell=True, check=True)
    check_private(folder)


def test_a_link_to_a_private_folder_is_followed_only_where_the_user_made_it(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("own")
    check_private(tmp_path / "link")
    with pytest.raises(UnsafeStateError, match="is not a directory"):
        check_private(tmp_path / "link", follow=False)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("")
    with pytest.raises(UnsafeStateError, match="is not a directory") as caught:
        check_private(tmp_path / "own")
    assert str(tmp_path / "own") in caught.value.hint


def test_a_missing_folder_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        check_private(tmp_path / "none")


@as_administrator
def test_a_folder_of_another_user_is_refused_with_the_command_that_takes_it_over(tmp_path: Path) -> None:
    folder = tmp_path / "their folder"
    folder.mkdir(mode=0o700)
    os.chown(folder, 54321, -1)
    with pytest.raises(UnsafeStateError, match="belongs to another user") as caught:
        check_private(folder)
    assert caught.value.hint.startswith("sudo chown -R $(id -u) ")
    assert shlex.quote(str(folder)) in caught.value.hint


def test_a_full_disk_is_not_called_read_only() -> None:
    full = unwritable(Path("/some/state/daemon.json"), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert str(full) == "cannot write /some/state/daemon.json: No space left on device"
    assert "free some space" in full.hint
    read_only = unwritable(Path("/some/state"), OSError(errno.EROFS, os.strerror(errno.EROFS)))
    assert read_only.hint == "make it writable, or set XDG_STATE_HOME"
