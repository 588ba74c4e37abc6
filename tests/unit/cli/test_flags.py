from __future__ import annotations

import argparse

import pytest

from cairn.cli.flags import add_field, number_within, real_within
from cairn.fields import Rule

COUNT = Rule("how many", least=1, most=2_000)


def test_a_number_within_the_limits_of_its_field_is_read() -> None:
    read = number_within(COUNT)
    assert [read("1"), read("2000")] == [1, 2_000]


@pytest.mark.parametrize(
    ("text", "message"), [("0", "at least 1"), ("2001", "at most 2,000"), ("x", "a whole number"), ("1.5", "a whole")]
)
def test_a_number_beyond_the_limits_of_its_field_is_refused_with_the_limit(text: str, message: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        number_within(COUNT)(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [("0.5", "at least 1"), ("1e300", "at most 2,000"), ("inf", "at most"), ("nan", "a number"), ("x", "a number")],
)
def test_a_number_with_a_fraction_is_held_to_the_same_limits(text: str, message: str) -> None:
    assert real_within(COUNT)("1.5") == 1.5
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        real_within(COUNT)(text)


def test_help_has_the_words_the_choices_and_the_default_of_the_field() -> None:
    parser = argparse.ArgumentParser()
    add_field(parser, "--size", rule=Rule("how large", choices=("small", "large")), default="small")
    add_field(parser, "--count", rule=COUNT, shown_default=7)
    told = parser.format_help()
    assert "--size {small,large}" in told
    assert "how large (default: small)" in told
    assert "how many (default: 7)" in told
    assert parser.parse_args(["--count", "3"]) == argparse.Namespace(size="small", count=3)


def test_a_field_without_limits_takes_any_text() -> None:
    parser = argparse.ArgumentParser()
    add_field(parser, "words", rule=Rule("what to find"))
    assert parser.parse_args(["so -much"]).words == "so -much"
