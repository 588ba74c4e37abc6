"""The symbol graph of a large project is resolved before anybody asks for it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cairn.graph.patience import LEAST_FILES
from cairn.index.facts import definitions_and_facts
from cairn.workspace import Workspace


def write_files(root: Path, count: int) -> None:
    root.mkdir()
    for number in range(count):
        calls = f"from m{number - 1} import f{number - 1}\n\n\n" if number else ""
        (root / f"m{number}.py").write_text(
            f"{calls}def f{number}():\n    return {f'f{number - 1}()' if number else 0}\n"
        )


def n_facts(workspace: Workspace) -> int:
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        return int(connection.execute("SELECT count(*) FROM facts").fetchone()[0])


def test_what_a_large_project_refers_to_is_found_once_for_each_state_of_its_index(tmp_path: Path) -> None:
    write_files(tmp_path / "large", LEAST_FILES)
    with Workspace.open(tmp_path / "large") as workspace:
        workspace.index()
        process = workspace.upkeep.prepare_graph()
        assert process is not None
        assert process.wait(120) == 0
        assert n_facts(workspace) == LEAST_FILES
        assert workspace.upkeep.prepare_graph() is None
        assert len(workspace.graph.callers("f7").links) == 1
        (tmp_path / "large" / "more.py").write_text("def more():\n    return 1\n")
        workspace.index()
        process = workspace.upkeep.prepare_graph()
        assert process is not None
        process.terminate()
        process.wait(120)


def test_a_small_project_needs_no_preparation(tmp_path: Path) -> None:
    write_files(tmp_path / "small", 3)
    with Workspace.open(tmp_path / "small") as workspace:
        workspace.index()
        assert workspace.upkeep.prepare_graph() is None
        assert n_facts(workspace) == 0


@pytest.mark.parametrize("analysis", ["1", ""])
def test_what_another_version_found_in_a_file_is_read_without_an_update_and_does_no_harm(
    tmp_path: Path, analysis: str
) -> None:
    root = tmp_path / "older"
    write_files(root, 3)
    longer = "".join(f"def g{number}():\n    return f1()\n\n\n" for number in range(9)).encode()
    _, of_longer = definitions_and_facts(longer, "python")
    with Workspace.open(root) as workspace:
        workspace.index()
        assert callers_of_one(workspace) == ["f2"]
        with closing(sqlite3.connect(workspace.state.database)) as connection, connection:
            if analysis:
                connection.execute("UPDATE meta SET value = ? WHERE key = 'analysis'", (analysis,))
            assert connection.execute("UPDATE facts SET data = ?", (of_longer,)).rowcount == 2
    with Workspace.open(root) as workspace:
        assert callers_of_one(workspace) in ([], ["f2"])
        assert [effect.symbol.name for effect in workspace.graph.impact("f1").affected] in ([], ["f2"])
        (root / "m2.py").write_text("from m1 import f1\n\n\ndef g2():\n    return f1()\n")
        workspace.index()
        assert callers_of_one(workspace) == ["g2"]


def callers_of_one(workspace: Workspace) -> list[str]:
    return [link.symbol.name for link in workspace.graph.callers("f1").links]
