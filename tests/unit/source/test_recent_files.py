from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cairn.source.git import find_repository
from cairn.source.recent_files import RecentFiles
from conftest import Git


def recent(root: Path) -> RecentFiles:
    return RecentFiles(root, find_repository(root))


def commit(git: Git, root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{path} {os.urandom(4).hex()}\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "work")


@pytest.fixture
def root(checkout: Path, git: Git) -> Path:
    for number in range(6):
        commit(git, checkout, f"f{number}.py")
    return checkout


def test_on_the_default_branch_the_last_few_commits_count(root: Path) -> None:
    assert recent(root).of_commits() == {"f3.py", "f4.py", "f5.py"}


def test_on_another_branch_what_it_added_counts(root: Path, git: Git) -> None:
    git(root, "switch", "-qc", "topic")
    commit(git, root, "a b.py", "deep/\u00e4.py")
    commit(git, root, "c.py")
    assert recent(root).of_commits() == {"a b.py", "deep/\u00e4.py", "c.py"}


def test_a_branch_that_adds_nothing_yet_is_like_the_one_it_comes_from(root: Path, git: Git) -> None:
    git(root, "switch", "-qc", "topic")
    assert recent(root).of_commits() == {"f3.py", "f4.py", "f5.py"}


def test_a_new_commit_is_noticed_and_paths_are_relative_to_the_project(root: Path, git: Git) -> None:
    commit(git, root, "part/x.py")
    files = recent(root / "part")
    assert files.of_commits() == {"x.py"}
    commit(git, root, "part/y.py")
    assert "y.py" in files.of_commits()


def test_what_is_not_committed_counts_of_the_files_asked_for(root: Path, git: Git) -> None:
    for path in ("f0.py", "f1.py"):
        os.utime(root / path, ns=(10**18, 10**18))
    git(root, "update-index", "--refresh")
    (root / "f1.py").write_text("edited\n")
    (root / "new.py").write_text("new\n")
    (root / "f2.py").write_text("edited\n")
    assert recent(root).find_changed(["f0.py", "f1.py", "new.py", "gone.py", "a\0b"]) == {"f1.py", "new.py"}


def test_what_differs_only_in_its_times_or_line_ends_did_not_change(root: Path, git: Git, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    copy = shutil.copytree(root, tmp_path / "copy")
    git(root, "mv", "f0.py", "away.py")
    git(root, "mv", "away.py", "f0.py")
    (root / "f1.py").write_bytes((root / "f1.py").read_bytes().replace(b"\n", b"\r\n"))
    (root / "f2.py").write_text("edited\n")
    paths = ["f0.py", "f1.py", "f2.py"]
    assert recent(root).find_changed(paths) == {"f2.py"}
    assert recent(tmp_path / "other").find_changed(paths) == set()
    assert recent(copy).find_changed(paths) == set()


def test_outside_git_and_before_the_first_commit_nothing_is_recent(tmp_path: Path, checkout: Path) -> None:
    assert RecentFiles(tmp_path, None).of_commits() == frozenset()
    assert RecentFiles(tmp_path, None).find_changed(["a"]) == set()
    assert recent(checkout).of_commits() == frozenset()


def test_no_program_of_the_repository_runs(root: Path, git: Git, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    for name in ("diff.external", "diff.evil.textconv", "filter.evil.clean", "core.fsmonitor"):
        git(root, "config", name, f"touch {proof}; cat")
    (root / ".gitattributes").write_text("* diff=evil filter=evil\n")
    (root / "f5.py").write_text("edited\n")
    files = recent(root)
    assert files.of_commits()
    assert files.find_changed(["f5.py"]) == {"f5.py"}
    assert not proof.exists()


def test_the_branch_that_the_remote_calls_its_own_is_the_default_one(root: Path, git: Git) -> None:
    assert not recent(root).is_of_default("v2")
    git(root, "update-ref", "refs/remotes/origin/v2", "HEAD")
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/v2")
    assert recent(root).is_of_default("v2")
    assert not recent(root).is_of_default("topic")
    assert not RecentFiles(root, None).is_of_default("")
