"""Calls of C#: what namespaces, parts, extensions, patterns and attributes let a name mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers, write_files

BASE = """namespace Shop.Core
{
    public abstract class Reader
    {
        protected void Advance(int by) { }
        public static Reader Open() { return null; }
        public virtual void Close() { }
    }
}
"""


def test_a_type_of_an_enclosing_namespace_is_seen_without_an_import(tmp_path: Path) -> None:
    text = (
        "namespace Shop.Core.Text\n{\n    class Lines : Reader\n    {\n        void Run()\n        {\n"
        "            Reader.Open();\n            base.Close();\n            Advance(1);\n        }\n    }\n}\n"
    )
    files = {"Reader.cs": BASE, "Text/Lines.cs": text}
    assert callers(tmp_path, "Reader.Open", files) == {("Text/Lines.cs", 7)}
    assert callers(tmp_path, "Reader.Close", files) == {("Text/Lines.cs", 8)}
    assert callers(tmp_path, "Reader.Advance", files) == {("Text/Lines.cs", 9)}


def test_a_namespace_beside_is_not_seen_without_an_import(tmp_path: Path) -> None:
    other = "namespace Elsewhere\n{\n    class Log\n    {\n        void Run() { new Reader(); }\n    }\n}\n"
    assert callers(tmp_path, "Reader", {"Reader.cs": BASE, "Log.cs": other}) == set()


def test_a_part_of_a_type_inherits_what_another_part_says(tmp_path: Path) -> None:
    files = {
        "Reader.cs": BASE,
        "Lines.cs": "namespace Shop.Core;\n\npublic partial class Lines : Reader\n{\n    void Own() { }\n}\n",
        "Lines.Async.cs": (
            "namespace Shop.Core;\n\npublic partial class Lines\n{\n    void Run()\n    {\n        Advance(1);\n"
            "        Own();\n    }\n}\n"
        ),
    }
    assert callers(tmp_path, "Reader.Advance", files) == {("Lines.Async.cs", 7)}
    assert callers(tmp_path, "Lines.Own", files) == {("Lines.Async.cs", 8)}


def test_a_using_in_a_namespace_may_leave_out_what_is_around(tmp_path: Path) -> None:
    text = "namespace Shop;\n\nusing Core;\n\nclass App\n{\n    void Run() { Reader.Open(); }\n}\n"
    assert callers(tmp_path, "Reader.Open", {"Reader.cs": BASE, "App.cs": text}) == {("App.cs", 7)}


EXTENSIONS = """namespace Shop.Text
{
    public static class Texts
    {
        public static string Shorten(this string text, int to) { return text; }
    }
}
"""


@pytest.mark.parametrize("call", ['"long text".Shorten(3)', "given.Shorten(3)", "Texts.Shorten(given, 3)"])
def test_an_extension_is_called_like_a_method(tmp_path: Path, call: str) -> None:
    text = f"using Shop.Text;\n\nclass App\n{{\n    void Run(string given)\n    {{\n        {call};\n    }}\n}}\n"
    assert callers(tmp_path, "Shorten", {"Texts.cs": EXTENSIONS, "App.cs": text}) == {("App.cs", 7)}


def test_an_extension_of_a_namespace_that_is_not_imported_is_not_called(tmp_path: Path) -> None:
    text = "class App\n{\n    void Run(string given) { given.Shorten(3); }\n}\n"
    assert callers(tmp_path, "Shorten", {"Texts.cs": EXTENSIONS, "App.cs": text}) == set()


def test_a_static_method_is_not_called_on_a_value(tmp_path: Path) -> None:
    texts = "static class Letters\n{\n    public static bool IsBlankLetter(char letter) { return true; }\n}\n"
    text = "class App\n{\n    void Run(Outside given) { given.IsBlankLetter('x'); }\n}\n"
    assert callers(tmp_path, "IsBlankLetter", {"Letters.cs": texts, "App.cs": text}) == set()


@pytest.mark.parametrize(
    "statement",
    [
        "if (given is Reader reader) { reader.Close(); }",
        "if (Find(out Reader reader)) { reader.Close(); }",
        "((Reader)given).Close();",
        "(given as Reader)?.Close();",
        "var reader = Reader.Open(); reader.Close();",
        "Reader.Close();",
    ],
)
def test_the_type_of_a_value_is_known_by_what_stands_around_it(tmp_path: Path, statement: str) -> None:
    text = (
        "using Shop.Core;\n\nclass App\n{\n    Reader Reader { get; }\n    void Run(object given)\n    {\n"
        f"        {statement}\n    }}\n}}\n"
    )
    other = "class Door\n{\n    public void Close() { }\n}\n"
    files = {"Reader.cs": BASE, "Door.cs": other, "App.cs": text}
    assert callers(tmp_path, "Reader.Close", files) == {("App.cs", 8)}
    assert callers(tmp_path, "Door.Close", files) == set()


def test_a_value_of_a_type_from_elsewhere_calls_nothing_of_the_project(tmp_path: Path) -> None:
    own = "class Bytes\n{\n    public int ReadWholeNumber() { return 1; }\n}\n"
    text = "class App\n{\n    BinaryReader _reader;\n    void Run() { _reader.ReadWholeNumber(); }\n}\n"
    assert callers(tmp_path, "ReadWholeNumber", {"Bytes.cs": own, "App.cs": text}) == set()


def test_an_attribute_may_be_named_without_its_ending(tmp_path: Path) -> None:
    files = {
        "QuickAttribute.cs": "class QuickAttribute : System.Attribute\n{\n}\n",
        "App.cs": "class App\n{\n    [Quick]\n    void Run() { }\n}\n",
    }
    with_body = callers(tmp_path, "QuickAttribute", files)
    assert with_body == {("App.cs", 3)}


def test_directives_within_a_statement_do_not_end_the_type_around(tmp_path: Path) -> None:
    text = (
        "class App\n#if QUICK\n    : Quick\n#else\n    : Slow\n#endif\n{\n    void Run(int way)\n    {\n"
        "        if (way == 1) { First(); }\n#if QUICK\n        else if (way == 2) { Second(); }\n#endif\n"
        "        else { Third(); }\n    }\n    void First() { }\n    void Second() { }\n    void Third() { }\n}\n"
    )
    files = {"App.cs": text}
    assert callers(tmp_path, "App.First", files) == {("App.cs", 10)}
    assert callers(tmp_path, "App.Second", files) == {("App.cs", 12)}
    assert callers(tmp_path, "App.Third", files) == {("App.cs", 14)}


@pytest.mark.parametrize(
    "statements",
    [
        "var y = tot\n        Save(3)",
        "var y = tot\n        Save()",
        "var y = tot\n        Save(a, b)",
        "if (a\n        Save(4)",
        "if (a\n        Save(b)",
        "return a\n        Save(b, 1)",
    ],
)
def test_a_call_behind_a_statement_that_is_half_typed_is_known(tmp_path: Path, statements: str) -> None:
    text = (
        "class Till\n{\n    void Save(int a = 0, int b = 0) { }\n    int Run(int a, int b)\n    {\n"
        f"        {statements};\n        Save(5);\n    }}\n    void Next() {{ Save(6); }}\n}}\n"
    )
    assert callers(tmp_path, "Save", {"Till.cs": text}) == {("Till.cs", line) for line in (7, 8, 10)}


GUIDE = "namespace Shop.Drawing;\n\npublic class Guide\n{\n    public int Width() => 1;\n}\n"
TREE = "namespace Shop;\n\npublic class Tree\n{\n    public int Size(Guide guide) => guide.Width();\n}\n"
OTHER_GUIDE = GUIDE.replace("Drawing", "Other")


def test_a_global_using_counts_in_all_files_of_its_project(tmp_path: Path) -> None:
    files = {
        "src/Shop/Shop.csproj": "<Project/>\n",
        "src/Shop/Properties/Usings.cs": "global using System;\nglobal using Shop.Drawing;\n",
        "src/Shop/Drawing/Guide.cs": GUIDE,
        "src/Shop/Other/Guide.cs": OTHER_GUIDE,
        "src/Shop/Tree.cs": TREE,
        "src/Away/Away.csproj": "<Project/>\n",
        "src/Away/Bush.cs": TREE.replace("Shop;", "Away;"),  # sees neither
    }
    assert callers(tmp_path, "src/Shop/Drawing/Guide.cs:Guide.Width", files) == {("src/Shop/Tree.cs", 5)}
    assert callers(tmp_path, "src/Shop/Other/Guide.cs:Guide.Width", files) == set()


def test_a_global_using_gives_names_and_members_of_types(tmp_path: Path) -> None:
    files = {
        "Shop.csproj": "<Project/>\n",
        "Usings.cs": "global using Line = Shop.Drawing.Guide;\nglobal using static Shop.Sums;\n",
        "Guide.cs": GUIDE,
        "Sums.cs": "namespace Shop;\n\npublic static class Sums\n{\n    public static int Total(int x) => x;\n}\n",
        "Tree.cs": TREE.replace("Shop;", "Garden;")
        .replace("(Guide ", "(Line ")
        .replace("guide.W", "Total(3) + guide.W"),
    }
    assert callers(tmp_path, "Guide.Width", files) == {("Tree.cs", 5)}
    assert callers(tmp_path, "Sums.Total", files) == {("Tree.cs", 5)}


def test_a_new_global_using_counts_in_files_that_did_not_change(tmp_path: Path) -> None:
    files = {"Shop.csproj": "<Project/>\n", "Guide.cs": GUIDE, "Other.cs": OTHER_GUIDE, "Tree.cs": TREE}
    assert callers(tmp_path, "Guide.cs:Guide.Width", files) == set()
    files = {"Usings.cs": "global using Shop.Drawing;\n"}
    assert callers(tmp_path, "Guide.cs:Guide.Width", files) == {("Tree.cs", 5)}
    files = {"Usings.cs": "global using Shop.Other;\n"}
    assert callers(tmp_path, "Guide.cs:Guide.Width", files) == set()
    assert callers(tmp_path, "Other.cs:Guide.Width", {}) == {("Tree.cs", 5)}


def test_a_type_that_cannot_be_seen_is_none_of_several_with_its_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"Guide.cs": GUIDE, "Other.cs": OTHER_GUIDE, "Tree.cs": TREE})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for path in ("Guide.cs", "Other.cs"):
            answer = workspace.graph.callers(f"{path}:Guide.Width")
            assert not answer.links
            assert answer.unresolved is not None
            assert [(line.path, line.line) for line in answer.unresolved.first] == [("Tree.cs", 5)]
