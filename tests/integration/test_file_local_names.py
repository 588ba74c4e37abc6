"""What a source file of C++ keeps to itself is not what another one has of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "base.h": (
        "class Sink {\n public:\n  virtual void Send() {}\n};\n\n"
        "class Engine {\n  class Part;\n  Part* part_;\n  void Go();\n};\n\n"
        "template <class T> void Drain(T& items) { items.Pop(); }\n"
    ),
    "a.cc": (
        '#include "base.h"\n\nnamespace {\nclass Filter {\n public:\n  void Run() { Step(); }\n  void Step();\n'
        "  void Pop() {}\n};\nvoid Filter::Step() {}\nint Helper(int x) { return x; }\n}  // namespace\n\n"
        "static int Local(int x) { return x; }\n\n"
        "int UseA() {\n  Filter f;\n  f.Run();  // a\n  Drain(f);\n  return Helper(1) + Local(2);  // a\n}\n"
    ),
    "b.cc": (
        '#include "base.h"\n\nnamespace {\nclass Filter {\n public:\n  void Run() {}\n  void Other() {}\n};\n'
        "int Helper(int x) { return x; }\n\nclass Loud : public Sink {\n public:\n  void Send() override {}\n};\n"
        "}  // namespace\n\nstatic int Local(int x) { return x; }\n\n"
        "int UseB() {\n  Filter* f = new Filter();  // b\n  f->Run();  // b\n  return Helper(1) + Local(2);  // b\n}\n"
    ),
    "engine.cc": (
        '#include "base.h"\n\nclass Engine::Part {\n public:\n  void Turn() {}\n};\n\n'
        "void Engine::Go() { part_->Turn(); }\n\nvoid send(Sink* sink) { sink->Send(); }\n"
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("project")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize("symbol", ["Filter.Run", "Helper", "Local"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_callers_are_those_of_the_own_file(project: Workspace, symbol: str, name: str) -> None:
    links = project.graph.callers(f"{name}.cc:{symbol}")
    lines = FILES[f"{name}.cc"].splitlines()
    assert {link.path for link in links.links} == {f"{name}.cc"}
    assert all(lines[link.line - 1].endswith(f"// {name}") for link in links.links)
    assert links.unresolved is None
    found = project.graph.references(f"{name}.cc:{symbol}")
    assert {one.path for one in found.references} == {f"{name}.cc"}


@pytest.mark.parametrize(("name", "other"), [("a", "UseB"), ("b", "UseA")])
def test_a_change_of_a_class_affects_nobody_who_uses_another_of_its_name(
    project: Workspace, name: str, other: str
) -> None:
    affected = {effect.symbol.name for effect in project.graph.impact(f"{name}.cc:Filter").affected}
    assert affected == {f"Use{name.upper()}"} - {other}


@pytest.mark.parametrize("symbol", ["Filter", "Filter.Run", "Helper", "Local"])
def test_a_name_that_two_files_keep_to_themselves_is_of_two_symbols(project: Workspace, symbol: str) -> None:
    assert [namesake.path for namesake in project.graph.callers(symbol).namesakes or ()] == ["a.cc", "b.cc"]


def test_a_method_that_stands_outside_of_a_class_belongs_to_that_of_its_file(project: Workspace) -> None:
    assert [(link.path, link.line) for link in project.graph.callers("Filter.Step").links] == [("a.cc", 6)]


def test_a_class_that_a_header_only_declares_has_the_members_of_its_source(project: Workspace) -> None:
    assert [link.symbol.name for link in project.graph.callers("Engine.Part.Turn").links] == ["Engine.Go"]


@pytest.mark.parametrize(("symbol", "place"), [("Loud.Send", "engine.cc"), ("Filter.Pop", "base.h")])
def test_what_others_call_by_a_base_or_a_template_is_not_said_to_be_uncalled(
    project: Workspace, symbol: str, place: str
) -> None:
    links = project.graph.callers(symbol)
    by_base = [link.path for base in links.above or () for link in base.links]
    unresolved = [] if links.unresolved is None else [mention.path for mention in links.unresolved.first]
    assert [*by_base, *unresolved] == [place]


@pytest.mark.parametrize("ending", ["c", "cpp"])
def test_a_parameter_or_variable_hides_the_function_that_has_its_name(tmp_path: Path, ending: str) -> None:
    code = (
        "typedef int (*Handler)(int);\n"
        "int notify(int x) { return x; }\n"
        "int pointed(int (*notify)(int)) { return notify(1); }\n"
        "int typed(Handler notify) { return notify(2); }\n"
        "int passed(int (*notify)(int)) { return pointed(notify); }\n"
        "int plain(int x) { return notify(x) + pointed(notify); }\n"
        "int local(int x) { int (*notify)(int) = 0; return notify(x); }\n"
        "int late(int x) { char *(*notify)(int); notify = 0; return notify(x) != 0; }\n"
    )
    (tmp_path / f"a.{ending}").write_text(code)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert {link.line for link in workspace.graph.callers("notify").links} == {6}
