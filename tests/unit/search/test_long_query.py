from __future__ import annotations

import pytest

from cairn.errors import QueryError
from cairn.search.any_length import understand_text
from cairn.search.long_query import CODE, PROSE
from cairn.search.query import understand
from cairn.source.roles import Role

LONG = (
    "Carts forget discounts\n\n"
    "The tests of the documentation say how to configure the environment.\n\n"
    "```\nbasket = 1\n```\n"
)


def weights(text: str) -> dict[str, float]:
    return {term.text: term.weight for term in understand_text(text).terms}


def test_a_short_query_is_understood_as_before() -> None:
    for text in ("where are carts saved", "Cart.total", "/a.*b/", "callers of total", "`cart`"):
        assert understand_text(text) == understand(text)


def test_words_of_the_subject_count_more_than_those_of_the_body() -> None:
    found = weights(LONG)
    assert (found["discount"], found["configur"], found["basket"]) == (1.0, PROSE, CODE)


def test_a_word_of_the_body_is_no_wish_for_tests_or_documentation() -> None:
    assert understand_text(LONG).wants == Role(0)
    assert understand_text("test failures in carts\n\nSee below.").wants == Role(0)


def test_an_asking_subject_is_a_wish() -> None:
    assert understand_text("where are the tests of carts?\n\nI cannot find them.").wants & Role.TEST


def test_a_platform_in_the_subject_is_where_to_look() -> None:
    assert (
        understand_text("F1 does nothing in the console of Windows\n\nOn macos it does.").wants == Role.OTHER_PLATFORM
    )
    assert understand_text("F1 does nothing in v2 of the tests\n\nOn Windows it does.").wants == Role(0)


def test_the_body_has_a_vector_of_its_own() -> None:
    query = understand_text(LONG)
    assert query.words == ("carts", "forget", "discounts")
    assert "environment" in query.body
    assert "basket" not in query.body


@pytest.mark.parametrize(
    "text", ["word " * 200_000, "x" * 1_000_000 + "\ny", "\n".join(f"at f{n} (a.js:{n}:1)" for n in range(5_000))]
)
def test_no_text_is_too_long_to_be_ranked(text: str) -> None:
    query = understand_text(text)
    assert query.item is not None
    assert query.item.is_cut == (len(text.strip()) > 40_000)


def test_a_pattern_that_is_too_long_is_refused() -> None:
    with pytest.raises(QueryError, match="10,000"):
        understand_text("word " * 20_000, "regex")


@pytest.mark.parametrize(
    "text",
    [
        "example.com/shop/cart.(*Cart).Total(0xc000)\n\t/app/cart/cart.go:81 +0x1d",
        "panic: x\n\ngoroutine 1 [running]:\nexample.com/shop/cart.(*Cart).Total(...)\nmain.main()",
        '  File "/app/shop/cart.py", line 12, in total\n    self.sum(values)',
        "org.shop.Cart.total(Cart.java:12)\norg.shop.Main.main(Main.java:3)",
        "   at Shop.Cart.Add[T](T item)\n   at Shop.Program.Main()",
    ],
)
def test_a_few_lines_of_a_trace_are_no_pattern(text: str) -> None:
    assert understand_text(text).item is not None


def test_a_few_lines_of_code_are_looked_for_as_they_stand() -> None:
    assert understand_text("def total(self):\n    return sum(self.items)").mode == "literal"
