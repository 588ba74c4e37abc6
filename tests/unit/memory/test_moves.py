from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn import Workspace
from cairn.memory.recall import ACTIVE

CODE = """class Pool:
    def take(self) -> int:
        return self.free.pop()

    def give(self, connection: int) -> None:
        self.free.append(connection)
"""


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "pool.py").write_text(CODE)
    (tmp_path / "views.py").write_text("VIEWS = ['start', 'about']\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "start")
    return tmp_path


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Take never waits for a connection.", files=["pool.py::Pool.take"])
        yield workspace


def found(workspace: Workspace) -> list[tuple[tuple[str, ...], str]]:
    return [(hit.files, hit.check) for hit in workspace.memory.answers.find("does take wait for a connection")]


def test_a_memory_follows_its_file_that_git_renames(root: Path, workspace: Workspace) -> None:
    assert found(workspace) == [(("pool.py::Pool.take",), "")]
    git(root, "mv", "pool.py", "connections.py")
    assert found(workspace) == [(("connections.py::Pool.take",), "")]
    git(root, "commit", "-q", "-m", "say what it holds")
    assert found(workspace) == [(("connections.py::Pool.take",), "")]
    stale, ids = workspace.memory.recall.find_stale(ACTIVE, 10)
    assert (stale, len(ids)) == ({}, 1)


def test_a_renamed_file_that_changed_shows_its_memory_with_what_changed(root: Path, workspace: Workspace) -> None:
    (root / "lib").mkdir()
    git(root, "mv", "pool.py", "lib/pool.py")
    (root / "lib/pool.py").write_text(CODE.replace("pop()", "pop(0)"))
    git(root, "commit", "-q", "-a", "-m", "take the oldest")
    assert found(workspace) == [(("lib/pool.py::Pool.take",), "check: code changed since: lib/pool.py::Pool.take")]
    git(root, "mv", "lib/pool.py", "lib/oldest.py")  # once more, not committed
    assert found(workspace) == [(("lib/oldest.py::Pool.take",), "check: code changed since: lib/oldest.py::Pool.take")]


def test_the_memories_of_a_file_are_those_from_before_it_was_renamed_too(root: Path, workspace: Workspace) -> None:
    git(root, "mv", "pool.py", "connections.py")
    git(root, "commit", "-q", "-m", "say what it holds")
    (hit,) = workspace.memory.answers.about(["connections.py"])
    assert hit.why == "about connections.py::Pool.take"
    assert workspace.memory.recall.linked_paths() == ["connections.py"]
    (new,) = workspace.memory.recall.newest()
    assert new.staleness.state == "current"


def test_a_file_that_is_deleted_is_gone_although_another_is_renamed(root: Path, workspace: Workspace) -> None:
    git(root, "mv", "views.py", "pages.py")
    git(root, "rm", "-q", "pool.py")
    git(root, "commit", "-q", "-m", "no pool any more")
    assert found(workspace) == [(("pool.py::Pool.take",), "its code is gone: pool.py::Pool.take")]


def test_a_file_in_its_place_is_not_followed_to_a_copy(root: Path, workspace: Workspace) -> None:
    (root / "copy.py").write_text(CODE)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "copy")
    assert found(workspace) == [(("pool.py::Pool.take",), "")]
