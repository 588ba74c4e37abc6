"""The home folder and `/` hold much more than a project: they are indexed only when their user names them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import PathError, ProjectError
from cairn.index.project import is_everything
from cairn.mcp.project import Project
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from in_process import cairn

Git = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.py").write_text("a = 1\n")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


async def no_roots() -> list[str]:
    return []


def test_the_home_folder_the_root_and_what_holds_homes_are_everything(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert is_everything(home)
    assert is_everything(tmp_path / "link")
    assert is_everything("/")
    assert not is_everything(home / "notes")
    assert not is_everything(tmp_path)


@pytest.mark.parametrize("is_checkout", [False, True])
def test_a_home_folder_is_a_project_only_when_it_is_named(
    is_checkout: bool, home: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_checkout:
        git(home, "init", "-q")
    monkeypatch.chdir(home)
    with pytest.raises(PathError, match="only when you name it") as caught:
        Workspace.containing(".").index()
    assert caught.value.hint.endswith(f"cairn index {home}")
    assert Workspace.containing(home).root == home
    Registry(StateFolder.of_user()).add(home, "home")
    assert Workspace.containing(".").root == home


def test_a_folder_in_a_home_under_version_control_is_a_project_of_its_own_when_it_is_named(
    home: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(home, "init", "-q")
    notes = home / "notes"
    monkeypatch.chdir(notes)
    with pytest.raises(PathError, match="only when you name it") as caught:
        Workspace.containing(".").index()
    assert caught.value.hint.endswith(f"cairn index {notes}")
    with Workspace.containing(notes) as workspace:
        assert workspace.root == notes
        assert workspace.index().files == 1
    with Workspace.containing(".") as workspace:
        assert workspace.root == notes


def test_a_project_below_the_home_folder_needs_no_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "notes")
    assert Workspace.containing(".").root == home / "notes"


def test_the_root_is_a_project_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    with pytest.raises(PathError, match="only when you name it"):
        Workspace.containing(".").index()
    assert Workspace.containing("/").root == Path("/")


def test_commands_in_a_home_folder_say_how_to_name_it_and_write_nothing(home: Path) -> None:
    for arguments in (["index"], ["search", "a"], ["index", "--watch"], ["map"]):
        done = cairn(*arguments, cwd=home)
        assert done.returncode == 2, done.stderr
        assert f"cairn index {home}" in done.stderr
    assert not (home / ".cairn").exists()


def test_a_home_folder_that_an_option_gives_as_a_dot_is_named(home: Path) -> None:
    for arguments in (["search", "a", "-C", "."], ["index", "-C", "."], ["search", "a"]):
        done = cairn(*arguments, cwd=home)
        assert done.returncode == 0, done.stderr
    assert (home / ".cairn" / "index.db").is_file()


def test_an_agent_in_a_home_folder_has_no_project_until_its_user_indexed_it(home: Path, git: Git) -> None:
    git(home, "init", "-q")
    folder = StateFolder.of_user()
    with pytest.raises(ProjectError, match="much more than a project"):
        asyncio.run(Project(str(home / "notes"), folder, no_roots).allow())
    assert not Registry(folder).knows(home, "")
    Registry(folder).add(home, "home")
    assert asyncio.run(Project(str(home / "notes"), folder, no_roots).allow()) == str(home)


def test_the_root_and_a_home_folder_are_no_state_folders_of_any_command(home: Path) -> None:
    for state in ("/", str(home), "~"):
        for arguments in (["status"], ["doctor"], ["search", "a"], ["index"], ["callers", "a"]):
            done = cairn(*arguments, cwd=home / "notes", environment={"CAIRN_STATE_DIR": state})
            assert done.returncode == 2
            assert "cannot be the state folder" in done.stderr
            assert "set CAIRN_STATE_DIR to a folder of its own" in done.stderr
    assert sorted(path.name for path in home.iterdir()) == ["notes"]
