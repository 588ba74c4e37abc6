from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import QueryError
from cairn.search.query import DETAIL_WEIGHT, MAX_QUERY_CHARS, MAX_TERMS, Name, asks_for_commits, understand
from cairn.source.roles import Role
from cairn.types import Mode


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("getUserName", "symbol"),
        ("Store", "symbol"),
        ("Store.load", "symbol"),
        ("std::vector", "symbol"),
        ("Foo#bar", "symbol"),
        ("load()", "symbol"),
        ("empty?", "symbol"),
        ("how are routes registered", "hybrid"),
        ("where is the timeout set?", "hybrid"),
        ("what calls parse()?", "hybrid"),
        ('"no such table"', "literal"),
        ("'x'", "literal"),
        ("`config.load`", "literal"),
        ("foo(bar)", "literal"),
        ("x == None", "literal"),
        ("if (a) {", "literal"),
        ("<div class", "literal"),
        (r"def \w+_handler", "regex"),
        ("TODO.*fix", "regex"),
        ("^import", "regex"),
        ("(foo|bar)", "regex"),
        ("foo|bar", "regex"),
        ("[a-z]+Error", "regex"),
        ("def $F($$$)", "structural"),
        ("foo($A, $$$REST)", "structural"),
        ("func $NAME($$$) error { $$$ }", "structural"),
        ('"foo($$$)"', "literal"),
        ("echo $HOME", "hybrid"),
        ("[0-9]{2}", "regex"),
        ("[^x]*y", "regex"),
        ("v[0-9]", "regex"),
        ("[^x]y", "regex"),
        ("$_GET['page']", "literal"),
        ("map[string]string", "literal"),
        ("this[0].arn", "literal"),
        ("items[0]?.name", "literal"),
        ("[@vue/composition-api]", "literal"),
        ("[Pinia]: skipping hmr", "hybrid"),
        ("echo $$", "regex"),
        ("$$$name = 1", "hybrid"),
        ("$this->render($view)", "literal"),
        ("TypeError: app.use() requires a middleware function", "hybrid"),
        ("shop.cart.CartError: total() of {} is empty", "hybrid"),
        ("Error: connect() failed => refused", "hybrid"),
        ("FAILED tests/test_cart.py::TestCart::test_total - assert 1 == 2", "hybrid"),
        ("lastError: Error(text)", "literal"),
        ("except CartError: total() fails", "literal"),
        ('Syntax Error: Expected Name, found "}".', "hybrid"),
        ("fix(cart): keep what was sold", "hybrid"),
        ("fix(cart): total() of {} is empty", "literal"),
        ('print("}")', "literal"),
        ('case "}": return', "literal"),
        (r"/total\(/", "regex"),
        (r"/\bexport (const|function) total of all that was sold/", "regex"),
        (r"/@shop\/cart/", "regex"),
        ("/shop/", "hybrid"),
        ("/shop/cart.py", "hybrid"),
    ],
)
def test_a_query_is_classified_by_its_shape(text: str, mode: Mode) -> None:
    assert understand(text).mode == mode


@pytest.mark.parametrize("mode", ["hybrid", "literal", "regex", "structural", "symbol", "semantic"])
def test_a_mode_that_is_asked_for_is_kept(mode: Mode) -> None:
    assert understand("foo|bar", mode).mode == mode


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_query_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QueryError, match="empty") as caught:
        understand(text)
    assert caught.value.hint.startswith("cairn search")


def test_a_query_of_100_kilobytes_is_refused_and_says_how_long_it_may_be() -> None:
    with pytest.raises(QueryError, match="10,000"):
        understand("word " * 20_000)
    assert understand("w" * MAX_QUERY_CHARS)


def test_quotes_are_taken_off_a_literal_that_was_guessed_and_kept_when_asked_for() -> None:
    assert understand('"no such table"').pattern == "no such table"
    assert understand('"no such table"', "literal").pattern == '"no such table"'


def test_slashes_are_taken_off_a_regular_expression_that_was_guessed_and_kept_when_asked_for() -> None:
    assert understand(r"/total\(/").pattern == r"total\("
    assert understand(r"/total\(/gi").pattern == r"(?i)total\("
    assert understand(r"/total\(/", "regex").pattern == r"/total\(/"


def test_a_pattern_that_is_asked_for_keeps_its_spaces() -> None:
    assert understand("  x = 1 ", "literal").pattern == "  x = 1 "


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("load", (Name("load"),)),
        ("Store.load", (Name("load", "Store"),)),
        ("a::b::c()", (Name("c", "a.b"),)),
        ("App#run", (Name("run", "App"),)),
        ("how does getUserName use the user_cache", (Name("getUserName"), Name("user_cache"))),
        ("how does loading work", ()),
    ],
)
def test_names_in_a_query_may_be_definitions(text: str, symbols: tuple[Name, ...]) -> None:
    assert understand(text).symbols == symbols


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("retry policy for failed uploads", ("retry", "policy")),
        ("how does the cache expire", ("cache", "expire")),
        ("what happens when a request times out", ("request", "timeout")),
        ("requests refused before login", ("requests", "refused")),
        ("for loops in templates", ("loops",)),
        ("parsing of dates with parse_date", ("parsing", "parse", "date")),
        ("tests for resumed uploads of files", ("tests", "resumed", "uploads", "files")),
        ("of and with", ("of", "and", "with")),
    ],
)
def test_what_follows_a_connective_is_detail_but_for_names(text: str, subject: tuple[str, ...]) -> None:
    assert understand(text).subject == subject


