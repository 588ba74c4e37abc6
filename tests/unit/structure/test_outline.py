from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.errors import AmbiguousError
from cairn.fields import DEFAULT_ANSWER_TOKENS
from cairn.source.chunking import chunk_file
from cairn.source.languages import BY_NAME, detect_language
from cairn.source.text import count_tokens
from cairn.structure.locate import find_named
from cairn.structure.outline import FileOutline, outline_file, subtree
from cairn.structure.outline_text import lay_out

SAMPLES = sorted(
    path.with_suffix("") for path in (Path(__file__).parents[1] / "source" / "samples").glob("*/*.expected")
)

SHAPES = b'''"""Shapes."""
import os
from math import (
    pi,
    sqrt,
)

LIMIT: int = 3
try:
    FAST = True
except ImportError:
    FAST, slow = False, True


class Circle(Base):
    """A round one."""

    kind = "round"

    @property
    def area(self) -> float:
        """Return the area."""
        return pi * self.radius**2

    def _grow(self, by: float = 1.0, *, twice: bool = False) -> None:
        def inner(): ...


@overload
def load(path: str) -> str: ...
@overload
def load(path: bytes) -> bytes: ...
'''


def outline_of(data: bytes, language: str = "python") -> FileOutline:
    return outline_file(data, "src/file", BY_NAME[language])


def listed(data: bytes, language: str) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.name, one.start_line, one.end_line) for one in outline_of(data, language).symbols]


def test_every_definition_is_listed_with_its_lines() -> None:
    assert [(one.qualified_name, one.start_line, one.end_line, one.depth) for one in outline_of(SHAPES).symbols] == [
        ("LIMIT", 8, 8, 0),
        ("FAST", 10, 10, 0),
        ("FAST", 12, 12, 0),
        ("slow", 12, 12, 0),
        ("Circle", 15, 26, 0),
        ("Circle.kind", 18, 18, 1),
        ("Circle.area", 21, 23, 1),
        ("Circle._grow", 25, 26, 1),
        ("Circle._grow.inner", 26, 26, 2),
        ("load", 30, 30, 0),
        ("load", 32, 32, 0),
    ]


def test_a_subtree_is_a_definition_with_what_is_in_it() -> None:
    outline = outline_of(b"class A:\n    def one(self): ...\n    def two(self): ...\n\n\nclass B: ...\n")
    assert [(symbol.name, symbol.depth) for symbol in subtree(outline, 0).symbols] == [("A", 0), ("one", 1), ("two", 1)]
    assert [(symbol.name, symbol.depth) for symbol in subtree(outline, 1).symbols] == [("one", 0)]
    assert subtree(outline, 3).symbols[0].name == "B"


def test_the_text_of_a_small_file_has_everything() -> None:
    text = lay_out(outline_of(SHAPES), DEFAULT_ANSWER_TOKENS).text.splitlines()
    assert text[0] == "src/file 32 lines ~127 tokens; fetch PATH#NAME or #LINE"
    assert text[1] == "2-6 imports os, math(pi, sqrt)"
    assert "15-26 class Circle(Base)  A round one." in text
    assert "21-23  area() -> float  Return the area." in text
    assert "25-26  _grow(by: float = 1.0, *, twice: bool = False) -> None" in text


def test_equal_names_have_ids_of_their_own() -> None:
    assert [one.id for one in outline_of(SHAPES).symbols if one.name == "load"] == ["src/file#load", "src/file#load~2"]


def test_details_go_before_definitions_when_the_file_is_long() -> None:
    functions = [
        f'def function_{n}(first: int, second: str) -> bool:\n    """Say {n}."""\n' + "    first += 1\n" * 12
        for n in range(60)
    ]
    outline = outline_of("\n\n".join(functions).encode())
    laid = lay_out(outline, DEFAULT_ANSWER_TOKENS)
    assert len(laid.shown) == 60
    assert "Say 3." not in laid.text
    assert "function_59(first, second)" in laid.text
    assert laid.tokens < outline.tokens / 5


def test_what_does_not_fit_is_counted() -> None:
    data = b"class Big:\n" + b"".join(b"    def method_%d(self): ...\n" % n for n in range(200)) + b"def last(): ...\n"
    laid = lay_out(outline_of(data), 300)
    assert count_tokens(laid.text) <= 300
    assert "class Big" in laid.text
    assert "last()" in laid.text  # on the outermost level: more important than methods
    rest = f"{202 - len(laid.shown)} of 202 left out; all take"
    assert re.search(rf"\({rest} [\d,]+ tokens, or ask for one: cairn outline \S+ --symbol SYMBOL\)", laid.text)
    assert "or ask for one: `outline` with file=" in lay_out(outline_of(data), 300, "tools").text


