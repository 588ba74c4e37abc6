from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cairn.source.commits import CommittedChange, list_commits, read_commits, shallow_commits
from cairn.source.git import find_repository
from conftest import Git


@pytest.fixture
def history(checkout: Path, git: Git) -> Path:
    """A repository with three commits, a rename in the last."""
    (checkout / "a.txt").write_text("".join(f"line {number}\n" for number in range(20)))
    commit(checkout, git, "Add a file")
    (checkout / "b.txt").write_text("b\n")
    commit(checkout, git, "Add another\n\nIt says b.")
    git(checkout, "mv", "a.txt", "c.txt")
    commit(checkout, git, "Rename the first")
    return checkout


def commit(checkout: Path, git: Git, message: str, author: str = "A <a@example.org>") -> str:
    git(checkout, "add", "--all")
    git(checkout, "commit", "-q", "--allow-empty", "--author", author, "-m", message)
    return git(checkout, "rev-parse", "HEAD")


def listed(checkout: Path, git: Git, limit: int = 100) -> list[str]:
    return list_commits(checkout, git(checkout, "rev-parse", "HEAD"), limit).hashes


def test_commits_are_read_newest_first_with_their_files(history: Path, git: Git) -> None:
    commits = read_commits(history, listed(history, git))
    assert [one.message.partition("\n")[0] for one in commits] == ["Rename the first", "Add another", "Add a file"]
    assert [one.changes for one in commits] == [
        (CommittedChange("c.txt", "a.txt"),),
        (CommittedChange("b.txt"),),
        (CommittedChange("a.txt"),),
    ]
    assert all(one.seconds > 0 for one in commits)


def test_no_more_commits_are_listed_than_the_limit(history: Path, git: Git) -> None:
    assert len(listed(history, git, 2)) == 2
    assert listed(history, git, 0) == []
    assert list_commits(history, "--all", 10).hashes == []


def test_merges_are_left_out_also_of_many_branches(history: Path, git: Git) -> None:
    for name in ("one", "two", "three"):
        git(history, "checkout", "-q", "-b", name, "main")
        (history / f"{name}.txt").write_text(name)
        commit(history, git, f"Add {name}")
    git(history, "checkout", "-q", "main")
    git(history, "merge", "-q", "-m", "Merge all", "one", "two", "three")
    subjects = [one.message.strip() for one in read_commits(history, listed(history, git))]
    assert "Merge all" not in subjects
    assert {"Add one", "Add two", "Add three"} <= set(subjects)


def test_what_a_program_committed_is_known_and_no_name_is_kept(checkout: Path, git: Git) -> None:
    commit(checkout, git, "Bump it", author="dependabot[bot] <support@example.org>")
    commit(checkout, git, "Work", author="Ada Lovelace <ada@example.org>")
    person, program = read_commits(checkout, listed(checkout, git))
    assert program.by_program
    assert not person.by_program
    assert "Lovelace" not in repr(person)
    assert "ada@" not in repr(person)


def test_a_damaged_commit_costs_no_other(history: Path, git: Git) -> None:
    hashes = listed(history, git)
    broken = history / ".git" / "objects" / hashes[1][:2] / hashes[1][2:]
    broken.chmod(0o600)
    broken.write_bytes(b"nonsense")
    found = list_commits(history, hashes[0], 100)
    assert found.is_cut
    commits = read_commits(history, hashes)
    assert [bool(one.message) for one in commits] == [True, False, True]


def test_the_parents_of_commits_and_of_merges_are_known(history: Path, git: Git) -> None:
    git(history, "checkout", "-q", "-b", "side")
    commit(history, git, "Do something aside")
    git(history, "checkout", "-q", "main")
    for number in range(4):
        git(history, "merge", "-q", "--no-ff", "-m", f"Merge {number}", "side")
        git(history, "checkout", "-q", "side")
        commit(history, git, f"Do {number} aside")
        git(history, "checkout", "-q", "main")
    merge = git(history, "rev-parse", "HEAD").strip()
    found = list_commits(history, merge, 6)
    assert len(found.hashes) == 6  # among ten commits
    assert found.parents[merge] == git(history, "rev-parse", "HEAD^1", "HEAD^2").split()
    assert found.parents[found.hashes[0]] == [git(history, "rev-parse", f"{found.hashes[0]}^").strip()]


def test_a_line_that_git_could_not_finish_costs_no_other(
    history: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list_commits(history, head := git(history, "rev-parse", "HEAD"), 10)
    cut = f"{head} {whole.hashes[1]}\n{whole.hashes[1][:17]}".encode()
    crashed = subprocess.CompletedProcess([], -11, cut, b"")
    monkeypatch.setattr("cairn.source.commits.run_git", lambda *_: crashed)
    listed = list_commits(history, head, 10)
    assert (listed.hashes, listed.is_cut, dict(listed.parents)) == ([head], True, {head: [whole.hashes[1]]})


def test_the_end_of_a_shallow_clone_is_known(history: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=2", history.as_uri(), str(clone)], check=True)
    repository = find_repository(clone)
    assert repository is not None
    assert shallow_commits(repository) == {listed(history, git)[1]}
    whole = find_repository(history)
    assert whole is not None
    assert shallow_commits(whole) == frozenset()


def test_a_message_in_another_encoding_is_read(checkout: Path, git: Git) -> None:
    git(checkout, "config", "i18n.commitEncoding", "iso-8859-1")
    (checkout / "message").write_bytes("Löse es".encode("iso-8859-1"))
    git(checkout, "commit", "-q", "--allow-empty", "-F", "message")
    [only] = read_commits(checkout, listed(checkout, git))
    assert only.message.strip() == "Löse es"


def test_programs_that_a_repository_names_are_not_run(history: Path, git: Git, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o700)
    (history / ".gitattributes").write_text("* diff=evil filter=evil\n")
    for name in ("diff.evil.command", "diff.evil.textconv", "diff.external", "filter.evil.clean", "core.fsmonitor"):
        git(history, "config", name, str(program))
    git(history, "config", "gpg.program", str(program))
    git(history, "config", "log.showSignature", "true")
    assert len(read_commits(history, listed(history, git))) == 3
    assert not mark.exists()


def test_an_empty_file_is_not_taken_for_another_by_a_new_name(checkout: Path, git: Git) -> None:
    (checkout / "one").mkdir()
    (checkout / "one" / "__init__.py").touch()
    commit(checkout, git, "Start one")
    git(checkout, "rm", "-rq", "one")
    (checkout / "two").mkdir()
    (checkout / "two" / "__init__.py").touch()
    newest = commit(checkout, git, "Start two instead")
    [found] = read_commits(checkout, [newest])
    assert found.changes == (CommittedChange("one/__init__.py"), CommittedChange("two/__init__.py"))
