"""What C declares in many places: finding the bodies of all of it takes one look at each definition of the name."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.graph.code import Code
from cairn.graph.nodes import file_of
from cairn.graph.symbols import with_counterparts
from cairn.workspace import Workspace
from small_projects import write_files

MODULES = 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(MODULES):
        declared = f"int probe(int a{number});\n"
        body = f"int probe(int a{number}) {{\n    return 1;\n}}\n"
        write_files(tmp_path, {f"m{number}/api.h": declared, f"m{number}/api.c": body})
    return tmp_path


class Counted:
    """Code that counts how often a file is asked for."""

    def __init__(self, code: Code) -> None:
        self.paths = code.paths
        self.nodes_named = code.nodes_named
        self.asked = 0
        self._code = code

    def file(self, number: int) -> object:
        self.asked += 1
        return self._code.file(number)


def test_each_definition_of_a_name_is_looked_at_once_whatever_is_asked_about(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.index()
        code = Counted(workspace.graph.current().code)
        nodes = code.nodes_named("probe")
        assert sorted(with_counterparts(code, nodes)) == nodes  # type: ignore[arg-type]  # a part of it is enough
    assert len(nodes) == 2 * MODULES
    assert code.asked == 2 * len(nodes)


def test_of_very_many_definitions_of_a_name_the_nearest_are_compared(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.graph.symbols._MOST_COMPARED", 2)
    with Workspace.open(root) as workspace:
        workspace.index()
        code = workspace.graph.current().code
        declared = next(node for node in code.nodes_named("probe") if code.paths[file_of(node)] == "m7/api.h")
        found = with_counterparts(code, [declared])
    assert {code.paths[file_of(node)] for node in found} == {"m7/api.h", "m7/api.c"}
