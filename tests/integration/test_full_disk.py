"""A project on a disk that is full: what it holds is found, and whoever writes is told to free some space."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from in_process import cairn, check_error

_NO_ROOM = 1_000  # bytes that a file may have, as if the disk were full


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_NO_ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "money.py").write_text("def total(prices):\n    return sum(prices)\n")
    assert cairn("index", cwd=root).returncode == 0
    assert cairn("remember", "wipe the cache first", cwd=root).returncode == 0
    return root


def test_what_is_there_is_found_on_a_full_disk(project: Path) -> None:
    with full_disk():
        searched, recalled = cairn("search", "total", cwd=project), cairn("recall", "cache", cwd=project)
        refused = cairn("remember", "and the index", cwd=project), cairn("index", "--full", cwd=project)
    assert (searched.returncode, "money.py:1  function total" in searched.stdout) == (0, True), searched.stderr
    assert (recalled.returncode, "wipe the cache first" in recalled.stdout) == (0, True), recalled.stderr
    for done in refused:
        check_error(done, 3, "free some space")
    assert "and the index" not in cairn("memories", cwd=project).stdout


def test_an_index_that_was_opened_on_a_full_disk_is_opened_again_for_the_next_question(project: Path) -> None:
    with Workspace.open(project) as workspace:
        with full_disk():
            assert [hit.name for hit in workspace.search("total", type="code").code] == ["total"]
            assert len(workspace.memory.answers.find("cache", 5)) == 1
        (project / "money.py").write_text("def sum_up(prices):\n    return sum(prices)\n")
        with Workspace.open(project) as other:
            other.index()
        assert [hit.name for hit in workspace.search("sum_up", type="code").code] == ["sum_up"]


_NO_MORE_FILES = """
mount -t tmpfs -o nr_inodes=60 tmpfs "$1" && mkdir "$1/project" && cd "$1/project" || exit 77
cairn() { "$PYTHON" -m cairn "$@"; echo "exit $?"; }
echo 'def total(prices): pass' > money.py
cairn index; cairn remember "wipe the cache first"
while : > "$1/$((n += 1))"; do :; done 2> /dev/null
echo ---
cairn search total; cairn recall cache; cairn remember "and the index"; cairn index --full; cairn core add money.py
"""


def test_a_disk_that_takes_no_more_files_counts_as_full(tmp_path: Path) -> None:
    command = ("unshare", "--map-root-user", "--mount", "bash", "-c", _NO_MORE_FILES, "bash", str(tmp_path))
    if shutil.which("unshare") is None:
        pytest.skip("there is no program unshare")
    environment = os.environ | {"PYTHON": sys.executable, "CAIRN_DAEMON": "0"}
    done = subprocess.run(command, env=environment, stdout=-1, stderr=subprocess.STDOUT, text=True, check=False)
    if "---" not in done.stdout:
        pytest.skip(f"no file system can be mounted here: {done.stdout}")
    output = done.stdout.partition("---")[2]
    assert "money.py:1  function total" in output
    assert "wipe the cache first" in output
    assert re.findall(r"exit (\d)", output) == ["0", "0", "3", "3", "3"], output
    assert output.count("free some space") == 4, output  # the search says it of its update
    assert "writable" not in output