def test_details_weigh_less_than_the_subject() -> None:
    weights = {term.text: term.weight for term in understand("retry policy for failed uploads").terms}
    assert weights == {"retri": 1.0, "polici": 1.0, "fail": DETAIL_WEIGHT, "upload": DETAIL_WEIGHT}


def test_stop_words_are_no_terms_unless_nothing_else_is_left() -> None:
    assert [term.text for term in understand("how does the parser work").terms] == ["parser"]
    assert understand("how does it work").terms


def test_the_whole_of_an_identifier_weighs_more_than_its_parts() -> None:
    weights = {term.text: term.weight for term in understand("getUserName").terms}
    assert weights["getusernam" if "getusernam" in weights else "getusername"] > weights["user"]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("colou?r", "regex"),
        ("# type: ignore", "literal"),
        ("// eslint-disable-next-line", "literal"),
        ("why?", "symbol"),
    ],
)
def test_more_forms_that_are_meant_as_they_stand(text: str, mode: str) -> None:
    assert understand(text).mode == mode


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("tests of the parser", Role.TEST),
        ("usage examples", Role.EXAMPLE),
        ("the installation guide", Role.DOCS),
        ("docker configuration", Role.CONFIG),
        ("default settings of all rules", Role.CONFIG),
        ("github workflow that runs the checks", Role.CONFIG),
        ("build matrix", Role.CONFIG),
        ("which versions of Ruby are supported", Role.CONFIG),
        ("minimum Node.js version", Role.CONFIG),
        ("node version required", Role.CONFIG),
        ("how is the Python version found out", Role(0)),
        ("how are configuration files merged", Role(0)),
        ("load settings from a gem", Role(0)),
        ("parsing of YAML files", Role(0)),
        ("build the channel pipeline", Role(0)),
        ("class that fetches a configuration", Role(0)),
        ("reporter that prints results for continuous integration", Role(0)),
        ("configuration merging", Role(0)),
        ("error details as JSON", Role(0)),
        ("windows path handling", Role.OTHER_PLATFORM),
        ("the v3 schema", Role.OLD_VERSION),
        ("deprecated aliases", Role.LEGACY),
        ("TESTS OF THE PARSER", Role.TEST),
        ("test runner for commands in isolation", Role(0)),
        ("how do I run the unit tests?", Role.DOCS),
        ("running the specs locally", Role.DOCS),
        ("how are the integration tests run", Role.DOCS),
        ("how does the fake server start in the tests", Role.TEST),
        ("testing framework", Role(0)),
        ("test helpers that make a repository", Role.TEST),
        ("french texts of the checkout", Role.TRANSLATION),
        ("pruebas de conexión y tests", Role.TEST),
        ("release steps", Role.DOCS),
        ("third-party notices", Role.DOCS | Role.VENDORED),
        ("how are routes registered", Role(0)),
        ("how does the client notice that a tab is visible", Role(0)),
        ("what changes when it is in use, for example around each task", Role(0)),
        ("how are the start-up steps of a worker ordered", Role(0)),
        ("compression of float samples", Role(0)),
        ("doc comments that become help texts", Role(0)),
    ],
)
def test_a_query_asks_for_the_roles_it_names(text: str, role: Role) -> None:
    assert understand(text).wants == role


@given(st.text(min_size=1, max_size=300))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        query = understand(text)
    except QueryError:
        assert not text.strip()
        return
    assert query.text == text.strip()
    assert len(query.terms) <= MAX_TERMS
    assert len({term.hashed for term in query.terms}) == len(query.terms)
    if query.mode in ("literal", "regex"):
        assert query.pattern


def test_words_of_one_kind_on_both_sides_of_and_are_the_subject_together() -> None:
    assert understand("saving and loading of sessions").subject == ("saving", "loading")
    assert understand("encoders or decoders for text").subject == ("encoders", "decoders")
    assert understand("jobs and their queues").subject == ("jobs",)


def test_a_name_beside_letters_of_scripts_without_spaces_may_be_a_definition() -> None:
    assert understand("调用generate_etag时报错 为什么").symbols == (Name("generate_etag"),)


def test_a_word_with_a_capital_is_a_name_if_a_kind_of_definition_follows() -> None:
    assert understand("add a field to the Order model").symbols == (Name("Order"),)
    assert understand("how does the Order of rows change").symbols == ()
    assert Name("Model") not in understand("Model class for orders").symbols


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("which commit changed the rounding of rates", True),
        ("find the commit that removed Store.load", True),
        ("when was the daemon added", True),
        ("who introduced the cache?", True),
        ("why was the retry removed", True),
        ("when is the cache cleared", False),
        ("what changes the total", False),
        ("who calls load", False),
        ("commit the transaction", False),
    ],
)
def test_a_question_for_what_was_done_to_the_code_is_recognised(text: str, is_asked: bool) -> None:
    assert asks_for_commits(text) is is_asked


def test_what_owns_something_is_one_word() -> None:
    assert understand("where are Vite's plugins loaded").terms == understand("where are Vite plugins loaded").terms
    assert "s" not in [term.text for term in understand("the cart\u2019s total").terms]
