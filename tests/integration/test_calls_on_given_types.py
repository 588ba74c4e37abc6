"""Calls on what a type argument says, on what a list of Dart holds, and on what a closure of Scala is given."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cairn.source.expressions import expression_in
from cairn.source.languages import BY_NAME
from cairn.source.references import read_facts
from cairn.workspace import Workspace
from small_projects import write_files

_KOTLIN = """package shop

class Till {
  fun ring() {}
  fun open() {}
}

inline fun <reified T> make(): T = TODO()

class Kit {
  fun <T> wrap(name: String): Kit = TODO()
  fun open() {}
}

fun go(kit: Kit) {
  make<Till>().ring()
  val till = make<Till>()
  till.ring()
  get<Till>().ring()
  kit.wrap<Till>("x").open()
  mutableListOf<Till>().open()
  getTills<Till>().open()
}
"""
_CSHARP = """public class Till { public void Ring() {} }
public class Use {
  T Make<T>() { return default; }
  void Go(IServiceProvider services) {
    services.GetRequiredService<Till>().Ring();
    Make<Till>().Ring();
    var till = services.GetService<Till>();
    till?.Ring();
    services.GetServices<Till>().Ring();
  }
}
"""
_DART = """class Line { int price() => 1; }
class Cart {
  final List<Line> lines = [];
  Map<String, Line> named = {};
  void go(List<Line> others) {
    for (final line in lines) { line.price(); }
    lines[0].price();
    named['a']!.price();
    final one = others.first;
    one.price();
    context.read<Line>().price();
  }
}
"""
_SCALA = """package shop
case class Line(total: Int) {
  def price: Int = total
  def cut(x: Int): Int = x
}
object Shop {
  def all(lines: List[Line]): Int = lines.map(_.price).sum
  def some(lines: Seq[Line]) = lines.filter(l => l.price > 1).map(_.cut(2))
  def each(lines: Seq[Line]): Unit = lines.foreach { line =>
    line.cut(1)
  }
  def one(line: Option[Line]) = line.map(_.price).getOrElse(0)
  def other(lines: List[String]) = lines.map(_.price)
}
"""


@pytest.mark.parametrize(
    ("path", "text", "symbol", "lines"),
    [
        ("a.kt", _KOTLIN, "Till.ring", [16, 18, 19]),
        ("a.kt", _KOTLIN, "Till.open", []),
        ("a.kt", _KOTLIN, "Kit.open", [20]),
        ("A.cs", _CSHARP, "Till.Ring", [5, 6, 8]),
        ("a.dart", _DART, "Line.price", [6, 7, 8, 10, 11]),
        ("a.scala", _SCALA, "Line.price", [7, 8, 12]),
        ("a.scala", _SCALA, "Line.cut", [8, 10]),
    ],
)
def test_calls_are_found_on_what_types_give(
    path: str, text: str, symbol: str, lines: list[int], tmp_path: Path
) -> None:
    write_files(tmp_path, {path: text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [link.line for link in workspace.graph.callers(symbol).links] == lines


def test_a_value_of_scala_that_is_a_list_still_has_those_that_read_it(tmp_path: Path) -> None:
    text = "object Kit {\n  lazy val parts: Seq[Kit] = Seq()\n}\nobject Use {\n  def go = Kit.parts\n}\n"
    write_files(tmp_path, {"a.scala": text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert 5 in [edge.line for edge in workspace.graph.current().resolver.edges(0)]


def test_a_name_of_dart_means_nothing_that_only_an_imported_file_imports(tmp_path: Path) -> None:
    files = {
        "lib/deep.dart": "void ring() {}\nvoid shut() {}\n",
        "lib/middle.dart": "import 'deep.dart';\nvoid middle() { shut(); }\n",
        "lib/barrel.dart": "export 'deep.dart';\n",
        "lib/use.dart": "import 'middle.dart';\nvoid use() { ring(); }\n",
        "lib/used.dart": "import 'barrel.dart';\npart 'piece.dart';\nvoid used() { ring(); }\n",
        "lib/piece.dart": "part of 'used.dart';\nvoid piece() { ring(); cut(); }\n",
        "lib/last.dart": "import 'used.dart';\nvoid last() { piece(); }\n",
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        callers = workspace.graph.callers
        assert {link.path for link in callers("lib/deep.dart:1").links} == {"lib/used.dart", "lib/piece.dart"}
        assert [link.path for link in callers("piece").links] == ["lib/last.dart"]


def test_an_extension_block_of_csharp_has_members_of_its_class(tmp_path: Path) -> None:
    text = (
        "public class Line { public int Price; }\npublic static class Extensions {\n    extension(Line line) {\n"
        "        public int WeighAll() => line.Price;\n        public bool IsFree => line.Price == 0;\n    }\n"
        "    extension<T>(IEnumerable<T> source) where T : Line {\n        public void EachLine(int n) { }\n    }\n"
        "    public static int Old(this Line line) => 1;\n}\n"
        "public class Use {\n  int Go(Line line) { line.Old(); Others.EachLine(1); return line.WeighAll(); }\n}\n"
    )
    write_files(tmp_path, {"a.cs": text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        definitions = workspace.graph.current().code.file(0).definitions
        assert [one.qualified_name for one in definitions if one.qualified_name.startswith("Extensions.")] == [
            *("Extensions.WeighAll", "Extensions.IsFree", "Extensions.EachLine", "Extensions.Old")
        ]
        for name in ("Extensions.WeighAll", "Extensions.Old", "Extensions.EachLine"):
            assert [link.line for link in workspace.graph.callers(name).links] == [13]


def test_a_call_of_rust_by_a_type_in_angle_brackets_is_found(tmp_path: Path) -> None:
    text = (
        "pub trait Ring { fn ring(&self); fn made() -> i32; }\npub struct Till;\n"
        "impl Ring for Till { fn ring(&self) {} fn made() -> i32 { 1 } }\n"
        "fn a<B>(b: &B) where B: Ring {\n    <B as Ring>::ring(b);\n}\n"
        "fn b(t: &Till) {\n    <Till as Ring>::ring(t);\n    <Till>::made();\n    <u32 as Ring>::made();\n}\n"
    )
    write_files(tmp_path, {"a.rs": text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        lines = {
            name: [link.line for link in workspace.graph.callers(name).links]
            for name in ("Ring.ring", "Ring.made", "Till.ring", "Till.made")
        }
    assert lines == {"Ring.ring": [5], "Ring.made": [10], "Till.ring": [8], "Till.made": [9]}


@pytest.mark.parametrize("raw", [b"<" * 1000, b"<A as " + b"a " * 500, b"<" + b" " * 999, b"<A as B" + b"<x" * 500])
def test_brackets_that_nobody_closes_are_read_in_time(raw: bytes) -> None:
    started = time.process_time()
    expression_in("rust", raw * 1000)
    read_facts(b"    extension<" + raw * 1000, BY_NAME["csharp"])
    assert time.process_time() - started < 5


def test_what_brackets_call_is_said_not_to_be_followed(tmp_path: Path) -> None:
    text = "struct Till {\n    subscript(at: Int) -> Int { at }\n}\nlet one = Till()[1]\n"
    write_files(tmp_path, {"a.swift": text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert "called implicitly" in workspace.graph.callers("Till.subscript").notes[0]


@pytest.mark.parametrize(
    "use",
    [
        "const all = {'a': Part.ring};",
        "class A { static const ring = Part.ring; }",
        "void go() { run(Part.ring); }",
        "void go() { final f = Part.ring; }",
        "void go() { run(a ? Part.ring : other); }",
        "Function go() => plain;",
        "Function go() { return plain; }",
        "final all = [plain];",
        "class A { Function f = plain; }",
    ],
)
def test_functions_of_dart_that_are_values_have_users(use: str, tmp_path: Path) -> None:
    text = f"class Part {{\n  static int ring() => 1;\n}}\nint plain() => 1;\n{use}\n"
    write_files(tmp_path, {"a.dart": text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        symbol = "plain" if "plain" in use else "Part.ring"
        assert [link.line for link in workspace.graph.callers(symbol).links] == [5]
