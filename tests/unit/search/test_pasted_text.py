from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.search.pasted_text import read_message, read_pasted


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("ValueError: no such page: /about", "no such page: /about"),
        ("shop.errors.CartError: The cart is closed", "The cart is closed"),
        ("2024-07-08 16:34:44 [shop.cart] ERROR: The cart is closed", "The cart is closed"),
        ("[2018-05-04 23:33:42,186: ERROR/MainProcess] The cart is closed", "The cart is closed"),
        ("WARNING - shop.web[web:1667] - The cart is closed", "The cart is closed"),
        ("The cart is closed", "The cart is closed"),
    ],
)
def test_what_a_log_puts_before_a_message_is_no_part_of_it(text: str, body: str) -> None:
    assert read_message(text).body == body


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no page called 'about us' here", "about"),
        ("fetching page <GET http://example.com/> failed", "GET"),
        ("no page at /tmp/pages/about", "tmp"),
        ("Invalid date '<%= now.strftime('%Y') %>' in a page", "strftime"),
        ("page 12 is closed", "12"),
    ],
)
def test_a_word_that_was_filled_in_is_a_value(text: str, value: str) -> None:
    message = read_message(text)
    assert message.is_value(text.index(value))
    assert not message.is_value(text.index("page"))


def test_the_classes_of_exceptions_are_known() -> None:
    assert read_message("shop.CartError: closed (was ValueError)").raised == ["CartError", "ValueError"]


@pytest.mark.parametrize("text", ["no server running on /tmp/shop/default", "2024-07-08 16:34:44 the cart was closed"])
def test_a_sentence_with_a_path_or_a_time_looks_pasted(text: str) -> None:
    assert read_pasted(text)[0].is_loose


@given(st.text(max_size=300))
def test_any_text_can_be_read_as_a_message(text: str) -> None:
    message = read_message(text)
    assert message.body in text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("how do `foo_bar` and `baz_qux` differ?", []),
        ("where is `a.b(c)` used with --no-files", ["a.b(c)", "--no-files"]),
        ('what does "not found" mean', ["not found"]),
        ("LGTM, but please rename `transform_line` and do not return None from it.", []),
        ("We should call `cart.save()` here.", ["cart.save()"]),
    ],
)
def test_of_a_question_or_a_comment_only_quoted_code_is_meant_as_it_stands(text: str, parts: list[str]) -> None:
    assert [one.text for one in read_pasted(text)] == parts


@pytest.mark.parametrize(
    ("text", "is_quoted"),
    [
        ('how does "soft delete" work', True),
        ("what does --no-files do", True),
        ('where is "not found" raised', False),
        ('what prints "not found"', False),
        ("We should call `cart.save()` here.", False),
    ],
)
def test_what_a_question_quotes_is_meant_only_if_it_asks_where_that_stands(text: str, is_quoted: bool) -> None:
    assert [one.is_quoted for one in read_pasted(text)] == [is_quoted]


@pytest.mark.parametrize(
    "text", ["files that are not found", "error when a cart is not found", "a key which already exists"]
)
def test_a_description_of_what_is_not_so_is_no_message(text: str) -> None:
    assert not any(one.is_loose for one in read_pasted(text))


def test_a_message_with_a_quoted_value_is_a_message() -> None:
    (pasted,) = read_pasted("cannot find value `total` in this scope")
    assert pasted.is_loose
