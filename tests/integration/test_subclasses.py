"""What derives from a type or implements it, in the languages as people write them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.graph.values import Links, Mention, Unresolved
from cairn.workspace import Workspace

FILES = {
    "go/render.go": (
        'package render\n\nimport "io"\n\n'
        "type Render interface {\n\tRender(w io.Writer) error\n\tContentType() string\n}\n\n"
        "type JSON struct{ Data any }\n\n"
        "func (r JSON) Render(w io.Writer) error { return nil }\n\n"
        "type Half struct{}\n\nfunc (Half) Render(w io.Writer) error { return nil }\n\n"
        "type Odd struct{}\n\nfunc (Odd) Render(w io.Writer, deep bool) error { return nil }\n\n"
        'func (Odd) ContentType() string { return "odd" }\n\n'
        "type Pretty struct {\n\tJSON\n}\n"
    ),
    "go/content.go": 'package render\n\nfunc (r JSON) ContentType() string { return "json" }\n',
    "go/other/mark.go": (
        'package other\n\nimport "io"\n\ntype Mark struct{}\n\n'
        "func (m *Mark) Render(out io.Writer) error { return nil }\n\n"
        'func (m *Mark) ContentType() string { return "mark" }\n'
    ),
    "rust/lib.rs": (
        "pub trait Paint {\n    fn paint(&self) -> u32;\n}\n\npub struct Wall;\n\n"
        "impl Paint for Wall {\n    fn paint(&self) -> u32 {\n        1\n    }\n}\n\n"
        "pub struct Door;\n\n"
        "cfg_rt! {\n    impl Paint for Door {\n        fn paint(&self) -> u32 {\n            2\n        }\n    }\n}\n"
    ),
    "swift/Coat.swift": (
        "protocol Coat {\n    func wear()\n}\n\nstruct Jacket: Coat {\n    func wear() {}\n}\n\n"
        "struct Hat {}\n\nextension Hat: Coat {\n    func wear() {}\n}\n"
    ),
    "java/a/Sink.java": "package a;\n\npublic interface Sink {\n    void drain();\n}\n",
    "java/b/Basin.java": (
        "package b;\n\nimport a.Sink;\n\npublic class Basin implements Sink {\n    public void drain() {}\n}\n"
    ),
    "cs/Clock.cs": "namespace Time {\n    public interface IClock {\n        void Tick();\n    }\n}\n",
    "cs/Wall.cs": "using Time;\n\nclass WallClock : IClock {\n    public void Tick() {}\n}\n",
    "ts/shape.ts": "export interface Shape {\n  area(): number;\n}\n\nexport abstract class Body {}\n",
    "ts/circle.ts": (
        'import { Body, Shape as Figure } from "./shape";\n\n'
        "export class Circle extends Body implements Figure {\n  area() {\n    return 3;\n  }\n}\n"
    ),
    "php/Logger.php": "<?php\nnamespace App;\n\ninterface Logger {\n    public function log();\n}\n",
    "php/FileLogger.php": (
        "<?php\nnamespace App\\Files;\n\nuse App\\Logger;\n\n"
        "class FileLogger implements Logger {\n    public function log() {}\n}\n"
    ),
    "ruby/pet.rb": "class Pet\n  def call\n  end\nend\n",
    "ruby/dog.rb": "class Dog < Pet\n  def call\n  end\nend\n\nclass Cat < elsewhere(Pet)\nend\n",
    "py/base.py": "class Stage:\n    def go(self):\n        return 1\n\n\nclass Lone:\n    pass\n",
    "py/more.py": (
        "from py import base\nfrom py.base import Stage as First\n\n\n"
        "class Second(First):\n    def go(self):\n        return 2\n\n\n"
        "class Third(base.Stage):\n    pass\n\n\nclass Fourth(Third):\n    pass\n"
    ),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("subclasses")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def places(links: Links) -> set[str]:
    return {f"{link.symbol.path}:{link.symbol.name}" for link in links.links}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("Paint", {"rust/lib.rs:Wall", "rust/lib.rs:Door"}),
        ("Coat", {"swift/Coat.swift:Jacket", "swift/Coat.swift:Hat"}),
        ("Sink", {"java/b/Basin.java:Basin"}),
        ("IClock", {"cs/Wall.cs:WallClock"}),
        ("Shape", {"ts/circle.ts:Circle"}),
        ("Body", {"ts/circle.ts:Circle"}),
        ("Logger", {"php/FileLogger.php:FileLogger"}),
        ("Pet", {"ruby/dog.rb:Dog"}),
        ("Stage", {"py/more.py:Second", "py/more.py:Third", "py/more.py:Fourth"}),
        ("Stage.go", {"py/more.py:Second.go"}),
        ("Lone", set()),
    ],
)
def test_what_derives_from_a_type_is_found_in_each_language(workspace: Workspace, symbol: str, found: set[str]) -> None:
    assert places(workspace.graph.subclasses(symbol)) == found


def test_a_type_of_go_implements_an_interface_whose_methods_it_has(workspace: Workspace) -> None:
    links = workspace.graph.subclasses("Render")
    assert places(links) == {"go/render.go:JSON", "go/render.go:Pretty", "go/other/mark.go:Mark"}
    assert (links.symbol.kind, links.unresolved) == ("interface", None)


def test_the_methods_that_implement_one_of_an_interface_of_go_are_found(workspace: Workspace) -> None:
    links = workspace.graph.subclasses("Render.ContentType")
    assert places(links) == {"go/content.go:JSON.ContentType", "go/other/mark.go:Mark.ContentType"}


def test_a_subclass_that_could_not_be_resolved_is_counted(workspace: Workspace) -> None:
    links = workspace.graph.subclasses("Pet")
    assert links.unresolved == Unresolved("base", ("Pet",), 1, (Mention("ruby/dog.rb", 6, "Pet"),))
    assert links.notes == (
        "1 more line says `Pet` as a base and could not be resolved: ruby/dog.rb:6; list it: "
        "cairn search '\\bPet\\b' --mode regex",
    )


def test_no_path_of_calls_tells_what_was_looked_at_and_which_calls_are_unknown(workspace: Workspace) -> None:
    answer = workspace.graph.call_path("Stage.go", "Paint.paint")
    assert answer.steps == ()
    assert "1 definition that Stage.go reaches by calls was looked at" in answer.notes[0]
