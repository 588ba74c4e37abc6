from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.search.pasted_text import LOG_PREFIX, Pasted, is_of_language, read_message, read_pasted, without_prefix


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("ValueError: no such page: /about", "no such page: /about"),
        ("shop.errors.CartError: The cart is closed", "The cart is closed"),
        ("2024-07-08 16:34:44 [shop.cart] ERROR: The cart is closed", "The cart is closed"),
        ("[2018-05-04 23:33:42,186: ERROR/MainProcess] The cart is closed", "The cart is closed"),
        ("WARNING - shop.web[web:1667] - The cart is closed", "The cart is closed"),
        ("The cart is closed", "The cart is closed"),
        (
            'time=2026-08-21T11:02:03.412Z level=ERROR source=main.go:612 msg="The cart is closed" id=3',
            "The cart is closed",
        ),
        ('ts=2026-08-21T11:02:03Z caller=head.go:766 level=error err="The cart is closed"', "The cart is closed"),
        ('lvl=eror msg="The cart is closed" err="open /data/x: permission denied"', "The cart is closed"),
        ('msg="The cart is closed" level=error', "The cart is closed"),
        ('{"level":"error","ts":1755774412.51,"msg":"The cart is closed","error":"EOF at 3"}', "The cart is closed"),
        ('{"event": "The cart is closed", "level": "error", "logger": "shop.cart"}', "The cart is closed"),
        ('level=error msg="The \\"cart\\" is closed"', 'The \\"cart\\" is closed'),
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


def test_of_a_line_of_fields_the_message_is_looked_for_before_the_error() -> None:
    found = read_pasted('level=error msg="Could not find last snapshot" err="no such file" component=tsdb')
    assert found == [Pasted("Could not find last snapshot", True), Pasted("no such file", True)]


@pytest.mark.parametrize(
    "text",
    ['cart = Cart(msg="it is closed")', 'the flag --level=error has msg="it is closed"', 'level=error msg="closed"'],
)
def test_what_has_no_fields_of_a_log_is_looked_for_as_it_stands(text: str) -> None:
    assert text in [one.text for one in read_pasted(text)]


@pytest.mark.parametrize(
    ("line", "prefix"),
    [
        ('level=error ts=3 msg="The cart is closed"', "level=error ts=3 "),
        ('{"level":"error","ts":3,"msg":"The cart is closed"}', '{"level":"error","ts":3,'),
        ('time=3 level=WARN err="it is closed"', "time=3 level=WARN "),
    ],
)
def test_the_fields_before_a_message_are_what_a_log_puts_there(line: str, prefix: str) -> None:
    match = LOG_PREFIX.match(line)
    assert match is not None
    assert match[0] == prefix


@pytest.mark.parametrize("block", ["a=", "a=b ", 'a="b" ', '"a":', '{"a":1,', 'a="\\" ', "msg="])
def test_fields_that_are_made_to_be_slow_take_linear_time(block: str) -> None:
    started = time.process_time()
    without_prefix(block * (40_000 // len(block)))
    assert time.process_time() - started < 1  # linear: some milliseconds


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: 'NoneType' object has no attribute 'meta'",
        "E       AttributeError: 'NoneType' object has no attribute 'meta'",
        "2026-03-02 11:04:51 ERROR: ValueError: too many values to unpack (expected 2)",
        "TypeError: total() missing 1 required positional argument: 'cart'",
        "Uncaught (in promise) TypeError: Cannot read properties of undefined (reading 'cart')",
        "NoMethodError: undefined method 'total' for nil",
        "panic: runtime error: index out of range [3] with length 3",
        'java.lang.NullPointerException: Cannot invoke "Object.hashCode()" because "x" is null',
        "System.NullReferenceException : Object reference not set to an instance of an object.",
        "attempt to subtract with overflow",
    ],
)
def test_what_a_language_says_of_itself_is_no_message_of_the_code(text: str) -> None:
    assert is_of_language(text)


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: 'Cart' object has no attribute 'total'",
        "TypeError: Error while loading the cart: Cannot read properties of undefined",
        "ValueError: too many carts",
        "panic: cart is empty",
        "Cannot read the cart",
    ],
)
def test_what_the_code_may_say_is_a_message_of_it(text: str) -> None:
    assert not is_of_language(text)


@pytest.mark.parametrize(
    ("text", "is_message"),
    [
        ('Cannot open the page "about". Did you mean "abort"?', True),
        ("error: unable to open the page `about`, did you mean `abort`?", True),
        ("Failed to load ./about (from ./pages). Does the file exist?", True),
        ("The page cannot be opened (is it closed?)", True),
        ("Error: reading pages: invalid page - did you mean `about`?", True),
        ("The page cannot be opened. Why?", False),
        ("I cannot open the page. Is it closed?", False),
        ("is a page that cannot be opened closed?", False),
        ("The page is blue. Is it closed?", False),
    ],
)
def test_a_message_may_end_with_a_question_to_its_reader(text: str, is_message: bool) -> None:
    assert [one.is_loose for one in read_pasted(text)] == [True] * is_message


@pytest.mark.parametrize("text", ["unrecognized directive: foo", "Unsupported page type: about", "missing page: about"])
def test_a_short_text_that_begins_with_what_is_wrong_is_a_message(text: str) -> None:
    assert read_pasted(text)[0].is_loose


@pytest.mark.parametrize("text", ["unknown option", "Cart ID unknown", "can't open cart", "not a terminal"])
def test_a_few_words_that_say_what_went_wrong_look_like_a_message(text: str) -> None:
    assert read_pasted(text)[0].text == text


@pytest.mark.parametrize("text", ["server loop", "error handlers", "where is it", "duplicates of carts"])
def test_a_few_words_that_say_nothing_of_the_kind_do_not(text: str) -> None:
    assert read_pasted(text) == []


def test_a_message_that_ends_with_a_value_may_be_found_without_it() -> None:
    assert [one.is_loose for one in read_pasted("no cart found for handle 0xab")] == [True]
    assert [one.is_loose for one in read_pasted("carts that are kept for days")] == [False]
