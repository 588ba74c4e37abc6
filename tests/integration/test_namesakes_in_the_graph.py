"""A name that several definitions have is asked about for all of them, each apart where an answer can tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import AmbiguousError
from cairn.mcp.graph_text import graph_text
from cairn.workspace import Workspace
from in_process import cairn, document
from small_projects import write_files

FILES = {
    "a.py": "def step():\n    return 1\n\n\ndef go():\n    return step()\n",
    "b.py": "import a\n\n\ndef step():\n    return a.go()\n\n\ndef run():\n    return step()\n",
    "c.py": "class Base:\n    pass\n\n\nclass Own(Base):\n    pass\n",
    "d.py": "class Base:\n    pass\n\n\nclass Other(Base):\n    pass\n",
    "e.py": "def step():\n    return 0\n",
    "tests/test_b.py": "from b import run\n\n\ndef test_run():\n    assert run()\n",
    "f.py": "class Left:\n    def set(self):\n        self.size = 1\n\n    def grow(self):\n        self.size += 1\n",
    "g.py": "class New:\n    def set(self):\n        self.size = 2\n\n    def halve(self):\n        return self.size\n",
    "aside/test_h.py": "def later():\n    return 1\n\n\ndef test_later():\n    assert later()\n",
    "h.py": "def later():\n    return 1\n",
    "limits.py": "ROOM = 3\n\n\ndef fill():\n    return ROOM\n",
    "tests/test_limits.py": "class Fake:\n    def ROOM(self):\n        return 4\n",
    "x/same.py": "",
    "y/same.py": "",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("namesakes")
    write_files(folder, FILES)
    cairn("index", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace.open(root) as opened:
        yield opened


def test_callers_of_a_name_are_those_of_each_definition_of_it(workspace: Workspace) -> None:
    links = workspace.graph.callers("step")
    assert [symbol.path for symbol in links.namesakes or ()] == ["a.py", "b.py", "e.py"]
    assert [(link.namesake, link.path, link.line) for link in links.links] == [(0, "a.py", 6), (1, "b.py", 9)]
    assert links.notes == (
        "This is about all 3 definitions called step, of which 2 have any; name one as PATH:LINE to ask about it alone",
    )


def test_importers_of_a_name_are_those_of_each_file_that_defines_it(workspace: Workspace) -> None:
    found = workspace.graph.importers("step")
    assert found.path == "a.py"
    assert [(importer.path, importer.line) for importer in found.importers] == [("b.py", 1), ("tests/test_b.py", 1)]
    assert found.notes[0] == (
        "This is about all 3 definitions called step; name one as PATH:LINE to ask about it alone"
    )
    assert [importer.path for importer in workspace.graph.importers("b.py:step").importers] == ["tests/test_b.py"]


def test_definitions_in_tests_come_behind_those_of_the_product(workspace: Workspace) -> None:
    assert [symbol.path for symbol in workspace.graph.impact("later").changed] == ["h.py", "aside/test_h.py"]


def test_a_function_of_a_test_does_not_hide_the_value_of_the_product(workspace: Workspace) -> None:
    found = workspace.graph.references("ROOM")
    assert found.symbol.path == "limits.py"
    assert [(reference.path, reference.line) for reference in found.references] == [("limits.py", 5)]


def test_one_definition_of_a_name_has_no_namesakes(workspace: Workspace) -> None:
    links = workspace.graph.callers("a.py:step")
    assert (links.namesakes, [link.namesake for link in links.links]) == (None, [None])


def test_callees_and_subclasses_of_a_name_are_those_of_each_definition(workspace: Workspace) -> None:
    calls = workspace.graph.callees("step")
    assert [(link.namesake, link.symbol.name) for link in calls.links] == [(1, "go")]
    derived = workspace.graph.subclasses("Base")
    assert [(link.namesake, link.symbol.name) for link in derived.links] == [(0, "Own"), (1, "Other")]


def test_references_impact_and_tests_of_a_name_are_about_all_definitions(workspace: Workspace) -> None:
    found = workspace.graph.references("step", kinds=["call"])
    assert [(one.path, one.line) for one in found.references] == [("a.py", 6), ("b.py", 9)]
    assert len(found.namesakes or ()) == 3
    impact = workspace.graph.impact("step")
    assert [symbol.path for symbol in impact.changed] == ["a.py", "b.py", "e.py"]
    assert {effect.symbol.name for effect in impact.affected} >= {"go", "run"}
    choice = workspace.graph.choose_tests("step")
    assert [test.path for test in choice.tests] == ["tests/test_b.py"]
    for notes in (found.notes, impact.notes, choice.notes):
        assert notes[0].startswith("This is about all 3 definitions called step;")


def test_a_path_that_several_files_have_needs_one(workspace: Workspace) -> None:
    with pytest.raises(AmbiguousError, match=r"x/same\.py, y/same\.py"):
        workspace.graph.callers("same.py")


def test_a_chain_of_calls_may_begin_and_end_at_any_definition_of_a_name(workspace: Workspace) -> None:
    found = workspace.graph.call_path("test_run", "step")
    assert [(step.path, step.symbol.name, step.line) for step in found.steps] == [
        ("tests/test_b.py", "test_run", 4),
        ("tests/test_b.py", "run", 5),
        ("b.py", "step", 9),
    ]
    assert (found.target.path, found.target.line, found.sources) == ("b.py", 4, None)
    assert [symbol.path for symbol in found.targets or ()] == ["a.py", "b.py", "e.py"]
    assert found.notes[0].startswith("This is about all 3 definitions called step;")
    assert [step.symbol.path for step in workspace.graph.call_path("step", "go").steps] == ["b.py", "a.py"]


def test_no_chain_of_calls_is_said_of_every_definition_of_a_name(root: Path) -> None:
    nothing = cairn("path", "go", "Base", cwd=root)
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "to any of 2 definitions (c.py:1, d.py:1)." in nothing.stderr


def test_a_field_of_several_types_is_asked_about_for_all_of_them(workspace: Workspace) -> None:
    found = workspace.graph.references("size")
    assert [(one.kind, one.path, one.line) for one in found.references if one.kind == "read"] == [("read", "g.py", 6)]
    assert {(one.path, one.line) for one in found.references} == {("f.py", 3), ("f.py", 6), ("g.py", 3), ("g.py", 6)}
    assert [symbol.name for symbol in found.namesakes or ()] == ["Left.size", "New.size"]
    assert found.notes[0] == (
        "This is about 2 fields called size: Left.size (f.py:3), New.size (g.py:3); "
        "name one as PATH:TYPE.FIELD to ask about it alone"
    )
    impact = workspace.graph.impact("size")
    assert {effect.symbol.name for effect in impact.affected} >= {"Left.grow", "New.halve"}
    assert [symbol.name for symbol in impact.changed] == ["Left.size", "New.size"]
    assert impact.notes[0] == workspace.graph.choose_tests("size").notes[0] == found.notes[0]
    assert workspace.graph.references("g.py:New.size").namesakes is None


def test_a_name_of_too_many_definitions_needs_one(tmp_path: Path) -> None:
    write_files(tmp_path, {f"m{number}.py": "def step():\n    return 1\n" for number in range(51)})
    with Workspace.open(tmp_path) as opened:
        opened.index()
        with pytest.raises(AmbiguousError, match="any of 51"):
            opened.graph.callers("step")


def test_the_command_prints_links_below_their_definition(root: Path) -> None:
    done = cairn("callers", "step", cwd=root)
    assert done.returncode == 0
    assert done.stdout == (
        "a.py:1  function step\n  a.py:6  function go  (call, exact)\n"
        "b.py:4  function step\n  b.py:9  function run  (call, exact)\n"
    )
    assert "all 3 definitions called step" in done.stderr
    answer = document(cairn("callers", "step", "--json", cwd=root))
    assert [link["namesake"] for link in answer["links"]] == [0, 1]
    nothing = cairn("subclasses", "step", cwd=root)
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert nothing.stderr.startswith("Nothing derives from or overrides any of 3 definitions (a.py:1, b.py:4, e.py:1).")


def test_an_agent_reads_links_below_their_definition_and_references_below_all(root: Path) -> None:
    answer = document(cairn("callers", "step", "--json", cwd=root))
    assert graph_text("callers", answer).splitlines()[:4] == [
        "of a.py:1  function step:",
        "a.py:6  function go  (call, exact)",
        "of b.py:4  function step:",
        "b.py:9  function run  (call, exact)",
    ]
    found = document(cairn("references", "step", "--json", cwd=root))
    assert graph_text("references", found).splitlines()[:3] == [
        "of a.py:1  function step,",
        "of b.py:4  function step,",
        "of e.py:1  function step:  (2 call)",
    ]
