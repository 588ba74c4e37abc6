from __future__ import annotations

import errno
import hashlib
import inspect
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import PathError
from cairn.source.git import find_repository
from cairn.source.walk import Walk, read_file, walk

Git = Callable[..., str]
ODD_NAMES = [
    "with space.py",
    "line\nbreak.py",
    "-dash.py",
    ":(top)x.py",
    "*.py",
    "\\q.py",
    os.fsdecode(b"\xff.py"),
    "é.py",
]


def write(root: Path, *paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def walk_git(root: Path, max_file_bytes: int = 1_000_000) -> Walk:
    repository = find_repository(root)
    assert repository is not None
    return walk(root, repository=repository, max_file_bytes=max_file_bytes)


def walk_plain(root: Path, max_file_bytes: int = 1_000_000) -> Walk:
    return walk(root, repository=None, max_file_bytes=max_file_bytes)


def paths_of(found: Walk) -> list[str]:
    return [file.path for file in found.files]


def reasons_of(found: Walk) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in found.skipped}


@pytest.fixture(params=[walk_git, walk_plain], ids=["git", "plain"])
def either(request: pytest.FixtureRequest, checkout: Path) -> Callable[..., Walk]:
    """The walk of a checkout through git, and of the same folder outside git."""
    if request.param is walk_plain:
        shutil.rmtree(checkout / ".git")
    function: Callable[..., Walk] = request.param
    return function


@pytest.fixture
def permissions(tmp_path: Path) -> None:
    """Skips where the tests run with the right to read everything, as root does."""
    (tmp_path / "closed file").touch(mode=0)
    if os.access(tmp_path / "closed file", os.R_OK):
        pytest.skip("whoever runs this may read everything")


def test_files_come_sorted_with_size_and_time(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, "b.py", "a/c.py", "a.py")
    os.utime(checkout / "b.py", ns=(1, 1_500_000_000_123_456_789))
    found = either(checkout)
    assert paths_of(found) == ["a.py", "a/c.py", "b.py"]
    assert (found.files[2].size, found.files[2].mtime_ns) == (6, 1_500_000_000_123_456_789)


def test_empty_project_has_no_files(either: Callable[..., Walk], checkout: Path) -> None:
    assert either(checkout) == Walk([], [])


def test_empty_file_is_eligible(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, "__init__.py", text="")
    assert paths_of(either(checkout)) == ["__init__.py"]


def test_odd_names_are_found_and_read(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, *ODD_NAMES, *(f"folder{name}/a.py" for name in ODD_NAMES))
    found = paths_of(either(checkout))
    assert found == sorted([*ODD_NAMES, *(f"folder{name}/a.py" for name in ODD_NAMES)])
    assert {read_file(checkout, path) for path in found} == {b"x = 1\n"}


def test_file_above_the_limit_is_skipped_with_the_limit(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, "at.py", text="x" * 1500)
    write(checkout, "above.py", text="x" * 1501)
    found = either(checkout, 1500)
    assert paths_of(found) == ["at.py"]
    assert reasons_of(found) == {"above.py": "larger than 1,500 bytes"}


def test_names_give_reasons(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, "uv.lock", "app.min.js", "logo.png", "a.snap", "a.py")
    found = either(checkout)
    assert paths_of(found) == ["a.py"]
    assert reasons_of(found) == {
        "a.snap": "snapshot",
        "app.min.js": "minified",
        "logo.png": "binary (extension)",
        "uv.lock": "lock file",
    }


def test_state_of_cairn_is_left_out_silently(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, ".cairn/config.yaml", ".cairn/deep/x.py", "sub/.cairn/x.py", "a.py")
    assert either(checkout).files[0].path == "a.py"
    assert len(either(checkout).files) == 1
    assert either(checkout).skipped == []


