from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import PathError, RevisionError
from cairn.source.git import find_repository
from cairn.source.objects import (
    NOT_FETCHED,
    SUBMODULE,
    SYMLINK,
    ObjectReader,
    clean_objects,
    is_content_of,
    list_tree,
    missing_commits,
    resolve_revision,
)
from cairn.types import FileStat

Git = Callable[..., str]


@pytest.fixture
def committed(checkout: Path, git: Git) -> Path:
    (checkout / "sub").mkdir()
    (checkout / "a.py").write_text("a = 1\n")
    (checkout / "sub" / "two\nlines.py").write_text("b = 2\n")
    (checkout / "link").symlink_to("a.py")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "first")
    return checkout


def clean(folder: Path) -> dict[str, bytes]:
    repository = find_repository(folder)
    assert repository is not None
    files = [
        path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    ]
    stats = [(str(path.relative_to(folder)), path.stat()) for path in files]
    found = [FileStat(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for path, stat in stats]
    return clean_objects(folder, repository, found)


def settle(folder: Path, git: Git) -> None:
    """Let git note what it knows of all files long after they were written."""
    an_hour_ago = time.time_ns() - 3_600_000_000_000
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, ns=(an_hour_ago, an_hour_ago))
    git(folder, "update-index", "--refresh")


def test_a_tree_lists_files_with_mode_and_size(committed: Path, git: Git) -> None:
    git(committed, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},other")
    git(committed, "commit", "-qm", "second")
    entries = {entry.path: (entry.mode, entry.size) for entry in list_tree(committed, "HEAD")}
    assert entries == {
        "a.py": ("100644", 6),
        "sub/two\nlines.py": ("100644", 6),
        "link": (SYMLINK, 4),
        "other": (SUBMODULE, 0),
    }


