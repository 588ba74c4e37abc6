"""What `cairn dead` says of code that only the language, a library, or other unreached code uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files


def dead(root: Path, files: dict[str, str]) -> dict[str, tuple[str, float]]:
    """Return what is dead in a small project: reason and confidence by name."""
    write_files(root, files)
    with Workspace.open(root) as workspace:
        workspace.index()
        return {each.symbol.name: (each.reason, each.confidence) for each in workspace.graph.dead_code().dead}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.cpp",
            "class Lock {\n public:\n  ~Lock() {}\n  bool operator()(int a) { return a; }\n};\n"
            "int main() { Lock l{}; }\n",
        ),
        ("a.rb", "class Till\n  def respond_to_missing?(n, p); end\n  def self.inherited(c); end\nend\nTill.new\n"),
        ("a.rb", "module Base\n  def self.included(c); end\n  def self.method_added(n); end\nend\n"),
        ("a.ex", "defmodule Till do\n  @impl true\n  def handle_ring(x, y), do: {x, y}\nend\n"),
        ("a.ex", "defmodule Wrong do\n  defexception [:text]\n  def message(x), do: x\nend\n"),
        (
            "A.java",
            "class A {\n  public static void main(String[] a) { new A(); }\n"
            "  private Object readResolve() { return this; }\n}\n",
        ),
        ("a.py", "@implementer(ITill)\nclass Till:\n    def rang(self, x):\n        return x\n\n\nprint(Till())\n"),
        (
            "a.scala",
            "private trait Given\nobject Main {\n  def main(a: Array[String]): Unit = ()\n"
            "  private implicit def all[F]: Given = new Given {}\n}\n",
        ),
        (
            "a.swift",
            "class Till: UIView {\n  override func draw() {}\n  func callAsFunction() {}\n}\n"
            "func main() { let t = Till()\n  t() }\n",
        ),
        (
            "a.cs",
            "class Pair {\n  void Deconstruct(out int a) { a = 1; }\n  int GetAwaiter() { return 1; }\n"
            "  static void Main() { var (a) = new Pair(); }\n}\n",
        ),
        ("a.c", "int DllMain(void *instance) { return 1; }\n"),
    ],
    ids=[
        *("c++", "ruby class", "ruby module", "elixir callback", "elixir exception", "java", "python", "scala"),
        *("swift", "c#", "c"),
    ],
)
def test_what_is_called_implicitly_is_not_dead(path: str, text: str, tmp_path: Path) -> None:
    assert dead(tmp_path, {path: text}) == {}


def test_what_is_called_implicitly_keeps_alive_what_it_calls(tmp_path: Path) -> None:
    text = (
        "@implementer(ITill)\nclass Till:\n    def rang(self):\n        return _helper()\n\n\n"
        "def _helper():\n    return 1\n\n\nprint(Till())\n"
    )
    assert dead(tmp_path, {"a.py": text}) == {}


def test_what_only_unreached_code_uses_is_less_surely_dead(tmp_path: Path) -> None:
    text = "def _lost():\n    return _helper()\n\n\ndef _helper():\n    return 1\n"
    found = dead(tmp_path, {"a.py": text})
    assert found["_lost"][1] > 0.8
    assert found["_helper"] == ("only unreached code uses it", 0.3)


def test_a_type_made_with_type_arguments_is_not_said_to_be_named_nowhere(tmp_path: Path) -> None:
    text = "private trait Pair[A] { def x: Int }\nprivate class Lost { def f = new Pair[Int] { def x = 1 } }\n"
    found = dead(tmp_path, {"a.scala": text})
    assert set(found) == {"Lost"}


def test_what_nothing_calls_is_still_dead_beside_what_is_called_implicitly(tmp_path: Path) -> None:
    text = "class Lock {\n public:\n  ~Lock() {}\n private:\n  static void lonely() {}\n};\nint main() { Lock l{}; }\n"
    assert set(dead(tmp_path, {"a.cpp": text})) == {"Lock.lonely"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.scala",
            "object Main {\n  def main(a: Array[String]): Unit = ()\n"
            "  private implicit def all[F]: Order[F] = new Order[F] { override def turned(x: F): F = x }\n}\n",
        ),
        (
            "A.java",
            "class A {\n  public static void main(String[] a) {\n"
            "    new Task() { void turned() {} }.start();\n  }\n}\n",
        ),
        (
            "a.ex",
            "defmodule Till do\n  @impl true\n  def ring(x), do: x\n  def counted(x), do: x\nend\n"
            "defmodule Shop do\n  @impl true\n  def open(x), do: x\n  defdelegate counted(x), to: Till\nend\n",
        ),
    ],
    ids=["scala", "java", "delegate of elixir"],
)
def test_what_an_anonymous_type_or_a_delegate_may_use_is_not_dead(path: str, text: str, tmp_path: Path) -> None:
    assert dead(tmp_path, {path: text}) == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.swift", "#if os(Linux)\nfunc ring() -> Int { return 1 }\n#else\nfunc ring() -> Int { return 2 }\n#endif\n"),
        (
            "a.c",
            "#ifdef A\nstatic int ring(int x) { return 1; }\n#else\nstatic int ring(int x) { return 2; }\n#endif\n",
        ),
    ],
)
def test_what_several_branches_declare_is_listed_once(path: str, text: str, tmp_path: Path) -> None:
    write_files(tmp_path, {path: text})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        (found,) = workspace.graph.dead_code().dead
        assert (found.symbol.line, found.reason.rpartition("; ")[2]) == (2, "also declared in line 4")
        (entry,) = workspace.graph.map().entries
        assert [line for line, _ in entry.symbols] == [2]


def test_types_of_c_are_used_by_their_tags_and_by_their_enumerators(tmp_path: Path) -> None:
    files = {
        "till.c": "struct till {\n\tint sum;\n};\nstruct spare {\n\tint sum2;\n};\nenum mood { GLAD, SAD };\n"
        "enum unused { NEVER };\nenum kind { KIND_A };\n\nstatic enum kind\nkind_of(void *data) {\n"
        "\tstruct till *all = data;\n\treturn all == NULL ? GLAD : 0;\n}\n\nint main(void) { return kind_of(0); }\n",
    }
    assert set(dead(tmp_path, files)) == {"spare", "unused"}


def test_a_grammar_of_yacc_calls_functions_of_c(tmp_path: Path) -> None:
    files = {
        "till.c": "int add(int a) { return a; }\nint spare(int a) { return a; }\nint main(void) { return 0; }\n",
        "parse.y": "%%\nsum: NUMBER {\n\t\t$$ = add($1);\n\t}\n",
    }
    assert set(dead(tmp_path, files)) == {"spare"}
