"""An index above the size from which graphs are built, which is set low here."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from cairn.answers import Answer
from cairn.config import Settings
from cairn.errors import IndexMissingError
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.workspace import Workspace

LARGE = Settings(exact_chunks=100)
N_FILES = 120
QUESTIONS = ("how is topic_7 stored", "which handler reads colour and shape", "work_31_1", "open a stream of events")
WORDS = ("colour", "shape", "event", "stream", "socket", "matrix", "parser", "ticket", "memory", "thread", "folder")


def write_files(root: Path, first: int, last: int) -> None:
    for number in range(first, last):
        one, two, three = (WORDS[number // step % len(WORDS)] for step in (1, 3, 7))
        body = "\n".join(f"    {one}_{step} = {two}.store({three}, offset + {step})" for step in range(8))
        text = "\n\n".join(
            f'def work_{number}_{place}(offset):\n    """Handle the {one} of a {two}."""\n{body}\n    return {three}\n'
            for place in range(3)
        )
        (root / f"topic_{number}.py").write_text(text)


WITHOUT_USEARCH = """
import runpy, sys
sys.modules["usearch"] = None
runpy.run_module("cairn", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose index is large enough for a graph, indexed without one."""
    root = tmp_path / "root"
    root.mkdir()
    write_files(root, 0, N_FILES)
    with Workspace.open(root, settings=LARGE) as workspace:
        workspace.index()
    return root


def graphs(root: Path) -> list[Path]:
    return sorted((root / ".cairn/derived").glob("*.hnsw"))


def found(answer: Answer) -> list[tuple[str, int, float]]:
    return [(hit.path, hit.start_line, round(hit.score, 4)) for hit in answer.code]


def answers(root: Path) -> list[list[tuple[str, int, float]]]:
    with Workspace.open(root, settings=LARGE) as workspace:
        return [found(workspace.search(question, limit=20)) for question in QUESTIONS]


def test_an_index_up_to_the_limit_gets_no_graph(project: Path) -> None:
    with Workspace.open(project) as workspace:
        assert workspace.upkeep.build_graphs() == 0
    with Workspace.open(project, settings=Settings(exact_chunks=0)) as workspace:
        assert workspace.upkeep.build_graphs() == 0
    assert not graphs(project)


def test_nothing_indexed_yet_is_said(tmp_path: Path) -> None:
    with Workspace.open(tmp_path) as workspace, pytest.raises(IndexMissingError):
        workspace.upkeep.build_graphs()


def test_a_graph_is_built_once_and_answers_as_an_exact_search_does(project: Path) -> None:
    exact = answers(project)
    with Workspace.open(project, settings=LARGE) as workspace:
        told: list[tuple[int, int]] = []
        n_chunks = workspace.upkeep.build_graphs(lambda done, total: told.append((done, total)))
        assert n_chunks == workspace.index().chunks
        assert told
        assert workspace.upkeep.build_graphs() == 0
    assert len(graphs(project)) == 1
    assert answers(project) == exact


def test_an_open_workspace_takes_up_a_graph_that_was_built_since(project: Path) -> None:
    with Workspace.open(project, settings=LARGE) as reader:
        before = found(reader.search(QUESTIONS[0]))
        with Workspace.open(project, settings=LARGE) as workspace:
            workspace.upkeep.build_graphs()
        assert found(reader.search(QUESTIONS[0])) == before


def test_what_changes_later_is_found_beside_the_graph(project: Path) -> None:
    with Workspace.open(project, settings=LARGE) as workspace:
        workspace.upkeep.build_graphs()
        write_files(project, N_FILES, N_FILES + 3)
        (project / "topic_31.py").unlink()
        workspace.index()
        assert len(graphs(project)) == 1
        assert workspace.search(f"work_{N_FILES}_1").code[0].name == f"work_{N_FILES}_1"
        hits = workspace.search("work_31_1").code
        assert all(hit.path != "topic_31.py" for hit in hits)


def test_the_graph_of_a_segment_that_is_gone_goes_too(project: Path) -> None:
    with Workspace.open(project, settings=LARGE) as workspace:
        workspace.upkeep.build_graphs()
        (old,) = graphs(project)
        workspace.index(full=True)
        assert not graphs(project)
        assert workspace.upkeep.build_graphs() > 0
    assert graphs(project) != [old]


@pytest.mark.parametrize("harm", ["remove", "truncate", "alter"])
def test_a_harmed_graph_is_no_error_and_is_built_anew(project: Path, harm: str) -> None:
    exact = answers(project)
    with Workspace.open(project, settings=LARGE) as workspace:
        workspace.upkeep.build_graphs()
    (file,) = graphs(project)
    whole = file.read_bytes()
    if harm == "remove":
        file.unlink()
    elif harm == "truncate":
        file.write_bytes(whole[:-100])
    else:
        file.write_bytes(whole[:5_000] + bytes([whole[5_000] ^ 1]) + whole[5_001:])
    assert answers(project) == exact
    with Workspace.open(project, settings=LARGE) as workspace:
        workspace.index()
        assert workspace.upkeep.build_graphs() > 0
    assert graphs(project) == [file]


def test_a_second_process_leaves_the_graph_to_the_first(project: Path) -> None:
    with Workspace.open(project, settings=LARGE) as workspace, write_lock(workspace.state.neighbours_lock, 0.0, INDEX):
        assert workspace.upkeep.build_graphs() == 0
    assert not graphs(project)


def test_a_segment_that_is_merged_away_meanwhile_gets_no_graph(project: Path) -> None:
    with Workspace.open(project, settings=LARGE) as workspace:

        def replace(_done: int, _total: int) -> None:
            with Workspace.open(project) as other:
                other.index(full=True)

        assert workspace.upkeep.build_graphs(replace) == 0
    assert not graphs(project)


def test_a_writer_that_does_not_end_costs_the_graph_and_nothing_else(project: Path) -> None:
    impatient = Settings(exact_chunks=LARGE.exact_chunks, lock_timeout_seconds=0.0)
    with Workspace.open(project, settings=impatient) as workspace, ExitStack() as stack:

        def write(done: int, total: int) -> None:
            stack.enter_context(write_lock(workspace.state.lock, 0.0, INDEX))

        assert workspace.upkeep.build_graphs(write) == 0
    assert not graphs(project)


def spawn(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cairn", "index", str(root)]
    return subprocess.Popen(command, env=os.environ | {"CAIRN_EXACT_CHUNKS": "100"}, stdout=subprocess.PIPE, text=True)


def test_the_command_builds_the_graph_and_says_so_once(project: Path) -> None:
    for lines in (1, 0):
        out, _ = spawn(project).communicate()
        assert out.count("Linked ") == lines
        assert len(graphs(project)) == 1


def test_a_kill_while_the_graph_is_built_leaves_an_index_that_answers(project: Path) -> None:
    exact = answers(project)
    for seconds in (0.3, 0.5, 0.7):
        process = spawn(project)
        time.sleep(seconds)
        process.kill()
        process.communicate()
        assert answers(project) == exact
    with Workspace.open(project, settings=LARGE) as workspace:
        workspace.upkeep.build_graphs()
    assert len(graphs(project)) == 1
    assert answers(project) == exact


def test_without_the_extra_every_chunk_is_compared_and_a_graph_that_is_there_stays(project: Path) -> None:
    environment = os.environ | {"CAIRN_EXACT_CHUNKS": "100"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", WITHOUT_USEARCH, *command, "-C", str(project)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip

    done = run("index")
    assert "try: uv tool install 'codecairn[large]'" in done.stderr
    exact = run("search", QUESTIONS[2], "--no-daemon").stdout
    assert "topic_31.py" in exact
    with Workspace.open(project, settings=LARGE) as workspace:
        assert workspace.upkeep.build_graphs() > 0
        graphs = list(workspace.state.derived.glob("*.hnsw"))
    assert run("search", QUESTIONS[2], "--no-daemon").stdout == exact
    assert graphs
    assert all(one.exists() for one in graphs)
