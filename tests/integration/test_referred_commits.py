"""A report that names the commit which brought the fault finds the files that it changed, by the names of today."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.workspace import Workspace
from conftest import Git

SAME = "def total(prices):\n    return sum(prices)\n"
REPORT = "The total of the prices is wrong\n\nAn empty list gives no sum of prices.\n"


def commit(folder: Path, git: Git, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def blamed(checkout: Path, git: Git) -> str:
    """Make a project of five equal files; return the commit that changed the one which is called zebra.py now."""
    (checkout / ".gitignore").write_text(".cairn\n")
    for name in ("apple", "birch", "cedar", "daisy", "yucca"):
        (checkout / f"{name}.py").write_text(f"{SAME}\n# {name}\n")
    commit(checkout, git, "Start")
    (checkout / "yucca.py").write_text(f"{SAME}\n# yucca tree\n")
    found = commit(checkout, git, "Speak of trees (#31)")
    git(checkout, "mv", "yucca.py", "zebra.py")
    commit(checkout, git, "Move it")
    return found


def shown(project: Path, text: str, settings: Settings | None = None) -> list[tuple[str, str]]:
    with Workspace.open(project, settings=settings) as workspace:
        workspace.index()
        return [(hit.path, hit.part) for hit in workspace.search(text).code]


def test_the_files_of_a_commit_that_a_report_names_come_first_and_say_so(checkout: Path, blamed: str) -> None:
    assert shown(checkout, REPORT)[0] != ("zebra.py", "")
    for reference in (f"Bisected to {blamed}.", f"Broken by {blamed[:10]}", "A regression since #31"):
        found = shown(checkout, f"{REPORT}{reference}\n")
        assert found[0] == ("zebra.py", f"changed by {blamed[:9]}"), reference
        assert {part for _, part in found[1:]} == {""}


def test_a_commit_of_very_many_files_says_nothing(checkout: Path, git: Git, blamed: str) -> None:
    for number in range(30):
        (checkout / f"part{number}.py").write_text(f"{SAME}\n# {number}\n")
    (checkout / "zebra.py").write_text(f"{SAME}\n# zebra\n")
    many = commit(checkout, git, "Add parts")
    assert blamed != many
    assert {part for _, part in shown(checkout, f"{REPORT}Bisected to {many}.\n")} == {""}


def test_without_history_a_hash_says_nothing(checkout: Path, blamed: str) -> None:
    settings = Settings(history=False)
    assert {part for _, part in shown(checkout, f"{REPORT}Bisected to {blamed}.\n", settings)} == {""}
