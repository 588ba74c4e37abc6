"""Flags that are fields of requests: their help, ranges and choices come from the field."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from cairn.fields import Rule


def add_field(
    command: argparse.ArgumentParser,
    *names: str,
    rule: Rule,
    shown_default: int | str | None = None,
    also: str = "",
    **options: Any,  # noqa: ANN401 - as `add_argument`
) -> None:
    """Add a flag or argument for a field of a request.

    Args:
        command: the parser that takes it.
        names: as for `add_argument`.
        rule: the limits of the field, one of `cairn.fields`.
        shown_default: the default that the help shows, where the operation sets it and not the parser.
        also: the end of the help, about what only the command line takes.
        options: any other argument of `add_argument`.
    """
    if rule.least is not None or rule.most is not None:
        options["type"] = number_within(rule)
    if rule.choices:
        options["choices"] = rule.choices
    default = shown_default or options.get("default")
    suffix = f" (default: {default})" if default else ""
    command.add_argument(*names, help=rule.text + also + suffix, **options)


def number_within(rule: Rule) -> Callable[[str], int]:
    """Return a function that parses a whole number and rejects one outside the rule's range."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError("must be a whole number") from None
        _check_range(number, rule)
        return number

    return read


def real_within(rule: Rule) -> Callable[[str], float]:
    """Return a function that parses a number and rejects one outside the rule's range, and what is not a number."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise argparse.ArgumentTypeError("must be a number")
        _check_range(number, rule)
        return number

    return read


def _check_range(number: float, rule: Rule) -> None:
    if rule.least is not None and number < rule.least:
        raise argparse.ArgumentTypeError(f"must be at least {rule.least:,}")
    if rule.most is not None and number > rule.most:
        raise argparse.ArgumentTypeError(f"must be at most {rule.most:,}")