def test_a_budget_of_nothing_still_says_how_much_is_left_out() -> None:
    assert "(11 of 11 left out" in lay_out(outline_of(SHAPES), 0).text


def test_clauses_of_one_function_share_a_line_when_space_is_short() -> None:
    data = b"defmodule A do\n" + b"".join(b"  def f(%d), do: %d\n" % (n, n) for n in range(40)) + b"end\n"
    text = lay_out(outline_of(data, "elixir"), 300).text
    assert "2,3,4" in text


def test_members_are_listed_where_the_index_has_none() -> None:
    assert listed(b"enum Color { Red, Green = 2 }\n", "typescript") == [
        ("enum", "Color", 1, 1),
        ("enumerator", "Red", 1, 1),
        ("enumerator", "Green", 1, 1),
    ]
    go = b"package a\n\ntype S struct {\n\tA, B int\n}\n"
    assert [name for kind, name, *_ in listed(go, "go") if kind == "field"] == ["A", "B"]
    c = b"struct s { int a, *b; };\nenum { X, Y = 2 };\n"
    assert [name for kind, name, *_ in listed(c, "c") if kind != "struct"] == ["a", "b", "X", "Y"]


def test_definitions_around_a_syntax_error_are_listed_and_the_error_is_told() -> None:
    outline = outline_of(b"class A:\n    def f(self):\n        return 1\n\n    def g(self:\n        return (\n")
    assert {"A", "f", "g"} <= {one.name for one in outline.symbols}
    assert outline.notes[0].startswith("the syntax is not understood from line ")


@pytest.mark.parametrize(
    ("language", "text", "line"),
    [
        ("python", "x = 1\n\ndef f(:\n    pass\n", 3),
        ("python", "def a():\n    return 1\n\nclass B:\n    def f(self):\n        return (1 +\n\ny = 2\n", 6),
        ("python", "a = 1\nb = = 2\n", 2),
        ("javascript", "function a() {\n  return 1;\n}\nlet x = ;\nfunction b() {}\n", 4),
        ("go", "package a\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() {\n\tx := \n}\n", 8),
    ],
)
def test_the_line_of_the_first_syntax_error_is_told(language: str, text: str, line: int) -> None:
    (note,) = outline_of(text.encode(), language).notes
    assert note.startswith(f"the syntax is not understood from line {line} on;")


def test_headings_and_keys_are_outlined_too() -> None:
    assert [one.name for one in outline_of(b"# A\n\n## B\n\ntext\n", "markdown").symbols] == ["A", "B"]
    assert outline_of(b"a: 1\nb:\n  c: 2\n", "yaml").symbols[0].name == "a"


def test_without_a_grammar_the_lines_that_open_a_section_are_listed() -> None:
    outline = outline_of(b"[one]\nx = 1\n\n[two]\ny = 2\n", "ini")
    assert [(one.name, one.start_line, one.end_line) for one in outline.symbols] == [("[one]", 1, 2), ("[two]", 4, 5)]
    assert "no grammar" in outline.notes[0]


def test_an_empty_file_has_an_empty_outline() -> None:
    outline = outline_of(b"")
    assert (outline.lines, outline.symbols) == (0, ())


def test_imports_are_shown_without_keywords_in_each_style() -> None:
    assert outline_of(b"import {a, b} from './x.js';\nconst fs = require('fs');\n", "javascript").imports == (
        "./x.js(a, b)",
        "const fs = require(fs)",
    )
    assert outline_of(b'package a\n\nimport (\n\t"fmt"\n\tx "os"\n)\n', "go").imports == ("fmt", "x os")
    assert outline_of(b"#include <stdio.h>\n", "c").imports == ("<stdio.h>",)
    assert outline_of(b"use std::io;\n", "rust").imports == ("std::io",)
    assert outline_of(b"require 'set'\n", "ruby").imports == ("set",)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_an_outline_lists_at_least_what_the_index_holds(sample: Path) -> None:
    data = sample.read_bytes()
    language = detect_language(sample.name, data)
    shown = {(one.name, one.start_line, one.end_line) for one in outline_file(data, sample.name, language).symbols}
    indexed = {(one.name, one.span.start_line, one.span.end_line) for one in chunk_file(data, language).definitions}
    assert indexed <= shown


@pytest.mark.parametrize(
    ("language", "head", "shown"),
    [
        ("python", "def put(self, make=wrap(self)): ...", "put(make=wrap(self))"),
        ("python", "def of(cls): ...", "of()"),
        ("python", "def selfless(selfish): ...", "selfless(selfish)"),
        ("rust", "fn read(&mut self, n: usize) {}", "read(n: usize)"),
        ("javascript", "function each(then = function done() {}) {}", "each(then = function done() {})"),
    ],
)
def test_a_head_leaves_out_the_first_keyword_and_the_receiver_alone(language: str, head: str, shown: str) -> None:
    assert shown in lay_out(outline_of(f"{head}\n".encode(), language), DEFAULT_ANSWER_TOKENS).text


