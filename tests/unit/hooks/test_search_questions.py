from __future__ import annotations

import pytest

from cairn.hooks.search_questions import MAX_CHARS, expand, understand_file_pattern, understand_pattern
from cairn.hooks.shell_programs import Syntax

_NAMES: list[tuple[str, Syntax, tuple[str, ...]]] = [
    ("parse_args", "regex", ("parse_args",)),
    ("parseArgs", "regex", ("parseArgs",)),
    ("timeout", "regex", ("timeout",)),
    (r"def\s+parse_args\(", "regex", ("parse_args",)),
    ("def parse_args", "fixed", ("parse_args",)),
    (r"class Foo\b", "regex", ("Foo",)),
    ("class Foo(Bar):", "fixed", ("Foo",)),
    (r"^class\s+Foo", "regex", ("Foo",)),
    (r"(export )?(async )?function handleX", "regex", ("handleX",)),
    (r"func \(.*\) Serve\b", "regex", ("Serve",)),
    ("func (s *Server) Serve(", "fixed", ("Serve",)),
    ("pub fn new", "regex", ("new",)),
    ("impl Display for Error", "fixed", ("Display",)),
    (r"struct\s+Client", "basic", ("Client",)),
    ("parse_args(", "fixed", ("parse_args",)),
    (r"parse_args\(", "regex", ("parse_args",)),
    ("parse_args(", "basic", ("parse_args",)),
    (r"\.parse_args\(", "regex", ("parse_args",)),
    ("new HttpClient", "regex", ("HttpClient",)),
    ("Foo.bar", "regex", ("Foo.bar",)),
    ("Foo::bar", "regex", ("Foo::bar",)),
    (r"self\.foo_bar", "regex", ("foo_bar",)),
    (r"\bfoo_bar\b", "regex", ("foo_bar",)),
    (r"\<foo_bar\>", "basic", ("foo_bar",)),
    (r"foo_bar\|baz_qux", "basic", ("foo_bar", "baz_qux")),
    ("foo_bar|bazQux", "regex", ("foo_bar", "bazQux")),
    (r"(get|set)Name", "regex", ("getName", "setName")),
    ("[Cc]lient", "regex", ("Client",)),
    ("from click import Option", "regex", ("Option",)),
    (r"import \{.*useState.*\} from", "regex", ("useState",)),
    ("@app.route", "regex", ("app.route",)),
    ("throw new FooError", "regex", ("FooError",)),
    ("Error", "regex", ("Error",)),
    ("import|FooBar", "regex", ("FooBar",)),
]


@pytest.mark.parametrize(("pattern", "syntax", "names"), _NAMES)
def test_a_pattern_made_of_names_asks_for_definitions(pattern: str, syntax: Syntax, names: tuple[str, ...]) -> None:
    question = understand_pattern(pattern, syntax)
    assert (question.kind, question.names) == ("structural", names)


@pytest.mark.parametrize(
    "pattern",
    [
        "TODO",
        "error: could not open",
        '"max-retries"',
        "#include <foo.h>",
        "^def |^class ",
        r"\d+\.\d+",
        "a-b c",
        "===",
        "",
    ],
)
def test_any_other_text_is_looked_for_as_it_is(pattern: str) -> None:
    assert understand_pattern(pattern, "regex").kind == "literal"


@pytest.mark.parametrize("pattern", ["TODO", "true", "import", "return self", "class|def"])
def test_words_that_every_file_holds_ask_for_nothing(pattern: str) -> None:
    assert understand_pattern(pattern, "regex").text == ""


def test_words_within_a_text_are_whole() -> None:
    assert understand_pattern("Invalid nesting limit", "basic").whole_words == ("nesting",)
    assert understand_pattern("could not read blobs now", "fixed").whole_words == ("read", "blobs")
    assert understand_pattern("read blobs", "regex").whole_words == ()
    assert understand_pattern("a b|c d e", "regex").whole_words == ()


@pytest.mark.parametrize(
    "pattern",
    ["how are routes registered", "where does the parser handle quoting?", "could not open file", "retry with backoff"],
)
def test_a_sentence_asks_for_its_meaning(pattern: str) -> None:
    question = understand_pattern(pattern, "regex")
    assert (question.kind, question.text) == ("semantic", pattern)


def test_only_a_question_is_certain_to_be_no_line_of_code() -> None:
    assert understand_pattern("how are routes registered", "regex").is_question
    assert not understand_pattern("could not open file", "regex").is_question


def test_a_tool_that_takes_questions_gets_prose_whatever_it_looks_like() -> None:
    question = understand_pattern("session renewal", "regex", is_prose=True)
    assert (question.kind, question.text) == ("semantic", "session renewal")
    assert understand_pattern("what calls parse_args", "regex", is_prose=True).names == ("parse_args",)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**/*UserService*", ("UserService",)),
        ("src/**/user_service.py", ("user_service",)),
        ("*.py", ()),
        ("**/*auth*", ()),
    ],
)
def test_a_pattern_for_files_asks_for_a_name_only_if_it_holds_one(pattern: str, names: tuple[str, ...]) -> None:
    assert understand_file_pattern(pattern).names == names


def test_a_sentence_for_files_is_a_question() -> None:
    assert understand_file_pattern("where are users stored").kind == "semantic"


def test_a_regular_expression_expands_to_the_texts_it_stands_for() -> None:
    assert expand("(a|b)c", is_basic=False) == ["ac", "bc"]
    assert expand(r"\(a\|b\)c", is_basic=True) == ["ac", "bc"]
    assert expand("(a|b)c", is_basic=True) == ["(a|b)c"]
    assert expand(r"(x)?foo\s+[[:space:]]bar", is_basic=False) == ["foo  bar"]


@pytest.mark.parametrize("part", ["(", "[a", "(a|b)", "\\", "a|", "(?:", "a?", "[[:", "{"])
def test_a_hostile_pattern_expands_to_a_few_texts(part: str) -> None:
    pattern = (part * MAX_CHARS)[:MAX_CHARS]
    assert len(expand(pattern, is_basic=False)) <= 8
    assert len(expand(pattern, is_basic=True)) <= 8
    assert understand_pattern(pattern * 2, "regex").kind == "literal"