def test_vendored_files_are_skipped_one_by_one_in_git_and_as_a_folder_outside(checkout: Path) -> None:
    write(checkout, "vendor/a/b.go", "vendor/c.go", "env/pyvenv.cfg", "env/lib/a.py", "a.go")
    found = walk_git(checkout)
    assert paths_of(found) == ["a.go"]
    assert reasons_of(found) == {
        "env/lib/a.py": "virtual environment",
        "env/pyvenv.cfg": "virtual environment",
        "vendor/a/b.go": "vendored",
        "vendor/c.go": "vendored",
    }
    assert reasons_of(walk_plain(checkout)) == {"env": "virtual environment folder", "vendor": "vendored folder"}


def test_folders_above_the_root_do_not_make_it_vendored(git: Git, tmp_path: Path) -> None:
    root = tmp_path / "vendor" / "node_modules" / "project"
    write(root, "a.py")
    assert paths_of(walk_plain(root)) == ["a.py"]
    git(tmp_path, "init", "-q")
    assert paths_of(walk_git(root)) == ["a.py"]


def test_gitignored_files_are_not_mentioned(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, ".gitignore", text="*.log\nbuild/\n!keep.log\n")
    write(checkout, "sub/.gitignore", text="/local.py\n!again.log\n")
    write(
        checkout, "a.log", "keep.log", "build/a.py", "sub/build/a.py", "sub/local.py", "sub/x/local.py", "sub/again.log"
    )
    found = either(checkout)
    assert paths_of(found) == [".gitignore", "keep.log", "sub/.gitignore", "sub/again.log", "sub/x/local.py"]
    assert found.skipped == []


