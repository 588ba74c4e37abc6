from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.search.asked_name import AskedName, parse_asked_name
from cairn.search.query import Name, understand
from cairn.search.relations import KINDS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("where is render defined", "render"),
        ("Where's `Store` defined?", "Store"),
        ("where is Store.load", "Store.load"),
        ("where is the function parse implemented?", "parse"),
        ("where does `parse` live", "parse"),
        ("where can I find the Store class", "Store"),
        ("which file defines parse_header", "parse_header"),
        ("in which module is get defined?", "get"),
        ("definition of db::open", "db::open"),
        ("the declaration of the struct client", "client"),
        ("please show me the definition of Store", "Store"),
        ("Store definition", "Store"),
        ("who defines MAX_SIZE", "MAX_SIZE"),
        ("show me app/models/Store", "app/models/Store"),
        ("find src/store.py", "src/store.py"),
        ("find parse_header", "parse_header"),
        ("what is `store`?", "store"),
        ("what does Store.load do?", "Store.load"),
        ("`empty?`", "empty?"),
        ("find the definition of Store", "Store"),
        ("find where `load` is defined", "load"),
        ("go to definition of load", "load"),
        ("the Store class", "Store"),
        ("the class Store", "Store"),
        ("FileStore class", "FileStore"),
        ("const LIMITS", "LIMITS"),
        ("find save!", "save!"),
        ("where is Store created", "Store"),
        ("rename the setting page_size to items_per_page", "page_size"),
        ("rename MAX_SIZE", "MAX_SIZE"),
        ("remove the field page_size", "page_size"),
    ],
)
def test_a_question_for_a_definition_is_recognised(text: str, name: str) -> None:
    asked = parse_asked_name(text)
    assert asked is not None
    assert (asked.name, asked.is_sure) == (name, True)


@pytest.mark.parametrize("text", ["find sessions", "what is routing", "how does caching work", "show me templates"])
def test_a_plain_word_without_a_word_for_a_definition_may_be_meant_as_prose(text: str) -> None:
    asked = parse_asked_name(text)
    assert asked is not None
    assert not asked.is_sure


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("where is load defined in src/store.py", Name("load", "src.store")),
        ("Store in store.py", Name("Store", "store")),
        ("where is Store defined in the db package", Name("Store", "db")),
        ("load in FileStore", Name("load", "FileStore")),
        ("FileStore in store.h", Name("FileStore", "store")),
        ("Store in web/.next-app/store.d.ts", Name("Store", "web..next-app.store")),
        ("load method of Store", Name("load", "Store")),
        ("the load method in Store", Name("load", "Store")),
        ("Store's load method", Name("load", "Store")),
        ("src/store.py#Store.load", Name("load", "src.store.Store")),
        ("src/store.py:Store", Name("Store", "src.store")),
        ("src/store.py::load()", Name("load", "src.store")),
        ("src/store.Store", Name("Store", "src.store")),
        ("packages/core/src/index.ts#Store", Name("Store", "packages.core.src")),
    ],
)
def test_a_question_may_say_where_a_definition_is(text: str, name: Name) -> None:
    assert understand(text).named == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("load(key, None)", Name("load")),
        ("new Store()", Name("Store")),
        ("Store<K, V>", Name("Store")),
        ("Store.load<T>(key)", Name("load", "Store")),
        ("save!()", Name("save!")),
    ],
)
def test_a_name_may_be_written_as_it_is_used(text: str, name: Name) -> None:
    assert understand(text).named == name


@pytest.mark.parametrize(
    "text",
    [
        "Store and Session",
        "`Store` and `Session`",
        "where are Store and Session defined?",
        "Store, Session",
        "Store or Session",
        "Store vs. Session",
    ],
)
def test_several_names_may_be_asked_for_at_once(text: str) -> None:
    assert understand(text).listed == (Name("Store"), Name("Session"))


@pytest.mark.parametrize(
    "text", ["Error Handling", "saving and loading", "Store", "Store and", "a, b, c", "HTTP, and, so"]
)
def test_prose_is_no_list_of_names(text: str) -> None:
    assert understand(text).listed == ()


@pytest.mark.parametrize(
    "text",
    [
        "errors in handlers",
        "Handlers in Django",
        "Django's cache",
        "Out of Memory",
        "that's Flask",
        "Fix retries in Redis",
        "retries of uploads",
        "src/store.py",
        "src/store.test.ts",
        "src/store.py:12",
        "http://example.com/a.b",
        "where is it defined",
        "what is this",
        "where are routes registered",
        "where is the timeout set?",
        "where is the size of a page defined",
        "how are errors handled",
        "find all usages",
        "cache implementation",
        "show me",
        "Store",
        "store.load()",
        "how does `Store` handle errors",
        "where is a survey created",
        "where is the session stored?",
        "where is an order",
        "rename files",
        "Remove Python",
    ],
)
def test_other_queries_are_no_questions_for_a_definition(text: str) -> None:
    assert parse_asked_name(text) is None


def test_a_question_for_a_definition_is_about_nothing_but_the_name() -> None:
    query = understand("where is the class Store.Session defined?")
    assert query.named == Name("Session", "Store")
    assert "class" in query.kinds
    assert {term.text for term in query.terms} == {term.text for term in understand("Store.Session").terms}


def test_in_any_mode_that_is_asked_for_a_question_is_prose() -> None:
    assert understand("where is Store defined", "hybrid").named is None


@given(st.text(max_size=300))
def test_any_text_can_be_looked_at(text: str) -> None:
    asked = parse_asked_name(text)
    assert asked is None or asked.name


@pytest.mark.parametrize(
    "text",
    [
        *("Rename method", "Extract class", "Rename class in Relation", "get rid of store.js", "Reformat code"),
        *("Remove class from test_views", "Fixed type in form_helpers.md"),
    ],
)
def test_a_capital_that_begins_a_sentence_makes_no_sure_name(text: str) -> None:
    asked = parse_asked_name(text)
    assert asked is None or not asked.is_sure


def test_a_kind_may_be_the_name() -> None:
    assert parse_asked_name("the Type class") == AskedName("Type", KINDS["class"], is_sure=False)
