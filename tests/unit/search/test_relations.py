from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.search.query import Name, understand
from cairn.search.relations import RelationQuestion, parse_kind, parse_relation


@pytest.mark.parametrize(
    ("text", "relation", "symbol"),
    [
        ("callers of parse", "callers", "parse"),
        ("Find all callers of the function `parse`", "callers", "parse"),
        ("who calls Store.load?", "callers", "Store.load?"),
        ("what calls parse()", "callers", "parse"),
        ("where is Store::load called?", "callers", "Store::load"),
        ("callees of parse", "callees", "parse"),
        ("what does Store.load call?", "callees", "Store.load"),
        ("who implements Reader", "implementers", "Reader"),
        ("implementations of Reader", "implementers", "Reader"),
        ("subclasses of the class Base", "implementers", "Base"),
        ("importers of src/store.py", "importers", "src/store.py"),
        ("which files import store", "importers", "store"),
        ("tests for Store.load", "tests", "Store.load"),
        ("calls to file", "callers", "file"),
        ("where is parse called from?", "callers", "parse"),
        ("usages of Store.load", "references", "Store.load"),
        ("uses of parse", "references", "parse"),
        ("references to Store.load", "references", "Store.load"),
        ("where is MAX_SIZE used?", "references", "MAX_SIZE"),
        ("where is Store.size assigned", "writes", "Store.size"),
        ("what sets Store.size", "writes", "Store.size"),
        ("who conforms to Reader", "implementers", "Reader"),
        ("types that implement Reader", "implementers", "Reader"),
        ("parse_header callers", "callers", "parse_header"),
        ("parse() callers", "callers", "parse"),
        ("Store usages", "references", "Store"),
        ("what conforms to Reader", "implementers", "Reader"),
        ("who includes dict.h", "importers", "dict.h"),
        ("what tests cover Store.load", "tests", "Store.load"),
        ("where is the component TagSelect used", "references", "TagSelect"),
        ("show me where TagSelect is rendered", "references", "TagSelect"),
        ("what renders TagSelect", "references", "TagSelect"),
        ("which components render TagSelect?", "references", "TagSelect?"),
        ("find every use of parse in the codebase", "references", "parse"),
        ("where do we call parse", "callers", "parse"),
        ("functions that call parse", "callers", "parse"),
        ("which code calls parse?", "callers", "parse?"),
        ("find where parse is called", "callers", "parse"),
        ("callers of load in src/store.py", "callers", "src/store.py:load"),
        ("where is the field size used in `store.py`?", "references", "store.py:size"),
        ("files that import store", "importers", "store"),
        ("what breaks if I change Order.total", "references", "Order.total"),
        ("what would break if we rename the close method?", "references", "close"),
        ("impact of removing Store.size", "references", "Store.size"),
        ("what depends on Store", "references", "Store"),
        ("is close_all still used?", "references", "close_all"),
        ("is close_all used anywhere in the code?", "references", "close_all"),
        ("does anything use `Store`?", "references", "Store"),
        ("implementations of the Reader trait", "implementers", "Reader"),
        ("callers of the parse function?", "callers", "parse"),
    ],
)
def test_a_question_for_a_relation_is_recognised(text: str, relation: str, symbol: str) -> None:
    assert parse_relation(text) == RelationQuestion(relation, symbol)  # type: ignore[arg-type]  # pytest knows no literals


@pytest.mark.parametrize(
    "text",
    [
        "callers",
        "callers of",
        "previous callers",
        "parse_header calls",
        "who calls the",
        "tests for",
        "tests for the login page",
        "what calls are made on startup",
        "how does the parser call the lexer",
        "implementations of the visitor pattern in the compiler",
        "how are subclasses of Base registered",
        "callers of ?",
        "what breaks when we upgrade",
        "where is the session used in a request",
        "which files call for a rewrite",
        "callers of ``",
        "",
    ],
)
def test_prose_asks_for_no_relation(text: str) -> None:
    found = parse_relation(text)
    assert found is None or found.symbol == "the"


@pytest.mark.parametrize("mode", ["hybrid", "literal", "symbol", "semantic"])
def test_a_mode_that_is_asked_for_leaves_no_question(mode: str) -> None:
    query = understand("callers of parse", mode)  # type: ignore[arg-type]  # as above
    assert query.relation is None
    assert query.kinds == frozenset()


def test_a_word_for_a_kind_before_a_name_asks_for_that_definition() -> None:
    assert parse_kind("class Foo") == ("class", "Foo")
    query = understand("method Store.load")
    assert query.named == Name("load", "Store")
    assert "method" in query.kinds
    assert "function" not in query.kinds


@pytest.mark.parametrize(
    "text", ["class", "class ", "class Foo Bar", "Class diagram", r"class \w+Error\(", "klass Foo"]
)
def test_other_words_ask_for_no_kind(text: str) -> None:
    assert understand(text or "x").kinds == frozenset()


def test_a_query_that_is_a_name_names_it() -> None:
    assert understand("Store.load").named == Name("load", "Store")
    assert understand("operator==", "symbol").named == Name("operator==")
    assert understand("how are records loaded").named is None


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    parse_relation(text)
    parse_kind(text)