def test_linked_gitignore_is_not_followed(either: Callable[..., Walk], checkout: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside", text="*.py\n")
    (checkout / ".gitignore").symlink_to(tmp_path / "outside")
    write(checkout, "a.py")
    assert paths_of(either(checkout)) == ["a.py"]


def test_cairnignore_excludes_and_says_so(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, ".cairnignore", text="*.sql\n!keep.sql\n")
    write(checkout, "sub/.cairnignore", text="!again.sql\n/gen.py\n")
    write(checkout, "a.sql", "keep.sql", "sub/again.sql", "sub/b.sql", "sub/gen.py", "sub/x/gen.py")
    found = either(checkout)
    assert paths_of(found) == [
        ".cairnignore",
        "keep.sql",
        "sub/.cairnignore",
        "sub/again.sql",
        "sub/x/gen.py",
    ]
    assert reasons_of(found) == dict.fromkeys(["a.sql", "sub/b.sql", "sub/gen.py"], "excluded by .cairnignore")


def test_folder_excluded_by_cairnignore_stays_out_whatever_rules_lie_inside(checkout: Path) -> None:
    write(checkout, ".cairnignore", text="data/\n!data/keep.py\n")
    write(checkout, "data/.cairnignore", text="!*.py\n")
    write(checkout, "data/keep.py")
    assert paths_of(walk_git(checkout)) == [".cairnignore"]
    assert reasons_of(walk_git(checkout))["data/keep.py"] == "excluded by .cairnignore"
    assert reasons_of(walk_plain(checkout)) == {"data": "excluded by .cairnignore"}


def test_cairnignore_does_not_bring_back_what_git_ignores(either: Callable[..., Walk], checkout: Path) -> None:
    write(checkout, ".gitignore", text="*.log\n")
    write(checkout, ".cairnignore", text="!*.log\n")
    write(checkout, "a.log")
    assert paths_of(either(checkout)) == [".cairnignore", ".gitignore"]


def test_cairnignore_takes_back_what_convention_left_out_but_no_binary(
    either: Callable[..., Walk], checkout: Path
) -> None:
    write(checkout, ".cairnignore", text="!vendor/\nvendor/*\n!vendor/ours/\n!uv.lock\n!logo.png\n")
    write(checkout, "vendor/ours/a.go", "vendor/theirs/a.go", "uv.lock", "logo.png")
    found = either(checkout)
    assert paths_of(found) == [".cairnignore", "uv.lock", "vendor/ours/a.go"]
    assert reasons_of(found)["logo.png"] == "binary (extension)"


def test_ignored_root_cairnignore_still_counts(checkout: Path) -> None:
    write(checkout, ".git/info/exclude", text=".cairnignore\n")
    write(checkout, ".cairnignore", text="a.py\n")
    write(checkout, "a.py", "b.py")
    assert paths_of(walk_git(checkout)) == ["b.py"]


def test_links_to_files_are_skipped_with_where_they_lead(
    either: Callable[..., Walk], checkout: Path, tmp_path: Path
) -> None:
    write(tmp_path, "outside.py", "checkout-twin/a.py")
    write(checkout, "a.py")
    (checkout / "inside.py").symlink_to("a.py")
    (checkout / "out.py").symlink_to(tmp_path / "outside.py")
    (checkout / "twin.py").symlink_to(tmp_path / "checkout-twin" / "a.py")
    (checkout / "broken.py").symlink_to("missing.py")
    (checkout / "loop.py").symlink_to("loop.py")
    found = either(checkout)
    assert paths_of(found) == ["a.py"]
    assert reasons_of(found) == {
        "broken.py": "symlink",
        "inside.py": "symlink",
        "loop.py": "symlink",
        "out.py": "symlink out of the root",
        "twin.py": "symlink out of the root",
    }


def test_links_to_folders_are_not_followed(either: Callable[..., Walk], checkout: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/a.py")
    write(checkout, "sub/a.py")
    (checkout / "sub" / "up").symlink_to(checkout)
    (checkout / "out").symlink_to(tmp_path / "outside")
    found = either(checkout)
    assert paths_of(found) == ["sub/a.py"]
    assert reasons_of(found) == {"out": "symlink out of the root", "sub/up": "symlink"}


def test_tracked_files_whose_folder_became_a_link_are_skipped(git: Git, checkout: Path, tmp_path: Path) -> None:
    write(checkout, "sub/deep/secret.py")
    git(checkout, "add", "-A")
    shutil.rmtree(checkout / "sub")
    write(tmp_path, "outside/deep/secret.py")
    (checkout / "sub").symlink_to(tmp_path / "outside")
    found = walk_git(checkout)
    assert found.files == []
    assert reasons_of(found)["sub/deep/secret.py"] == "behind a symlink"
    with pytest.raises(NotADirectoryError):
        read_file(checkout, "sub/deep/secret.py")


def test_root_may_be_reached_through_a_link(either: Callable[..., Walk], checkout: Path, tmp_path: Path) -> None:
    write(checkout, "a.py")
    (checkout / "b.py").symlink_to("a.py")
    (tmp_path / "link").symlink_to(checkout)
    found = either(tmp_path / "link")
    assert paths_of(found) == ["a.py"]
    assert reasons_of(found) == {"b.py": "symlink"}
    assert read_file(tmp_path / "link", "a.py") == b"x = 1\n"


def test_pipes_and_sockets_are_skipped(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(checkout / "pipe.py")
    monkeypatch.chdir(checkout)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert reasons_of(walk_plain(checkout)) == dict.fromkeys(["pipe.py", "socket.py"], "not a regular file")
        with pytest.raises(OSError, match="pipe") as caught:
            read_file(checkout, "pipe.py")
        assert caught.value.errno == errno.EINVAL
        with pytest.raises(OSError, match="socket"):
            read_file(checkout, "socket.py")


def test_tracked_file_that_became_a_pipe_is_skipped(git: Git, checkout: Path) -> None:
    write(checkout, "a.py")
    git(checkout, "add", "-A")
    (checkout / "a.py").unlink()
    os.mkfifo(checkout / "a.py")
    assert reasons_of(walk_git(checkout)) == {"a.py": "not a regular file"}


@pytest.mark.usefixtures("permissions")
def test_unreadable_files_and_folders_are_reported_and_the_walk_goes_on(checkout: Path) -> None:
    write(checkout, "a.py", "closed/b.py", "z.py")
    (checkout / "a.py").chmod(0)
    (checkout / "closed").chmod(0)
    try:
        found = walk_plain(checkout)
    finally:
        (checkout / "closed").chmod(0o700)
    assert paths_of(found) == ["z.py"]
    assert reasons_of(found) == {"a.py": "unreadable", "closed": "unreadable folder: Permission denied"}


@pytest.mark.usefixtures("permissions")
def test_folders_that_git_cannot_read_are_reported(git: Git, checkout: Path) -> None:
    write(checkout, "sub/a.py", "sub/closed/b.py", "sub/tracked/c.py", "sub/secret.py")
    git(checkout, "add", "sub/tracked")
    (checkout / "sub" / "secret.py").chmod(0)
    for name in ("closed", "tracked"):
        (checkout / "sub" / name).chmod(0)
    try:
        found = walk_git(checkout / "sub")
    finally:
        for name in ("closed", "tracked"):
            (checkout / "sub" / name).chmod(0o700)
    assert paths_of(found) == ["a.py"]
    assert reasons_of(found) == {
        "closed": "unreadable folder",
        "secret.py": "unreadable",
        "tracked": "unreadable folder",
        "tracked/c.py": "unreadable: Permission denied",
    }


@pytest.mark.usefixtures("permissions")
def test_unreadable_root_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(PathError, match="cannot be read"):
        walk_plain(tmp_path / "closed")


def test_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="cannot be read"):
        walk_plain(tmp_path / "missing")


def test_folders_may_be_deeper_than_the_stack(either: Callable[..., Walk], checkout: Path) -> None:
    deep = "d/" * 300
    write(checkout, deep + "a.py", "d/" * 150 + "a.py")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        found = either(checkout)
    finally:
        sys.setrecursionlimit(limit)
    assert paths_of(found) == ["d/" * 150 + "a.py", deep + "a.py"]
    assert read_file(checkout, deep + "a.py") == b"x = 1\n"


def test_deleted_but_tracked_files_are_absent(git: Git, checkout: Path) -> None:
    write(checkout, "a.py", "b.py", "sub/c.py", "app.min.js")
    git(checkout, "add", "-A")
    (checkout / "b.py").unlink()
    (checkout / "app.min.js").unlink()
    shutil.rmtree(checkout / "sub")
    write(checkout, "sub")
    assert paths_of(walk_git(checkout)) == ["a.py", "sub"]
    assert walk_git(checkout).skipped == []


def test_tracked_file_that_became_a_folder_gives_the_files_in_it(git: Git, checkout: Path) -> None:
    write(checkout, "a")
    git(checkout, "add", "-A")
    (checkout / "a").unlink()
    write(checkout, "a/b.py")
    assert walk_git(checkout).skipped == []
    assert paths_of(walk_git(checkout)) == ["a/b.py"]


def test_tracked_file_counts_though_a_rule_ignores_it(git: Git, checkout: Path) -> None:
    write(checkout, ".gitignore", text="*.log\n")
    write(checkout, "tracked.log", "other.log")
    git(checkout, "add", "-f", ".gitignore", "tracked.log")
    assert paths_of(walk_git(checkout)) == [".gitignore", "tracked.log"]


def test_files_outside_a_sparse_checkout_are_absent(git: Git, checkout: Path) -> None:
    write(checkout, "a/a.py", "b/b.py", "top.py")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "add")
    git(checkout, "sparse-checkout", "set", "--cone", "a")
    assert not (checkout / "b").exists()
    assert paths_of(walk_git(checkout)) == ["a/a.py", "top.py"]


def test_shallow_clone_is_walked(git: Git, checkout: Path, tmp_path: Path) -> None:
    write(checkout, "a.py")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "one")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{checkout}", "shallow")
    assert paths_of(walk_git(tmp_path / "shallow")) == ["a.py"]


