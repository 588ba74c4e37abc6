from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import PathError
from cairn.source.git import find_repository, list_files
from cairn.source.plumbing import ForbiddenCommandError, GitStalledError, environment_for, read_small, run_git

Git = Callable[..., str]


@pytest.mark.parametrize(
    "arguments", [["status"], ["diff"], ["ls-files", "-m"], ["cat-file", "--filters"], ["config", "x.y", "z"]]
)
def test_git_is_not_asked_for_what_may_run_programs(arguments: list[str], checkout: Path) -> None:
    with pytest.raises(ForbiddenCommandError, match=arguments[0]):
        run_git(checkout, arguments)


def test_python_without_assertions_does_not_ask_git_for_what_may_run_programs_either(checkout: Path) -> None:
    code = (
        "import pathlib, sys; from cairn.source.plumbing import run_git; run_git(pathlib.Path(sys.argv[1]), ['diff'])"
    )
    done = subprocess.run([sys.executable, "-O", "-c", code, checkout], capture_output=True, text=True, check=False)
    assert "ForbiddenCommandError" in done.stderr


def test_git_that_does_not_end_is_ended_with_what_it_started(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text(f"#!/bin/sh\nsleep 300 & echo $! >'{tmp_path}/child'\nwait\n")
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    with pytest.raises(GitStalledError, match="more than 1 s"):
        run_git(checkout, ["rev-parse"], 1.0)
    child = int((tmp_path / "child").read_text())
    end = time.monotonic() + 60
    while _runs(child):
        assert time.monotonic() < end
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_git_that_says_too_much_is_ended(checkout: Path, git: Git) -> None:
    for number in range(100):
        (checkout / f"{number}.py").touch()
    with pytest.raises(PathError, match="lists more than 100 bytes"):
        run_git(checkout, ["ls-files", "--others"], max_bytes=100)


def test_what_git_reads_and_says_may_be_larger_than_a_pipe(checkout: Path) -> None:
    names = [f"{number:0200}".encode() for number in range(5_000)]
    (checkout / ".gitignore").write_text("*\n")
    done = run_git(checkout, ["check-ignore", "-z", "--stdin"], given=b"".join(name + b"\0" for name in names))
    assert done.stdout.split(b"\0")[:-1] == names


def test_programs_of_the_project_or_of_the_current_folder_are_not_taken_for_git(
    checkout: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = checkout / "bin"
    planted.mkdir()
    (tmp_path / "link").symlink_to(planted)
    for folder in (planted, checkout):
        (folder / "git").write_text("#!/bin/sh\necho planted >ran\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("PATH", f".::{planted}:{tmp_path / 'link'}:bin:{os.environ['PATH']}")
    (checkout / "sub").mkdir()
    for folder in (checkout, checkout / "sub"):
        assert find_repository(folder) is not None
    assert list_files(checkout).paths == ["bin/git", "git"]
    searched = environment_for(checkout / "sub")["PATH"].split(os.pathsep)
    assert searched
    assert not {".", "", "bin", str(planted), str(tmp_path / "link")}.intersection(searched)


def test_programs_in_a_home_folder_under_version_control_are_the_users_own(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "project").mkdir()
    monkeypatch.setenv("HOME", str(checkout))
    monkeypatch.setenv("PATH", f"{checkout}/bin:{checkout}/project/bin:/usr/bin")
    searched = environment_for(checkout / "project")["PATH"].split(os.pathsep)
    assert searched == [f"{checkout}/bin", "/usr/bin"]


def test_git_fetches_nothing_and_asks_nobody(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "program")
    environment = environment_for(checkout)
    assert environment["GIT_ALLOW_PROTOCOL"] == "none"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert "GIT_EXTERNAL_DIFF" not in environment


def test_only_short_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"x" * 10)
    os.mkfifo(tmp_path / "pipe")
    assert read_small(tmp_path / "short", 10) == b"x" * 10
    for path, most in (("short", 9), ("pipe", 10), (".", 10), ("gone", 10)):
        with pytest.raises(OSError, match=r".+"):
            read_small(tmp_path / path, most)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_git_that_waits_for_a_pipe_is_not_waited_for(checkout: Path, git: Git, tmp_path: Path) -> None:
    os.mkfifo(checkout / "pipe")
    with (checkout / ".git" / "config").open("a") as config:
        config.write('[include]\n\tpath = "../\\\npipe"\n')  # a name that only git puts together
    begun = time.monotonic()
    with pytest.raises(GitStalledError, match="waits forever"):
        run_git(checkout, ["rev-parse", "--git-dir"], 60.0)
    assert time.monotonic() - begun < 30
