from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import PathError
from cairn.source.git import (
    Repository,
    current_branch,
    find_ignored,
    find_repository,
    head_revision,
    is_ignored,
    list_files,
)

Git = Callable[..., str]


def repository_of(folder: Path) -> Repository:
    repository = find_repository(folder)
    assert repository is not None
    return repository


def commit(git: Git, folder: Path, name: str = "a.py") -> str:
    (folder / name).write_text("x = 1\n")
    git(folder, "add", "-f", name)
    git(folder, "commit", "-q", "-m", "add")
    return git(folder, "rev-parse", "HEAD")


def test_folder_below_a_checkout_finds_its_top(git: Git, checkout: Path) -> None:
    inner = checkout / "a" / "b"
    inner.mkdir(parents=True)
    assert repository_of(inner) == Repository(checkout, checkout / ".git", checkout / ".git")


def test_folder_reached_through_a_link_finds_the_real_top(git: Git, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checkout)
    assert repository_of(tmp_path / "link").work_tree == checkout


def test_folder_outside_git_has_no_repository(git: Git, tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None


@pytest.mark.parametrize("name", ["with space", "line\nbreak", "-dash", ":(top)", os.fsdecode(b"not\xffutf8"), "é"])
def test_checkout_with_an_odd_name_is_found(name: str, git: Git, tmp_path: Path) -> None:
    folder = tmp_path / name / name
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    assert repository_of(folder) == Repository(folder, folder / ".git", folder / ".git")


def test_linked_worktree_shares_the_common_folder(git: Git, checkout: Path, tmp_path: Path) -> None:
    commit(git, checkout)
    git(checkout, "worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "linked"))
    (tmp_path / "linked" / "sub").mkdir()
    repository = repository_of(tmp_path / "linked" / "sub")
    assert repository.work_tree == tmp_path / "linked"
    assert repository.git_dir == checkout / ".git" / "worktrees" / "linked"
    assert repository.common_dir == checkout / ".git"
    assert current_branch(repository) == "feature/x"


def test_missing_folder_and_a_file_are_refused(git: Git, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(PathError, match="is not a folder"):
            find_repository(path)


def test_bare_repository_is_refused_with_a_way_out(git: Git, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(PathError, match="bare repository") as caught:
        find_repository(tmp_path / "bare.git")
    assert "git worktree add" in caught.value.hint


def test_worktree_of_a_bare_repository_is_a_checkout(git: Git, checkout: Path, tmp_path: Path) -> None:
    commit(git, checkout)
    git(tmp_path, "clone", "-q", "--bare", str(checkout), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    repository = repository_of(tmp_path / "tree")
    assert (repository.work_tree, repository.common_dir) == (tmp_path / "tree", tmp_path / "bare.git")
    assert list_files(tmp_path / "tree").paths == ["a.py"]


def test_git_folder_itself_is_refused(git: Git, checkout: Path) -> None:
    with pytest.raises(PathError, match=r"inside the \.git folder"):
        find_repository(checkout / ".git")


def test_repository_of_another_owner_is_refused_with_gits_advice(
    git: Git, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch for its tests of this
    with pytest.raises(PathError, match="dubious ownership") as caught:
        find_repository(checkout)
    assert caught.value.hint == f"git config --global --add safe.directory {checkout}"


def test_a_repository_that_needs_a_newer_git_names_what_it_uses(git: Git, checkout: Path) -> None:
    git(checkout, "config", "extensions.fromTheFuture", "true")
    git(checkout, "config", "core.repositoryFormatVersion", "1")
    reason = "git is too old for the repository .*extensions? found: fromthefuture$"
    with pytest.raises(PathError, match=reason) as caught:
        find_repository(checkout)
    assert str(caught.value.hint) == "upgrade it, see: git --version"


@pytest.mark.parametrize(
    "answer",
    [
        "printf '%s\\n' false true --absolute-git-dir --cairn .git --cairn $PWD",
        "echo 'Unknown option: -c' >&2; exit 129",
    ],
    ids=["repeats what it does not know", "refuses it"],
)
def test_a_git_from_before_the_options_that_are_used_is_said_to_be_too_old(
    answer: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old" / "git"
    old.parent.mkdir()
    old.write_text(f"#!/bin/sh\n{answer}\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(old.parent), prepend=os.pathsep)
    with pytest.raises(PathError, match="git is too old for the repository at ") as caught:
        find_repository(checkout)
    assert str(caught.value.hint) == "upgrade it, see: git --version"


def test_repository_that_git_cannot_read_is_an_error_in_gits_words(git: Git, checkout: Path) -> None:
    (checkout / ".git" / "config").write_text("[core\n")
    with pytest.raises(PathError, match="bad config line"):
        find_repository(checkout)


def test_a_folder_that_goes_is_not_taken_for_missing_git(checkout: Path) -> None:
    shutil.rmtree(checkout)
    assert find_ignored(checkout, ["a.py"]) == set()
    with pytest.raises(PathError, match="No such file"):
        list_files(checkout)


def test_worktree_whose_repository_is_gone_has_no_repository(git: Git, checkout: Path, tmp_path: Path) -> None:
    commit(git, checkout)
    git(checkout, "worktree", "add", "-q", str(tmp_path / "linked"))
    shutil.rmtree(checkout)
    assert find_repository(tmp_path / "linked") is None


def test_without_git_there_is_no_repository(git: Git, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert find_repository(checkout) is None


def test_variables_of_a_surrounding_git_hook_do_not_matter(
    git: Git, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(git, checkout)
    git(tmp_path, "init", "-q", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / "index"))
    monkeypatch.setenv("GIT_PREFIX", "sub/")
    monkeypatch.setenv("GIT_TRACE", "1")
    assert repository_of(checkout).work_tree == checkout
    assert list_files(checkout).paths == ["a.py"]


def test_files_are_listed_from_within_a_real_hook(git: Git, checkout: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import pathlib, sys; from cairn.source.git import find_repository, list_files\n"
        f"repository = find_repository(pathlib.Path({str(tmp_path / 'other')!r}))\n"
        f"pathlib.Path({str(tmp_path / 'out')!r}).write_text(repr(list_files(repository.work_tree).paths))\n"
    )
    git(tmp_path, "init", "-q", "other")
    commit(git, tmp_path / "other", "other.py")
    hook = checkout / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} {program}\n")
    hook.chmod(0o755)
    commit(git, checkout)
    assert (tmp_path / "out").read_text() == "['other.py']"


def test_branch_is_known_before_the_first_commit(git: Git, checkout: Path) -> None:
    repository = repository_of(checkout)
    assert current_branch(repository) == "main"
    assert head_revision(repository) is None


def test_before_the_first_commit_nothing_has_to_ask_git(
    git: Git, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = repository_of(checkout)
    monkeypatch.setenv("PATH", str(checkout))  # where no git is
    assert (current_branch(repository), head_revision(repository)) == ("main", None)


def test_branch_and_revision_follow_the_checkout(git: Git, checkout: Path) -> None:
    repository = repository_of(checkout)
    first = commit(git, checkout)
    assert head_revision(repository) == first
    git(checkout, "switch", "-q", "-c", "topic/é")
    second = commit(git, checkout, "b.py")
    assert (current_branch(repository), head_revision(repository)) == ("topic/é", second)


def test_revision_is_read_from_packed_references(git: Git, checkout: Path) -> None:
    revision = commit(git, checkout)
    git(checkout, "pack-refs", "--all")
    assert not (checkout / ".git" / "refs" / "heads" / "main").exists()
    assert head_revision(repository_of(checkout)) == revision


def test_branch_and_revision_are_read_from_a_reftable(git: Git, tmp_path: Path) -> None:
    try:
        git(tmp_path, "init", "-q", "--ref-format=reftable", ".")
    except subprocess.CalledProcessError:
        pytest.skip("this git knows no reftable")
    assert (current_branch(repository_of(tmp_path)), head_revision(repository_of(tmp_path))) == ("main", None)
    revision = commit(git, tmp_path)
    assert (current_branch(repository_of(tmp_path)), head_revision(repository_of(tmp_path))) == ("main", revision)


def test_detached_head_has_a_revision_and_no_branch(git: Git, checkout: Path) -> None:
    revision = commit(git, checkout)
    git(checkout, "checkout", "-q", "--detach")
    repository = repository_of(checkout)
    assert current_branch(repository) is None
    assert head_revision(repository) == revision


def test_list_holds_tracked_and_untracked_files_but_not_ignored_ones(git: Git, checkout: Path) -> None:
    (checkout / ".gitignore").write_text("*.log\nbuild/\n")
    commit(git, checkout)
    commit(git, checkout, "tracked.log")
    (checkout / "untracked.py").touch()
    (checkout / "ignored.log").touch()
    (checkout / "build").mkdir()
    (checkout / "build" / "out.py").touch()
    assert list_files(checkout).paths == [".gitignore", "a.py", "tracked.log", "untracked.py"]


def test_list_of_a_subfolder_is_relative_to_it(git: Git, checkout: Path) -> None:
    commit(git, checkout)
    (checkout / "sub" / "deep").mkdir(parents=True)
    (checkout / "sub" / "deep" / "b.py").touch()
    assert list_files(checkout / "sub").paths == ["deep/b.py"]


def test_file_in_conflict_is_listed_once(git: Git, checkout: Path) -> None:
    commit(git, checkout)
    git(checkout, "switch", "-q", "-c", "other")
    (checkout / "a.py").write_text("other\n")
    git(checkout, "commit", "-q", "-a", "-m", "other")
    git(checkout, "switch", "-q", "main")
    (checkout / "a.py").write_text("main\n")
    git(checkout, "commit", "-q", "-a", "-m", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(checkout, "merge", "-q", "other")
    assert list_files(checkout).paths == ["a.py"]


def test_folder_without_its_own_repository_is_not_answered_by_the_outer_one(git: Git, checkout: Path) -> None:
    (checkout / "sub").mkdir()
    (checkout / "sub" / "a.py").touch()
    assert list_files(checkout / "sub").paths == ["a.py"]
    with pytest.raises(PathError, match="not a git repository"):
        list_files(checkout / "sub", own_repository=True)


def test_listing_writes_nothing_to_the_repository(git: Git, checkout: Path) -> None:
    commit(git, checkout)
    os.utime(checkout / "a.py", ns=(1, 1))
    index = checkout / ".git" / "index"
    before = index.read_bytes()
    list_files(checkout)
    assert index.read_bytes() == before


def test_ignored_folder_is_told(git: Git, checkout: Path) -> None:
    (checkout / ".gitignore").write_text("build/\n")
    (checkout / "build" / "inner").mkdir(parents=True)
    assert is_ignored(checkout / "build" / "inner")
    assert not is_ignored(checkout)


def test_something_else_is_done_while_git_lists(checkout: Path) -> None:
    (checkout / "a.py").touch()
    done: list[str] = []
    assert list_files(checkout, meanwhile=lambda: done.append("this")).paths == ["a.py"]
    assert done == ["this"]


def test_an_interrupt_of_what_is_done_meanwhile_ends_git_and_goes_on(checkout: Path) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list_files(checkout, meanwhile=interrupted)


@pytest.mark.parametrize(
    "head",
    [
        b"ref: refs/heads/\x1b]0;title\x07",
        b"ref: refs/heads/a b",
        b"ref: refs/heads/" + b"a" * 5_000,
        b"",
        b"\xff",
        b"x" * 20_000,
    ],
)
def test_a_head_that_names_no_branch_is_no_branch(head: bytes, git: Git, checkout: Path) -> None:
    commit(git, checkout)
    repository = repository_of(checkout)
    (checkout / ".git" / "HEAD").write_bytes(head)
    assert current_branch(repository) is None


def test_a_head_that_leads_out_of_the_repository_is_not_followed(git: Git, checkout: Path, tmp_path: Path) -> None:
    commit(git, checkout)
    repository = repository_of(checkout)
    (tmp_path / "outside").write_text("1" * 40)
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/../../../../outside\n")
    assert head_revision(repository) is None


def test_a_pipe_in_the_place_of_a_head_is_not_waited_for(git: Git, checkout: Path) -> None:
    commit(git, checkout)
    repository = repository_of(checkout)
    (checkout / ".git" / "HEAD").unlink()
    os.mkfifo(checkout / ".git" / "HEAD")
    assert current_branch(repository) is None


def test_a_folder_that_looks_like_a_repository_is_not_used_below_a_checkout(git: Git, checkout: Path) -> None:
    commit(git, checkout)
    inner = checkout / "inner"
    git(checkout, "init", "-q", "--bare", "inner")
    (inner / "config").write_text("[core]\n\tbare = false\n\tworktree = .\n")
    for folder in (inner, inner / "refs"):
        with pytest.raises(PathError, match="bare repository"):
            find_repository(folder)
    assert repository_of(checkout).work_tree == checkout


def test_settings_that_make_the_checkout_larger_are_refused(git: Git, checkout: Path) -> None:
    git(checkout, "config", "core.worktree", "../..")
    with pytest.raises(PathError, match="names another folder as its checkout"):
        find_repository(checkout)