def test_subfolder_as_root_gives_paths_relative_to_it(git: Git, checkout: Path) -> None:
    write(checkout, ".gitignore", text="*.log\n")
    write(checkout, "sub/a.py", "sub/deep/b.py", "sub/a.log", "other/c.py")
    assert paths_of(walk_git(checkout / "sub")) == ["a.py", "deep/b.py"]


def test_ignored_folder_named_as_the_root_is_walked(git: Git, checkout: Path) -> None:
    write(checkout, ".gitignore", text="scratch/\n")
    write(checkout, "scratch/a.py")
    assert paths_of(walk_git(checkout / "scratch")) == ["a.py"]


@pytest.fixture
def library(git: Git, tmp_path: Path) -> Path:
    """A repository with one commit and a submodule of its own."""
    for name in ("inner", "library"):
        write(tmp_path, f"{name}/{name}.py")
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "add", "-A")
        git(tmp_path / name, "commit", "-q", "-m", "add")
    git(tmp_path / "library", "submodule", "-q", "add", str(tmp_path / "inner"), "deps/inner")
    git(tmp_path / "library", "commit", "-q", "-m", "submodule")
    return tmp_path / "library"


def test_files_of_checked_out_submodules_belong_to_the_project(git: Git, checkout: Path, library: Path) -> None:
    write(checkout, "a.py")
    git(checkout, "submodule", "-q", "add", str(library), "lib name")
    git(checkout, "submodule", "-q", "update", "--init", "--recursive")
    write(checkout, "lib name/untracked.py", "lib name/ignored.log")
    write(checkout, "lib name/.gitignore", text="*.log\n")
    found = walk_git(checkout)
    assert paths_of(found) == [
        ".gitmodules",
        "a.py",
        "lib name/.gitignore",
        "lib name/.gitmodules",
        "lib name/deps/inner/inner.py",
        "lib name/library.py",
        "lib name/untracked.py",
    ]
    assert found.skipped == []


