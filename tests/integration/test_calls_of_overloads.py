"""Calls of one of several functions of a name: the one that takes as many arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers

# The nearer type has a function of the name that takes two arguments; the one that it inherits takes one.
INHERITED = {
    "java": (
        {
            "shop/Item.java": "package shop;\nclass Item { String mark(String key) { return key; } }\n",
            "shop/Book.java": "package shop;\nclass Book extends Item {\n"
            "  Book mark(String key, String value) { return this; }\n}\n",
        },
        'package shop;\nclass App {\n  void run(Book book) {\n    book.mark("a");\n    book.mark("a", "b");\n  }\n}\n',
    ),
    "kt": (
        {
            "Item.kt": "package shop\nopen class Item {\n    fun mark(key: String) = key\n}\n",
            "Book.kt": "package shop\nclass Book : Item() {\n    fun mark(key: String, then: () -> Unit) = this\n}\n",
        },
        'package shop\nclass App {\n  fun run(book: Book) {\n    book.mark("a")\n    book.mark("a") { it }\n  }\n}\n',
    ),
    "cs": (
        {
            "Item.cs": "namespace Shop;\nclass Item { public string mark(string key) { return key; } }\n",
            "Book.cs": "namespace Shop;\nclass Book : Item {\n"
            "  public Book mark(string key, string value) { return this; }\n}\n",
        },
        "namespace Shop;\nclass App {\n  void Run(Book book) {\n"
        '    book.mark("a");\n    book.mark("a", "b");\n  }\n}\n',
    ),
    "scala": (
        {
            "Item.scala": "package shop\nclass Item {\n  def mark(key: String, by: Int, at: Int): String = key\n}\n",
            "Book.scala": "package shop\nclass Book extends Item {\n"
            "  def mark(key: String, value: String): Book = this\n}\n",
        },
        "package shop\nclass App {\n  def run(book: Book) = {\n"
        '    book.mark("a", 1, 2)\n    book.mark("a", "b")\n  }\n}\n',
    ),
    "swift": (
        {
            "Item.swift": "class Item {\n  func mark(_ key: String) -> String { key }\n}\n",
            "Book.swift": "class Book: Item {\n  func mark(_ key: String, with value: String) -> Book { self }\n}\n",
        },
        "class Other {}\nclass App {\n  func run(book: Book) {\n"
        '    book.mark("a")\n    book.mark("a", with: "b")\n  }\n}\n',
    ),
    "cpp": (
        {
            "item.hpp": "#pragma once\nclass Item {\n public:\n  int mark(int key) { return key; }\n};\n",
            "book.hpp": '#pragma once\n#include "item.hpp"\nclass Book : public Item {\n public:\n  using Item::mark;\n'
            "  int mark(int key, int value) { return value; }\n};\n",
        },
        '#include "book.hpp"\n\nvoid run(Book* book) {\n  book->mark(1);\n  book->mark(1, 2);\n}\n',
    ),
}


@pytest.mark.parametrize("ending", list(INHERITED))
def test_a_call_means_what_is_inherited_where_the_nearer_function_cannot_take_it(ending: str, tmp_path: Path) -> None:
    files, code = INHERITED[ending]
    path = f"{'shop/' if ending == 'java' else ''}App.{ending}"
    files = {**files, path: code}
    assert callers(tmp_path, "Item.mark", files) == {(path, 4)}
    assert callers(tmp_path, "Book.mark", files) == {(path, 5)}


RESULTS = {
    "java": "class Tag { void close() {} }\nclass Page { void close() {} }\nclass Book {\n"
    "  Tag tag() { return null; }\n  Page tag(Tag tag) {\n    return new Page();\n  }\n}\n"
    "class App {\n  void run(Book book) {\n    book.tag().close();\n    book.tag(new Tag()).close();\n  }\n}\n",
    "kt": "class Tag { fun close() {} }\nclass Page { fun close() {} }\nclass Book {\n  fun tag(): Tag = Tag()\n"
    "  fun tag(tag: Tag): Page {\n    return Page()\n  }\n}\nclass App {\n  fun run(book: Book) {\n"
    "    book.tag().close()\n    book.tag(Tag()).close()\n  }\n}\n",
    "cs": "class Tag { public void close() {} }\nclass Page { public void close() {} }\nclass Book {\n"
    "  public Tag tag() { return null; }\n  public Page tag(Tag tag) {\n    return new Page();\n  }\n}\nclass App {\n"
    "  void run(Book book) {\n    book.tag().close();\n    book.tag(new Tag()).close();\n  }\n}\n",
    "swift": "class Tag { func close() {} }\nclass Page { func close() {} }\nclass Book {\n"
    "  func tag() -> Tag { Tag() }\n  func tag(_ tag: Tag) -> Page {\n    return Page()\n  }\n}\nclass App {\n"
    "  func run(book: Book) {\n    book.tag().close()\n    book.tag(Tag()).close()\n  }\n}\n",
}


@pytest.mark.parametrize("ending", list(RESULTS))
def test_what_a_call_gives_is_said_by_the_function_that_takes_it(ending: str, tmp_path: Path) -> None:
    path = f"App.{ending}"
    assert callers(tmp_path, "Tag.close", {path: RESULTS[ending]}) == {(path, 11)}
    assert callers(tmp_path, "Page.close", {path: RESULTS[ending]}) == {(path, 12)}


def test_a_call_of_a_member_that_cannot_take_it_may_mean_an_extension(tmp_path: Path) -> None:
    files = {
        "Book.kt": "package shop\nclass Book {\n    fun mark(key: String) = key\n}\n",
        "Marks.kt": "package shop\nfun Book.mark(key: String, value: String) = value\n",
        "App.kt": 'package shop\nfun run(book: Book) {\n    book.mark("a")\n    book.mark("a", "b")\n}\n',
    }
    assert callers(tmp_path, "Book.kt:3", files) == {("App.kt", 3)}
    assert callers(tmp_path, "Marks.kt:2", files) == {("App.kt", 4)}


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("fun mark(vararg keys: String)", 'mark("a", "b", "c")'),
        ("fun mark(a: Int, b: Int)", "mark(*both)"),
        ('fun mark(a: Int, by: String = ", ")', "mark(1)"),
        ("fun mark(a: Int, then: (Int, Int) -> Unit)", "mark(1) { a, b -> go(a, b) }"),
        ("override fun mark(a: Int, b: Int)", "mark(1)"),  # what it overrides may have a default
    ],
    ids=["any number", "a spread", "a default", "a closure behind", "an override"],
)
def test_what_may_take_a_call_is_left_in(head: str, call: str, tmp_path: Path) -> None:
    text = f"class Book {{\n    {head} {{}}\n    fun run() {{\n        {call}\n    }}\n}}\n"
    assert callers(tmp_path, "Book.mark", {"Book.kt": text}) == {("Book.kt", 4)}


def test_a_call_that_nothing_can_take_is_told_of_and_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "Book.java").write_text(
        "class Book extends Item {\n  void mark(String key, String value) {}\n"
        '  void run() {\n    mark("a");\n    mark(all());\n  }\n}\n'
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        answer = workspace.graph.callers("Book.mark")
        assert not answer.links
        assert answer.unresolved is not None
        assert (answer.unresolved.form, answer.unresolved.lines) == ("name", 2)
        assert [(link.symbol.name, link.line) for link in workspace.graph.callees("Book.run").links] == []


def test_the_overload_that_takes_a_call_is_what_is_called(tmp_path: Path) -> None:
    (tmp_path / "Book.java").write_text(
        "class Book {\n  void mark(String key) {}\n  void mark(String key, String value) {\n    go();\n  }\n"
        '  void run() { mark("a"); }\n  void both() { mark("a", "b"); }\n}\n'
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for caller, line in (("Book.run", 2), ("Book.both", 3)):
            assert [link.symbol.line for link in workspace.graph.callees(caller).links] == [line]
