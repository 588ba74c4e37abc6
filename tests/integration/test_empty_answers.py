"""What an empty answer from the symbol graph says: what was looked at, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cairn.workspace import Workspace

FILES = {
    "a.py": (
        "from b import used\n\n\ndef main():\n    used(1)\n\n\ndef lonely():\n    print(1)\n\n\n"
        "class Lone:\n    def run(self):\n        return 2\n\n\nif __name__ == '__main__':\n    main()\n"
    ),
    "b.py": "def used(x):\n    return x\n",
    "run.ps1": "function Go-On {\n  1\n}\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("empty")
    for path, text in FILES.items():
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def only(notes: Sequence[str]) -> str:
    (note,) = notes
    return note


def test_a_symbol_without_callers_has_references_to_ask_for(workspace: Workspace) -> None:
    answer = workspace.graph.callers("lonely")
    assert (answer.links, only(answer.notes)) == (
        (),
        "Looked at 1 file of code that mentions `lonely`, without comments, texts and names made while it runs; "
        "see whatever else refers to it: cairn references a.py:8",
    )


def test_a_file_has_importers_rather_than_callers(workspace: Workspace) -> None:
    note = only(workspace.graph.callers("a.py").notes)
    assert note == "A file is imported rather than called; see by what: cairn importers a.py"


def test_a_function_without_callees_says_how_many_calls_lead_elsewhere(workspace: Workspace) -> None:
    note = only(workspace.graph.callees("lonely").notes)
    assert note.startswith("Of 1 call in it, none leads to a definition of this project; libraries do not count.")


def test_a_function_that_is_not_understood_says_that_calls_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(
        "def whole():\n    return 1\n\n\ndef halved():\n<<<<<<<\n    whole()\n=======\n\n\ndef last():\n    return 2\n"
    )
    with Workspace.open(tmp_path) as opened:
        opened.index()
        note = only(opened.graph.callees("halved").notes)
        assert note.startswith(
            "The syntax of typed.py is not understood from line 6 on, so calls there may be missing."
        )
        for name in ("whole", "last"):
            assert "syntax" not in only(opened.graph.callees(name).notes)


def test_what_is_called_on_both_sides_of_an_unfinished_merge_is_known(tmp_path: Path) -> None:
    (tmp_path / "merged.py").write_text(
        "def whole():\n    return 1\n\n\ndef halved():\n<<<<<<< HEAD\n    whole()\n=======\n    return whole()\n"
        ">>>>>>> other\n"
    )
    with Workspace.open(tmp_path) as opened:
        opened.index()
        assert [link.line for link in opened.graph.callees("halved").links] == [7, 9]


def test_a_type_without_subclasses_says_where_such_need_not_be_named(workspace: Workspace) -> None:
    note = only(workspace.graph.subclasses("Lone").notes)
    assert "of types that do not name what they implement, only those of Go are found" in note


def test_a_symbol_without_references_has_a_search_that_lists_comments(workspace: Workspace) -> None:
    note = only(workspace.graph.references("lonely").notes)
    assert note.endswith("to list these as well: cairn search lonely --mode literal")


def test_symbols_without_a_path_between_them_say_how_far_it_was_looked_for(workspace: Workspace) -> None:
    note = only(workspace.graph.call_path("lonely", "main").notes)
    assert note == (
        "1 definition that lonely reaches by calls was looked at; see what calls the other end: cairn callers a.py:4"
    )


def test_a_file_without_importers_says_how_many_files_may_name_it(workspace: Workspace) -> None:
    note = only(workspace.graph.importers("a.py").notes)
    assert note == "Looked at 0 files that may name it. To see where its name stands: cairn search a --mode literal"


def test_a_language_whose_imports_lead_to_no_files_is_named(workspace: Workspace) -> None:
    note = only(workspace.graph.importers("run.ps1").notes)
    assert note.startswith("Which files import run.ps1 is not known: imports of powershell are not resolved to files.")


def test_a_change_without_effect_says_how_many_files_were_looked_at(workspace: Workspace) -> None:
    note = only(workspace.graph.impact("Lone").notes)
    assert note.startswith("Looked at calls, types and imports in 3 files, over any number of steps;")


def test_a_symbol_without_tests_says_what_counts_as_one(workspace: Workspace) -> None:
    note = only(workspace.graph.choose_tests("Lone").notes)
    assert note.startswith("Tests that reach it by calls, import its file, or share its name were looked for;")


def test_a_project_without_cycles_says_which_imports_were_looked_at(workspace: Workspace) -> None:
    note = only(workspace.graph.import_cycles().notes)
    assert note == (
        "Looked at 1 import between 3 files of code; imports of powershell are not resolved to files. "
        "For the most central files: cairn map"
    )


# Files that define both what is called without its name and, as `lonely`, what is not.
IMPLICIT = {
    "a.py": (
        "@implementer(IThing)\nclass Thing:\n    def started(self):\n        pass\n\n\n"
        "class Pair:\n    def __add__(self, other):\n        return other\n\n    def lonely(self):\n        pass\n"
    ),
    "a.lua": "local mt = {}\nmt.__lt = function(a, b) return a.x < b.x end\nfunction mt.lonely(a) return a end\n",
    "a.rs": (
        "struct A;\ntrait Own { fn own(&self); }\nimpl Drop for A { fn drop(&mut self) {} }\n"
        "impl Own for A { fn own(&self) {} }\nimpl A { fn lonely(&self) {} }\n"
    ),
    "A.java": "class A { public String toString() { return null; } void lonely() {} }\n",
    "a.kt": "class P {\n  operator fun plus(o: P): P = o\n  fun lonely() {}\n}\n",
    "a.cs": 'class Z {\n  public override string ToString() { return ""; }\n  void Lonely() {}\n}\n',
    "a.scala": "object Im {\n  implicit def conv(x: Int): String = null\n  def lonely(implicit e: Int): Int = e\n}\n",
    "a.rb": "class C\n  def <=>(other); end\n  def lonely; end\n  def method_missing(name); end\nend\n",
    "a.ex": (
        "defmodule Server do\n  @impl true\n  @doc false\n  def init(state), do: state\n  def lonely(x), do: x\nend\n"
        "defmodule Wrong do\n  defexception [:text]\n  def exception(x), do: x\nend\n"
    ),
    "a.cpp": "struct Cmp {\n  bool operator()(int a) const { return true; }\n  ~Cmp() {}\n  void lonely() {}\n};\n",
}


@pytest.fixture(scope="module")
def implicit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("implicit")
    for path, text in IMPLICIT.items():
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    "symbol",
    [
        *(
            "a.py:Thing.started",
            "a.py:Pair.__add__",
            "a.lua:mt.__lt",
            "a.rs:A.drop",
            "A.java:A.toString",
            "a.kt:P.plus",
        ),
        *("a.cs:Z.ToString", "a.scala:Im.conv", "a.rb:C.<=>", "a.rb:C.method_missing", "a.ex:Server.init"),
        *("a.ex:Wrong.exception", "a.cpp:Cmp.operator()", "a.cpp:Cmp.~Cmp"),
    ],
)
def test_no_callers_say_little_of_what_is_called_implicitly(symbol: str, implicit: Workspace) -> None:
    answer = implicit.graph.callers(symbol)
    expected = "It is called implicitly, by the language or a library, which is not followed, so this says little. Look"
    assert (answer.links, only(answer.notes)[: len(expected)]) == ((), expected)


@pytest.mark.parametrize(
    "symbol",
    [
        *("a.py:Pair.lonely", "a.lua:mt.lonely", "a.rs:4", "a.rs:A.lonely", "A.java:A.lonely", "a.kt:P.lonely"),
        *("a.cs:Z.Lonely", "a.scala:Im.lonely", "a.rb:C.lonely", "a.ex:Server.lonely", "a.cpp:Cmp.lonely"),
    ],
)
def test_nothing_is_said_of_implicit_calls_of_other_definitions(symbol: str, implicit: Workspace) -> None:
    answer = implicit.graph.callers(symbol.replace("a.rs:4", "a.rs:4"))
    assert not any("implicitly" in note for note in answer.notes)