def test_submodule_that_is_not_checked_out_is_reported(git: Git, checkout: Path, library: Path, tmp_path: Path) -> None:
    git(checkout, "submodule", "-q", "add", str(library), "lib")
    git(checkout, "commit", "-q", "-m", "add")
    git(tmp_path, "clone", "-q", str(checkout), "copy")
    assert reasons_of(walk_git(tmp_path / "copy")) == {"lib": "submodule that is not checked out"}


def test_vendored_submodule_is_one_entry(git: Git, checkout: Path, library: Path) -> None:
    git(checkout, "submodule", "-q", "add", str(library), "third_party/lib")
    assert reasons_of(walk_git(checkout)) == {"third_party/lib": "vendored folder"}


def test_broken_submodule_is_reported_and_the_walk_goes_on(git: Git, checkout: Path, library: Path) -> None:
    write(checkout, "a.py")
    git(checkout, "submodule", "-q", "add", str(library), "lib")
    shutil.rmtree(checkout / ".git" / "modules")
    found = walk_git(checkout)
    assert paths_of(found) == [".gitmodules", "a.py"]
    assert reasons_of(found)["lib"].startswith("submodule: git cannot read")


def test_checkout_inside_the_checkout_is_not_part_of_it(git: Git, checkout: Path) -> None:
    write(checkout, "a.py")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "add")
    git(checkout, "worktree", "add", "-q", "trees/feature")
    assert paths_of(walk_git(checkout)) == ["a.py"]
    assert reasons_of(walk_git(checkout)) == {"trees/feature": "a repository of its own"}


