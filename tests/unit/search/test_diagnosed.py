"""Tests of what compilers and linters say of a place."""

from __future__ import annotations

import pytest

from cairn.search.diagnosed import diagnosed_path, is_hidden, makes_diagnosis
from cairn.search.exact import LineMatch
from cairn.search.pasted import PastedPlace

SAID = "src/shop/cart.py:7:5: C: [Correctable] Layout/Space: Space inside parentheses detected."


@pytest.mark.parametrize(
    "message",
    [
        SAID,
        "src/shop/cart.py:7: error: Argument 1 has an incompatible type  [arg-type]",
        "src/shop/cart.py(7,5): error TS2345: Argument of type 'string' is not assignable",
        "src/shop/cart.py:7:5: Error return value of `w.Close` is not checked (errcheck)",
        "src/shop/cart.py:7:5: too many arguments in call to total",
    ],
)
def test_what_is_said_of_a_place_has_its_path(message: str) -> None:
    assert diagnosed_path(message) == "src/shop/cart.py"


@pytest.mark.parametrize(
    "message",
    [
        "src/shop/cart.rb:7:in 'place': cart must not be empty (ArgumentError)",
        "src/shop/cart.py:7: shop.errors.CartWarning: cart must not be empty",
        "src/shop/cart.py:7",
        "cart must not be empty: src/shop/cart.py:7",
    ],
)
def test_a_message_that_says_where_it_was_made_is_said_of_no_place(message: str) -> None:
    assert diagnosed_path(message) == ""


def test_the_project_makes_what_is_said_of_a_place_if_most_of_it_stands_there() -> None:
    line = LineMatch(0, 1, 1, 0, b"")
    whole, most, little = (PastedPlace(line, "", share, n_words=n) for share, n in ((1.0, 0), (0.6, 4), (0.9, 2)))
    assert makes_diagnosis(whole, "src/rules.py", SAID)
    assert makes_diagnosis(most, "src/rules.py", SAID)
    assert not makes_diagnosis(little, "src/rules.py", SAID)
    assert not makes_diagnosis(whole, ".golangci.yml", SAID)


def test_few_words_that_a_linter_says_make_no_linter_of_the_project() -> None:
    place = PastedPlace(LineMatch(0, 1, 1, 0, b""), "", 0.9, n_words=3)
    assert not makes_diagnosis(place, "src/rules.py", "src/shop/cart.py:7: Line is too long. [130/120]")


def test_a_file_is_hidden_if_it_or_a_folder_around_it_is() -> None:
    assert is_hidden(".golangci.yml")
    assert is_hidden("docs/.vale/rule.yml")
    assert not is_hidden("src/rules.v2.py")
