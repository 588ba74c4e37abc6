from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.index.aside import files_set_aside
from cairn.index.state_dir import StateDir
from cairn.storage.connection import transaction
from cairn.storage.index import meta_db, overlay_db, view_db
from cairn.workspace import Workspace

CODE = "from step_{1} import work_{1}\n\n\ndef work_{0}(offset):\n    return work_{1}(offset) + {0}\n"
FILES = 30
SETTINGS = Settings(batch_chunks=5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"step_{number}.py").write_text(CODE.format(number, (number + 1) % FILES))
    return folder


def callers(workspace: Workspace, number: int) -> list[str]:
    return [one.symbol.name for one in workspace.graph.callers(f"work_{number}").links]


def derived(state: StateDir) -> set[str]:
    return {one.name for one in state.derived.iterdir()}


def test_readers_are_answered_from_the_old_index_until_the_new_one_is_whole(root: Path) -> None:
    seen: list[tuple[list[str], list[str], int]] = []
    with Workspace.open(root, settings=SETTINGS) as workspace, Workspace.open(root, settings=SETTINGS) as reader:
        workspace.index()
        before = reader.search("work_3").generation

        def look(done: int, _: int) -> None:
            if done % 7 == 0:
                answer = reader.search("work_3", limit=1)
                anew = Workspace.open(root, settings=SETTINGS)
                with anew:
                    seen.append(([hit.name for hit in answer.code], callers(anew, 3), answer.generation))

        report = workspace.index(full=True, progress=look)
        assert len(seen) > 3
        assert all(one == (["work_3"], ["work_2"], before) for one in seen)
        assert report.embedded_chunks == report.chunks
        assert reader.search("work_3").generation > before
        assert callers(reader, 3) == ["work_2"]


def test_the_first_index_is_shown_in_parts_all_the_same(root: Path) -> None:
    shown: list[int] = []
    with Workspace.open(root, settings=SETTINGS) as workspace:

        def look(done: int, _: int) -> None:
            if done > FILES // 2:
                with closing(workspace.state.open_for_reading()) as connection:
                    shown.append(len([one for one in view_db.read_views(connection) if one.generation]))

        workspace.index(full=True, progress=look)
    assert shown
    assert all(shown)


KILLED = """
import os, signal, sys
from cairn.config import Settings
from cairn.workspace import Workspace

def die(done, total):
    if done > total // 2:
        os.kill(os.getpid(), signal.SIGKILL)

with Workspace.open(sys.argv[1], settings=Settings(batch_chunks=5)) as workspace:
    workspace.index(full=True, progress=die)
"""


def test_a_full_run_that_is_killed_leaves_the_old_index_and_its_litter_goes_with_the_next_run(root: Path) -> None:
    with Workspace.open(root, settings=SETTINGS) as workspace:
        workspace.index()
        before = derived(workspace.state)
        done = subprocess.run([sys.executable, "-c", KILLED, str(root)], check=False, timeout=60)
        assert done.returncode == -signal.SIGKILL
        assert derived(workspace.state) > before
        assert [hit.name for hit in workspace.search("work_3", limit=1).code] == ["work_3"]
        assert callers(workspace, 3) == ["work_2"]
        report = workspace.index()
        assert (report.unchanged, report.embedded_chunks) == (FILES, 0)
        assert derived(workspace.state) == before


def test_a_full_run_that_fails_leaves_the_old_index_and_nothing_else(root: Path) -> None:
    class Failure(Exception):
        pass

    def fail(done: int, total: int) -> None:
        if done > total // 2:
            raise Failure

    with Workspace.open(root, settings=SETTINGS) as workspace:
        workspace.index()
        before = derived(workspace.state)
        with pytest.raises(Failure):
            workspace.index(full=True, progress=fail)
        assert derived(workspace.state) == before
        assert [hit.name for hit in workspace.search("work_3", limit=1).code] == ["work_3"]
        assert workspace.index(full=True).files == FILES


def test_vectors_of_other_models_outlast_a_full_run(root: Path) -> None:
    with Workspace.open(root, settings=SETTINGS) as workspace:
        workspace.index()
        with closing(workspace.state.open_for_writing()) as connection, transaction(connection):
            overlay_db.ensure_model(connection, "print", "model")
        workspace.index(full=True)
        with closing(workspace.state.open_for_reading()) as connection:
            assert [one.name for one in overlay_db.read_models(connection)] == ["model"]


def test_an_id_of_a_blob_is_not_given_again_by_a_full_run(root: Path) -> None:
    with Workspace.open(root, settings=SETTINGS) as workspace:
        ids = []
        for full in (False, True, True):
            workspace.index(full=full)
            with closing(sqlite3.connect(workspace.state.database)) as connection:
                ids.append({row[0] for row in connection.execute("SELECT id FROM blob")})
    assert not ids[0] & ids[1]
    assert not ids[1] & ids[2]


def test_a_question_reads_one_state_though_the_index_is_built_anew_in_its_midst(root: Path) -> None:
    with Workspace.open(root, settings=SETTINGS) as workspace, Workspace.open(root, settings=SETTINGS) as writer:
        writer.index()
        graph_states: list[tuple[meta_db.State, meta_db.State]] = []

        def progress(done: int, _: int) -> None:  # while facts are found for the first time
            if done == 1:
                writer.index(full=True)

        links = workspace.graph.callers("work_3", progress=progress).links
        assert [one.symbol.name for one in links] == ["work_2"]
        with closing(writer.state.open_for_reading()) as connection:
            graph_states.append((meta_db.state(connection), workspace.graph.current().code.snapshot.state))
        assert graph_states[0][0] == graph_states[0][1]


def test_an_older_copy_of_the_database_is_noticed_by_the_files_it_lacks(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with Workspace.open(root, settings=SETTINGS) as workspace:
        workspace.index()
        with closing(sqlite3.connect(workspace.state.database)) as one, closing(sqlite3.connect(copy)) as other:
            one.backup(other)
        (root / "step_3.py").write_text("def work_3():\n    return elsewhere\n\n\ndef added():\n    return work_3()\n")
        workspace.index()
        workspace.graph.current().network.save(workspace.state.graph(workspace.graph.current().code.view_id))
    for suffix in ("-wal", "-shm"):
        Path(f"{workspace.state.database}{suffix}").unlink(missing_ok=True)
    os.replace(copy, workspace.state.database)
    (root / "step_3.py").write_text("def work_3():\n    return other\n\n\ndef instead():\n    return work_3()\n")
    with Workspace.open(root, settings=SETTINGS) as workspace:
        before = _identity(copy if copy.exists() else workspace.state.database)
        workspace.index()
        assert _identity(workspace.state.database) != before
        assert callers(workspace, 3) == ["work_2", "instead"]
        assert not [one for one in workspace.upkeep.doctor() if one.repair]


def _identity(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return meta_db.identity(connection)


def test_a_name_in_the_database_leads_out_of_the_folder_for_nobody(root: Path) -> None:
    with Workspace.open(root, settings=SETTINGS) as workspace:
        workspace.index()
        with closing(sqlite3.connect(workspace.state.database)) as connection, connection:
            connection.execute("UPDATE segment SET name = '../../../elsewhere' || id")
    with Workspace.open(root, settings=SETTINGS) as workspace:
        assert [hit.name for hit in workspace.search("work_3", limit=1).code] == ["work_3"]
        assert files_set_aside(workspace.state)