def test_read_file_refuses_paths_that_leave_the_root(checkout: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside.py")
    write(checkout, "a/b.py")
    for path in (
        "../outside.py",
        "a/../../outside.py",
        str(tmp_path / "outside.py"),
        "",
        "a//b.py",
        "./a/b.py",
        "a\0b",
    ):
        with pytest.raises(OSError, match="not a path below the root"):
            read_file(checkout, path)


def test_read_file_never_follows_a_link(checkout: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.py")
    (checkout / "file.py").symlink_to(tmp_path / "outside" / "secret.py")
    (checkout / "folder").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="file") as caught:
        read_file(checkout, "file.py")
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(NotADirectoryError):
        read_file(checkout, "folder/secret.py")


def test_read_file_says_what_is_wrong(checkout: Path) -> None:
    write(checkout, "big.py", text="x" * 101)
    (checkout / "folder").mkdir()
    with pytest.raises(FileNotFoundError):
        read_file(checkout, "missing.py")
    with pytest.raises(OSError, match="not a regular file"):
        read_file(checkout, "folder")
    with pytest.raises(OSError, match="larger than 100 bytes") as caught:
        read_file(checkout, "big.py", 100)
    assert caught.value.errno == errno.EFBIG
    assert len(read_file(checkout, "big.py", 101)) == 101


def test_read_file_keeps_no_descriptor_open(checkout: Path) -> None:
    write(checkout, "a/b.py")
    before = len(os.listdir("/dev/fd"))
    for path in ("a/b.py", "a", "a/missing", "missing/b.py"):
        try:
            read_file(checkout, path)
        except OSError:
            continue
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.skipif(not os.path.exists("/proc/version"), reason="no file here reports size 0 and has content")
def test_read_file_reads_on_when_the_size_was_too_small() -> None:
    assert read_file(Path("/proc"), "version").startswith(b"Linux")
    with pytest.raises(OSError, match="larger than 5 bytes"):
        read_file(Path("/proc"), "version", 5)


@pytest.mark.usefixtures("permissions")
def test_folder_git_may_not_enter_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(PathError, match="git cannot run in"):
        find_repository(tmp_path / "closed")


@pytest.mark.skipif(not Path("/proc/self/exe").exists(), reason="looks at the links of an ended process in /proc")
def test_a_link_that_leads_nowhere_any_more_is_skipped() -> None:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        found = walk(Path(f"/proc/{process.pid}"), repository=None)
    assert "symlink" in {skip.reason for skip in found.skipped if skip.path == "exe"}


def test_links_that_come_and_go_while_they_are_resolved_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            (tmp_path / "link").symlink_to("a.py")
            (tmp_path / "link").unlink()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            assert [file.path for file in walk(tmp_path, repository=None).files] == ["a.py"]
    finally:
        ended.set()
        thread.join()


def test_paths_of_a_forged_index_that_lead_out_of_the_checkout_are_left_out(
    checkout: Path, git: Git, tmp_path: Path
) -> None:
    (tmp_path / "secret.py").write_text("secret\n")
    for name in ("aaaaaaaaaaaa", "bbbbbbbb", "cc.py"):
        (checkout / name).write_text("x\n")
    git(checkout, "add", "-A")
    index = checkout / ".git" / "index"
    data = index.read_bytes().replace(b"aaaaaaaaaaaa", b"../secret.py").replace(b"bbbbbbbb", b"/etc/fst")[:-20]
    index.write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())
    (checkout / "aaaaaaaaaaaa").unlink()
    (checkout / "bbbbbbbb").unlink()
    found = walk(checkout, repository=find_repository(checkout))
    assert [file.path for file in found.files] == ["cc.py"]
    assert "../secret.py" in subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True).stdout


def test_tracked_files_behind_a_folder_that_became_a_link_are_not_read(
    checkout: Path, git: Git, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.py").write_text("secret\n")
    (checkout / "a").mkdir()
    (checkout / "a" / "b.py").write_text("x\n")
    git(checkout, "add", "-A")
    shutil.rmtree(checkout / "a")
    (checkout / "a").symlink_to(tmp_path / "outside")
    found = walk(checkout, repository=find_repository(checkout))
    assert found.files == []
    with pytest.raises(OSError, match=r".+"):
        read_file(checkout, "a/b.py")
