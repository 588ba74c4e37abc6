"""Memories whose files git renamed: listed, shown, kept and untied by what the files are called now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cairn.errors import NotFoundError
from cairn.operations import perform
from cairn.protocol.memory_requests import (
    MemoriesRequest,
    MemoryChangeRequest,
    MemoryCodeRequest,
    MemoryEditRequest,
    MemoryKeepRequest,
    MemoryRequest,
)
from cairn.workspace import Workspace
from conftest import Git

CODE = """class Pool:
    def take(self) -> int:
        return self.free.pop()


def size(pool):
    return len(pool.free)
"""


class Renamed:
    """A project in which `db.py`, of which a memory speaks, became `lib/pool.py`."""

    def __init__(self, workspace: Workspace, git: Git) -> None:
        self.root, self.workspace, self._git = workspace.root, workspace, git
        (self.root / "db.py").write_text(CODE)
        git(self.root, "add", ".")
        git(self.root, "commit", "-q", "-m", "Begin")
        files = ("db.py::Pool", "db.py")
        made = workspace.memory.remember("Take never waits for a connection.", files=files, tags=("pool",))
        self.id = made.observation.id
        (self.root / "lib").mkdir()
        git(self.root, "mv", "db.py", "lib/pool.py")
        git(self.root, "commit", "-q", "-m", "Say what it holds")

    def edit(self) -> None:
        """Change the code of which the memory speaks."""
        (self.root / "lib/pool.py").write_text(CODE.replace("pop()", "pop(0)"))
        self._git(self.root, "commit", "-q", "-a", "-m", "Take the oldest")

    def ask(self, operation: str, request: Any) -> Any:  # noqa: ANN401 - JSON
        return perform(self.workspace, operation, request)

    def links(self) -> list[str]:
        """Return what the memory itself says that it is tied to."""
        return [f"{link.path}::{link.symbol}" for link in self.workspace.memory.store.observation(self.id).links]

    def doubts(self) -> list[str]:
        """Return which of its code is not as it was."""
        staleness = self.workspace.memory.recall.staleness(self.workspace.memory.store.observation(self.id))
        return [*staleness.changed, *staleness.gone]


@pytest.fixture
def renamed(checkout: Path, git: Git) -> Iterator[Renamed]:
    with Workspace.open(checkout) as workspace:
        yield Renamed(workspace, git)


@pytest.mark.parametrize("file", ["lib/pool.py", "lib", "lib/", "db.py"])
def test_a_memory_is_listed_by_the_file_or_folder_of_now(renamed: Renamed, file: str) -> None:
    found = renamed.ask("memories", MemoriesRequest(file=file))
    assert [row["files"] for row in found["memories"]] == [["lib/pool.py", "lib/pool.py::Pool"]]
    assert found["total"] == 1
    assert renamed.ask("memories/change", MemoryChangeRequest(action="archive", file=file, dry_run=True))["total"] == 1


def test_a_memory_is_not_listed_by_another_file(renamed: Renamed) -> None:
    for file in ("pool.py", "li", "lib/p"):
        assert renamed.ask("memories", MemoriesRequest(file=file))["memories"] == []


def test_a_memory_is_shown_with_the_files_of_now(renamed: Renamed) -> None:
    (shown,) = renamed.ask("memories/show", MemoryRequest(ids=(renamed.id,)))
    assert shown["files"] == ["lib/pool.py", "lib/pool.py::Pool"]


def test_its_code_is_shown_then_and_now(renamed: Renamed) -> None:
    renamed.edit()
    links = renamed.ask("memories/code", MemoryCodeRequest(id=renamed.id))["links"]
    assert [(code["file"], code["state"]) for code in links] == [
        ("lib/pool.py", "changed"),
        ("lib/pool.py::Pool", "changed"),
    ]
    assert all("-        return self.free.pop()\n+        return self.free.pop(0)" in code["diff"] for code in links)


def test_what_is_kept_is_tied_to_the_file_of_now(renamed: Renamed) -> None:
    renamed.edit()
    assert renamed.doubts() == ["lib/pool.py", "lib/pool.py::Pool"]
    renamed.ask("memories/keep", MemoryKeepRequest(ids=(renamed.id,), actor="person:me"))
    assert renamed.links() == ["lib/pool.py::", "lib/pool.py::Pool"]
    assert renamed.doubts() == []


def test_what_was_only_renamed_is_tied_to_the_file_of_now_too(renamed: Renamed) -> None:
    renamed.ask("memories/keep", MemoryKeepRequest(ids=(renamed.id,), actor="person:me"))
    assert renamed.links() == ["lib/pool.py::", "lib/pool.py::Pool"]
    assert renamed.doubts() == []


@pytest.mark.parametrize("file", ["lib/pool.py::Pool", "db.py::Pool"])
def test_a_link_is_taken_away_by_either_name(renamed: Renamed, file: str) -> None:
    renamed.ask("memories/edit", MemoryEditRequest(id=renamed.id, remove_files=(file,)))
    assert renamed.links() == ["db.py::"]


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        (
            {"remove_files": ("lib/pool.py::size",)},
            "is not tied to lib/pool.py::size",
            "lib/pool.py, lib/pool.py::Pool",
        ),
        ({"remove_files": ("nosuch.py",), "importance": 9}, "is not tied to nosuch.py", "lib/pool.py::Pool"),
        ({"remove_tags": ("nope",), "importance": 9}, "is not tagged nope", "give one of these: pool"),
    ],
)
def test_what_is_not_there_cannot_be_taken_away(
    renamed: Renamed, fields: dict[str, Any], message: str, hint: str
) -> None:
    before = renamed.workspace.memory.store.history(renamed.id)
    with pytest.raises(NotFoundError, match=message) as caught:
        renamed.ask("memories/edit", MemoryEditRequest(id=renamed.id, **fields))
    assert hint in caught.value.hint
    assert renamed.workspace.memory.store.history(renamed.id) == before
