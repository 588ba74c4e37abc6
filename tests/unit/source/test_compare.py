from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import DiffError, PathError
from cairn.source.compare import Comparison, compare
from cairn.source.git import find_repository

Git = Callable[..., str]


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    (checkout / "sub").mkdir()
    for name in ("a.py", "sub/b.py", "crlf.py", "gone.py", "large.py"):
        (checkout / name).write_text(f"# {name}\none\ntwo\nthree\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "first")
    return checkout


def compared(folder: Path, revision: str = "HEAD", **options: int) -> dict[str, list[tuple[int, int]]]:
    return comparison(folder, revision, **options).changed


def comparison(folder: Path, revision: str = "HEAD", **options: int) -> Comparison:
    repository = find_repository(folder)
    assert repository is not None
    paths = [str(path.relative_to(folder)) for path in folder.rglob("*.py")]
    return compare(folder, repository, revision, [*paths, "never.py"], **options)


def test_files_as_the_revision_has_them_are_not_told(project: Path) -> None:
    os.utime(project / "a.py", (1, 1))
    assert compared(project) == {}


def test_changed_lines_are_told_and_a_new_file_as_a_whole(project: Path, git: Git) -> None:
    (project / "a.py").write_text("# a.py\none\n2\nthree\nfour\n")
    (project / "sub" / "b.py").write_text("# sub/b.py\none\nthree\n")
    (project / "staged.py").write_text("new\n")
    git(project, "add", "staged.py")
    (project / "untracked.py").write_text("new\n")
    (project / "gone.py").unlink()
    expected = {"a.py": [(3, 3), (5, 5)], "sub/b.py": [(2, 2)], "staged.py": [], "untracked.py": []}
    assert compared(project) == expected
    assert compared(project / "sub") == {"b.py": [(2, 2)]}


def test_a_revision_is_compared_with_the_files_on_disk(project: Path, git: Git) -> None:
    (project / "a.py").write_text("# a.py\n")
    git(project, "commit", "-qam", "second")
    assert compared(project) == {}
    assert compared(project, "HEAD~1") == {"a.py": [(1, 1)]}


def test_ends_of_lines_that_git_converts_are_no_change(project: Path) -> None:
    (project / "crlf.py").write_bytes(b"# crlf.py\r\none\r\ntwo\r\nthree\r\n")
    assert compared(project) == {}


def test_a_file_above_the_limit_counts_as_a_whole(project: Path) -> None:
    (project / "large.py").write_text("# large.py\n" * 100)
    (project / "a.py").write_text("x\n")
    assert compared(project, max_file_bytes=50) == {"large.py": [], "a.py": [(1, 1)]}


def test_a_file_that_became_a_link_is_not_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (project / "a.py").unlink()
    (project / "a.py").symlink_to(tmp_path / "secret")
    assert compared(project) == {"a.py": []}


@pytest.mark.parametrize("revision", ["nowhere", "--output=made", "", "HEAD..HEAD", "^HEAD", "a\0b", "HEAD:a.py"])
def test_what_is_no_revision_is_an_error(revision: str, project: Path) -> None:
    with pytest.raises(DiffError):
        compared(project, revision)
    assert not (project / "made").exists()


def gone(folder: Path, revision: str = "HEAD") -> list[str]:
    return [entry.path for entry in comparison(folder, revision).gone]


def test_files_that_are_no_files_any_more_are_gone(project: Path, git: Git) -> None:
    assert gone(project) == []
    (project / "gone.py").unlink()
    (project / "a.py").unlink()
    (project / "a.py").mkdir()
    (project / "a.py" / "in.txt").touch()
    (project / "sub" / "b.py").rename(project / "sub" / "c.py")
    assert gone(project) == ["a.py", "gone.py", "sub/b.py"]
    assert gone(project / "sub") == ["b.py"]
    git(project, "add", "-A")
    git(project, "commit", "-qm", "second")
    assert gone(project) == []
    assert gone(project, "HEAD~1") == ["a.py", "gone.py", "sub/b.py"]


@pytest.mark.parametrize("mode", ["--sparse-index", "--no-sparse-index"])
def test_what_a_sparse_checkout_leaves_out_is_not_gone(mode: str, project: Path, git: Git) -> None:
    git(project, "sparse-checkout", "set", "--cone", mode)
    assert not (project / "sub").exists()
    (project / "gone.py").unlink()
    assert gone(project) == ["gone.py"]


def test_submodules_are_told_and_not_looked_at(project: Path, git: Git, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "x.py").write_text("x = 1\n")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "first")
    git(project, "submodule", "add", "-q", str(other), "their")
    git(project, "commit", "-qam", "second")
    (project / "their" / "x.py").write_text("x = 2\n")
    found = comparison(project)
    assert (found.changed, found.gone, found.submodules) == ({}, [], ["their"])


def test_in_a_partial_clone_a_file_whose_old_content_is_not_there_counts_as_a_whole(
    project: Path, git: Git, tmp_path: Path
) -> None:
    (project / "a.py").write_text("# a.py\none\n2\n")
    git(project, "commit", "-qam", "second")
    git(project, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", project.as_uri(), "partial")
    partial = tmp_path / "partial"
    (partial / "gone.py").write_text("# gone.py\none\n")
    assert compared(partial) == {"gone.py": [(2, 2)]}
    assert compared(partial, "HEAD~1") == {"a.py": [], "gone.py": [(2, 2)]}


def test_a_partial_clone_without_the_folders_of_a_revision_says_so(project: Path, git: Git, tmp_path: Path) -> None:
    (project / "a.py").write_text("# a.py\n")
    git(project, "commit", "-qam", "second")
    git(project, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=tree:0", project.as_uri(), "partial")
    with pytest.raises(PathError, match="this clone is partial and lacks folders of commit") as caught:
        compared(tmp_path / "partial", "HEAD~1")
    commit = git(project, "rev-parse", "HEAD~1").strip()
    assert str(caught.value.hint) == f"fetch them: git ls-tree -r {commit}"
    with pytest.raises(DiffError, match="git has no revision 'nowhere'"):
        compared(tmp_path / "partial", "nowhere")
