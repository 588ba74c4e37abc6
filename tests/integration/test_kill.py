"""An indexing process is killed at random moments; `CAIRN_KILLS=30` sets how many, `CAIRN_KILL_SEED` which."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from cairn.errors import IndexMissingError
from cairn.workspace import Workspace

KILLS = int(os.environ.get("CAIRN_KILLS", "8"))
MOMENTS = random.Random(int(os.environ.get("CAIRN_KILL_SEED", "1")))
FILES = 60


def write_version(root: Path, version: int) -> None:
    """Write 60 files of which a third differ, and some come and go, from version to version."""
    for number in range(FILES):
        file = root / f"package_{number % 4}" / f"module_{number}.py"
        file.parent.mkdir(exist_ok=True)
        if version and number % 7 == version % 7:
            file.unlink(missing_ok=True)
            continue
        mark = version if number % 3 == 0 else 0
        body = "\n".join(f"    step_{step} = store(offset + {step}, {mark})" for step in range(12))
        file.write_text(
            "\n\n".join(
                f'def work_{number}_{place}(offset):\n    """Version {mark}."""\n{body}\n    return offset\n'
                for place in range(4)
            )
        )


def spawn(root: Path, *options: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"CAIRN_BATCH_CHUNKS": "12"}
    command = [sys.executable, "-m", "cairn", "index", str(root), *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def kill_at(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Kill the process when it has run this long; tell whether it was still running."""
    assert process.stderr is not None
    with process.stderr:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        assert process.returncode == 0, process.stderr.read().decode()
        return False


def stored_chunks(workspace: Workspace) -> int:
    """Return how many chunks are committed and still of use."""
    if not workspace.state.database.exists():
        return 0
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        try:
            count: int = connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
        except sqlite3.OperationalError:  # killed before the schema was there
            return 0
        return count


def content(workspace: Workspace) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        return connection.execute(
            """SELECT path, key, first_line, last_line FROM file JOIN chunk ON chunk.id >> 20 = file.blob_id
               ORDER BY path, first_line"""
        ).fetchall()


def check_answers(workspace: Workspace) -> None:
    """Whatever is indexed by now is answered rightly; nothing at all says so."""
    for number in range(0, FILES, 9):
        try:
            answer = workspace.search(f"work_{number}_2", limit=3)
        except IndexMissingError:
            assert stored_chunks(workspace) == 0
            return
        for hit in answer.code:
            if not hit.stale:
                (fetched,) = workspace.fetch([hit.id])
                assert fetched.text.startswith(f"def {hit.name}(offset)")


@pytest.fixture(scope="module")
def duration(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a first run takes here, in seconds; only spreads the moments."""
    root = tmp_path_factory.mktemp("duration")
    write_version(root, 0)
    started = time.monotonic()
    assert not kill_at(spawn(root), 60)
    return time.monotonic() - started


@pytest.mark.parametrize("share", [MOMENTS.uniform(0.3, 1.0) for _ in range(KILLS)], ids=lambda share: f"{share:.3f}")
def test_a_kill_while_indexing_loses_nothing_that_was_committed(share: float, duration: float, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write_version(root, 0)
    kill_at(spawn(root), share * duration)
    with Workspace.open(root) as workspace, Workspace.open(root, state_dir=tmp_path / "fresh") as fresh:
        check_answers(workspace)
        committed = stored_chunks(workspace)
        report = workspace.index()
        assert report.embedded_chunks == fresh.index().chunks - committed
        assert content(workspace) == content(fresh)
        assert workspace.search("work_9_2").code[0].name == "work_9_2"


@pytest.mark.parametrize("options", [(), ("--full",)], ids=["update", "full"])
def test_kills_while_updating_leave_an_index_that_the_next_run_completes(
    options: tuple[str, ...], duration: float, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write_version(root, 0)
    with Workspace.open(root) as workspace:
        workspace.index()
    for version in range(1, 1 + max(2, KILLS // 3)):
        write_version(root, version)
        kill_at(spawn(root, *options), MOMENTS.uniform(0.4, 1.0) * duration)
        shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
        with Workspace.open(root) as workspace, Workspace.open(root, state_dir=tmp_path / "fresh") as fresh:
            check_answers(workspace)
            workspace.index()
            fresh.index()
            assert content(workspace) == content(fresh)
            assert workspace.upkeep.status()["files"] == fresh.upkeep.status()["files"]
            for number in range(0, FILES, 9):
                query = f"work_{number}_2"
                found = {(hit.path, hit.id) for hit in workspace.search(query, limit=20).code}
                assert found == {(hit.path, hit.id) for hit in fresh.search(query, limit=20).code}