LONG = "a_name_that_goes_on_and_on_" * 12
ODD = {
    "cpp": "template <typename Key, typename Value, typename Comparison, typename Allocation>\n"
    "inline const std::map<Key, std::vector<Value>>& operator<<(std::ostream& out, const Key& key) { return out; }\n"
    "static std::unordered_map<std::string, std::vector<long long>> CheckDefaultValuesRoundtrip(int a) { return {}; }\n"
    "struct Point { Point& operator==(int other); ~Point(); };\n",
    "javascript": "class Box { #hidden() {} 'quoted name'() {} [Symbol.iterator]() {} get size() {} set size(a) {} }\n"
    "const default_ = class extends Box {};\n",
    "java": "class A<T extends Comparable<T>> {\n  private static final synchronized <U extends Comparable<U>> "
    "java.util.Map<String, U> testNullSerializationAndDeserialization(U one, String two) { return null; }\n"
    "  void put(int a) {}\n  void put(String a) {}\n}\n",
    "kotlin": "fun <T : Comparable<T>, R : Collection<T>> Iterable<T>.batchReplaceAllTheValues(a: Int): R = TODO()\n"
    "class `quoted name` {\n    operator fun plus(a: Int) = a\n}\n",
    "haskell": "instance Default a => Default (Tree a (f :*: g) (M1 S ('MetaSel 'Nothing u ss ds) f) False) where\n"
    "    def = x\n",
    "markdown": "# A heading (with, parentheses) and `code`, longer than a line may be in an outline\n\n## 404\n",
    "json": '{"404": {"a.b c": 1, "~2": 2, "#": 3}, "' + LONG + '": {"x": [1]}}\n',
    "python": f"def {LONG}(first, second):\n    pass\n\n\nasync def open(default): ...\n",
    "rust": "impl<M, S, C> Service<IncomingStream<'_, L>> for IntoMakeServiceWithConnectInfo<M, C> {\n"
    "    fn call(&mut self) {}\n}\n",
}


def check_names(data: bytes, path: str, language: str) -> None:
    """Check that every name in an outline is whole, at any budget, and stands for its definition."""
    outline = outline_file(data, path, BY_NAME[language])
    for budget in (60, 300, DEFAULT_ANSWER_TOKENS):
        laid_out = lay_out(outline, budget)
        lines = laid_out.text.split("\n")
        for number in laid_out.shown:
            symbol = outline.symbols[number]
            assert any(symbol.name in line and str(symbol.start_line) in line for line in lines), symbol
    for number, symbol in enumerate(outline.symbols):
        assert find_named(outline, symbol.id.removeprefix(f"{path}#")) == number
        try:
            found = outline.symbols[find_named(outline, symbol.name)]
        except AmbiguousError:
            continue
        assert found.name.lower() == symbol.name.lower() or symbol.name.isdigit()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_names_in_outlines_of_every_language_are_whole_and_can_be_fetched(sample: Path) -> None:
    data = sample.read_bytes()
    check_names(data, sample.name, detect_language(sample.name, data).name)


@pytest.mark.parametrize("language", ODD)
def test_odd_and_long_names_are_whole_and_can_be_fetched(language: str) -> None:
    check_names(ODD[language].encode(), "src/file", language)


def test_a_local_function_of_lua_is_listed_once() -> None:
    text = b"local a = function()\n  local b = function() end\n  M.c = function() end\nend\nd = function() end\n"
    assert [(name, first) for _, name, first, _ in listed(text, "lua")] == [("a", 1), ("b", 2), ("c", 3), ("d", 5)]


def test_a_section_of_text_may_begin_below_the_comments_on_it() -> None:
    text = (
        b'{{/*\nThe name of the cache.\n*/}}\n{{- define "shop.cache" -}}\ncache\n{{- end -}}\n\n'
        b"/// A customer.\nmodel Customer {\n  id Int\n}\n\n# Where it listens.\n# Any by default.\nHOST=0.0.0.0\n"
        b"PORT=80\n\n/* never closed\n\n  indented\n"
    )
    outline = outline_file(text, "all.txt", BY_NAME["text"])
    found = [(symbol.name, symbol.start_line, symbol.end_line) for symbol in outline.symbols]
    assert found == [('{{- define "shop.cache" -}}', 4, 6), ("model Customer {", 9, 11), ("HOST=0.0.0.0", 15, 20)]
    assert outline.leads == (1, 8, 13)
