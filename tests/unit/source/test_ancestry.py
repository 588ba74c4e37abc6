from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cairn.source.ancestry import branch_stamp, branch_tips, default_branch, first_commit_of, not_behind


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "trunk")
    commit(tmp_path)
    return tmp_path


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    result = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)
    return result.stdout.decode().strip()


def commit(root: Path) -> str:
    git(root, "commit", "-q", "--allow-empty", "-m", "work")
    return git(root, "rev-parse", "HEAD")


def test_branches_are_told_with_their_commits_a_local_one_before_that_of_the_remote(root: Path) -> None:
    first = git(root, "rev-parse", "HEAD")
    git(root, "update-ref", "refs/remotes/origin/trunk", first)
    git(root, "update-ref", "refs/remotes/origin/topic/far", first)
    second = commit(root)
    assert branch_tips(root) == {"trunk": second, "topic/far": first}


def test_the_default_branch_is_what_the_remote_says_or_a_usual_name(root: Path) -> None:
    assert default_branch(root, ["trunk", "master", "main"]) == "main"
    assert default_branch(root, ["trunk", "master"]) == "master"
    assert default_branch(root, ["trunk"]) == ""
    git(root, "update-ref", "refs/remotes/origin/trunk", "HEAD")
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert default_branch(root, ["trunk", "main"]) == "trunk"


def test_commits_that_another_does_not_have_behind_it_are_found(root: Path) -> None:
    old = git(root, "rev-parse", "HEAD")
    new = commit(root)
    assert not_behind(root, [old, new, "0" * 40, "HEAD", "--all"], old) == {new}
    assert not_behind(root, [old, new], new) == set()
    assert not_behind(root, [new], "") == set()


def test_a_branch_began_where_its_reflog_says(root: Path) -> None:
    start = git(root, "rev-parse", "HEAD")
    git(root, "switch", "-q", "-c", "work")
    commit(root)
    assert first_commit_of(root, "work") == start
    assert first_commit_of(root, "unknown") == ""
    assert first_commit_of(root, "--all") == ""


def test_a_name_that_no_branch_can_have_has_a_stamp_too(root: Path) -> None:
    assert branch_stamp(root / ".git", "a\0b") == branch_stamp(root / ".git", "unknown")
    assert branch_stamp(root / ".git", "trunk") != branch_stamp(root / ".git", "unknown")