def test_a_tree_of_a_partial_clone_tells_which_contents_were_never_fetched(
    committed: Path, git: Git, tmp_path: Path
) -> None:
    git(committed, "rm", "-q", "a.py")
    git(committed, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},other")
    git(committed, "commit", "-qm", "second")
    git(committed, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", committed.as_uri(), "partial")
    for revision, size in (("HEAD", None), ("HEAD~1", NOT_FETCHED)):
        sizes = {entry.path: entry.size for entry in list_tree(tmp_path / "partial", revision)}
        assert (sizes.get("a.py"), sizes.get("other")) == (size, None if size else 0)
        assert (sizes["sub/two\nlines.py"], sizes["link"]) == (6, 4)


def test_a_tree_of_a_folder_holds_its_files_only(committed: Path) -> None:
    assert [entry.path for entry in list_tree(committed / "sub", "HEAD")] == ["two\nlines.py"]


def test_a_commit_that_is_not_there_is_an_error_in_gits_words(committed: Path) -> None:
    with pytest.raises(PathError, match="git cannot read commit 111111111111"):
        list_tree(committed, "1" * 40)


def test_objects_are_read_one_after_the_other(committed: Path) -> None:
    with ObjectReader(committed) as reader:
        for _ in range(2):
            assert {reader.read(entry.object_id) for entry in list_tree(committed, "HEAD")} == {
                b"a = 1\n",
                b"b = 2\n",
                b"a.py",
            }
        with pytest.raises(FileNotFoundError):
            reader.read(b"\x11" * 20)
        reader.close()
        assert reader.read(list_tree(committed, "HEAD")[0].object_id) == b"a = 1\n"


def test_a_folder_that_is_no_repository_has_no_objects(tmp_path: Path) -> None:
    with ObjectReader(tmp_path) as reader, pytest.raises(OSError, match="ended unexpectedly"):
        reader.read(b"\x11" * 20)


def test_objects_are_known_by_their_content(committed: Path, git: Git) -> None:
    settle(committed, git)
    object_id = clean(committed)["a.py"]
    assert is_content_of(object_id, b"a = 1\n")
    assert not is_content_of(object_id, b"a = 2\n")


def test_objects_of_a_repository_with_longer_hashes_are_known(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    (tmp_path / "a.py").write_text("a = 1\n")
    git(tmp_path, "add", "a.py")
    settle(tmp_path, git)
    assert is_content_of(clean(tmp_path)["a.py"], b"a = 1\n")


def test_only_files_as_git_has_them_are_clean(committed: Path, git: Git) -> None:
    names = ("changed.py", "gone.py", "assumed.py", "skipped.py", "staged.py")
    for name in names:
        (committed / name).write_text(f"# {name}\n")
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "more")
    settle(committed, git)
    git(committed, "update-index", "--assume-unchanged", "assumed.py")
    git(committed, "update-index", "--skip-worktree", "skipped.py")
    (committed / "changed.py").write_text("# CHANGED.py\n")
    (committed / "gone.py").unlink()
    (committed / "staged.py").write_text("# other\n")
    (committed / "untracked.py").write_text("")
    os.utime(committed / "staged.py", (1, 1))
    git(committed, "add", "staged.py")
    found = clean(committed)
    assert found.keys() == {"a.py", "sub/two\nlines.py", "staged.py"}
    assert is_content_of(found["staged.py"], b"# other\n")
    assert clean(committed / "sub").keys() == {"two\nlines.py"}


def test_a_file_written_with_the_index_is_not_clean(committed: Path) -> None:
    index = (committed / ".git" / "index").stat().st_mtime_ns
    os.utime(committed / "a.py", ns=(index, index))
    assert "a.py" not in clean(committed)


def test_a_repository_without_an_index_has_no_clean_files(checkout: Path) -> None:
    (checkout / "a.py").write_text("a = 1\n")
    assert clean(checkout) == {}


def test_an_object_above_the_limit_is_not_read_and_the_next_one_is(committed: Path) -> None:
    objects = {entry.path: entry.object_id for entry in list_tree(committed, "HEAD")}
    with ObjectReader(committed) as reader:
        with pytest.raises(OSError, match="larger than 3 bytes") as caught:
            reader.read(objects["a.py"], 3)
        assert caught.value.errno == errno.EFBIG
        assert reader.read(objects["a.py"], 6) == b"a = 1\n"


def test_names_that_are_no_references_name_no_commit(committed: Path, git: Git) -> None:
    commit = git(committed, "rev-parse", "HEAD")
    odd = [":/first", "refs/heads/main\nHEAD", "HEAD^{/first}", ""]
    assert missing_commits(committed, ["refs/heads/main", commit, "refs/heads/gone", *odd]) == {"refs/heads/gone", *odd}


@pytest.mark.parametrize("name", ["^main", "main..main", "--help", "main\0", "", "main^{tree}"])
def test_what_is_no_commit_is_no_revision(committed: Path, name: str) -> None:
    with pytest.raises(RevisionError):
        resolve_revision(committed, name)


def test_a_revision_is_known_by_branch_tag_and_hash(committed: Path, git: Git) -> None:
    commit = git(committed, "rev-parse", "HEAD")
    git(committed, "tag", "v1")
    git(committed, "branch", "topic/é")
    assert resolve_revision(committed, "main") == ("main", "refs/heads/main", commit)
    assert resolve_revision(committed, "HEAD") == ("main", "refs/heads/main", commit)
    assert resolve_revision(committed, "v1") == ("v1", "refs/tags/v1", commit)
    assert resolve_revision(committed, "topic/é") == ("topic/é", "refs/heads/topic/é", commit)
    assert resolve_revision(committed, commit[:8]) == (commit[:12], "", commit)
    assert resolve_revision(committed / "sub", "main@{0}").commit == commit


def test_a_name_that_several_remotes_have_is_not_guessed(committed: Path, git: Git) -> None:
    for remote in ("one", "two"):
        git(committed, "update-ref", f"refs/remotes/{remote}/topic", "HEAD")
    with pytest.raises(RevisionError) as caught:
        resolve_revision(committed, "topic")
    assert caught.value.hint == "list them: git branch --all; get more: git fetch"
