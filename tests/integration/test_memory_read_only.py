"""Memories in a folder in which nothing can be written: they are read, and whoever writes is told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from in_process import cairn

pytestmark = pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write everywhere")
_OPENED_AGAIN = """
import os, sys
from cairn.memory.store import By
from cairn.storage.memory.observation_db import Conditions
from cairn.workspace import Workspace
with Workspace.containing(sys.argv[1]) as workspace:
    (known,) = workspace.memory.store.select(Conditions())
    os.chmod(sys.argv[1] + "/.cairn", 0o755)
    print(workspace.memory.lifecycle.resolve(known.id, By("person:ada", "person")).status)
"""


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that may not write wherever root may."""
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    return subprocess.run(
        [*without, sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    project = tmp_path / "project"
    project.mkdir()
    assert cairn("remember", "wipe the cache first", cwd=project).returncode == 0
    (project / ".cairn").chmod(0o555)
    yield project
    (project / ".cairn").chmod(0o755)


@pytest.mark.parametrize("command", [("recall", "cache"), ("memories",), ("export",)])
def test_memories_are_read_where_nothing_can_be_written(closed: Path, command: tuple[str, ...]) -> None:
    done = run("-m", "cairn", *command, cwd=closed)
    assert (done.returncode, done.stderr) == (0, "")
    assert "wipe the cache first" in done.stdout


def test_whoever_writes_there_is_not_sent_to_another_memory(closed: Path) -> None:
    done = run("-m", "cairn", "remember", "and the index", cwd=closed)
    assert done.returncode == 3
    assert "readonly" in done.stderr
    assert "try: make the folder writable\n" in done.stderr


def test_a_memory_that_was_opened_to_be_read_is_written_once_it_can_be(closed: Path) -> None:
    done = run("-c", _OPENED_AGAIN, str(closed), cwd=closed)
    assert done.stdout == "resolved\n", done.stderr
