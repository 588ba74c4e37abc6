"""Flags of the command line that are fields of requests: their words, ranges and choices are those of the field."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from cairn.fields import Rule


def add_field(
    command: argparse.ArgumentParser,
    *names: str,
    rule: Rule,
    shown_default: int | str | None = None,
    **options: Any,  # noqa: ANN401 - as `add_argument`
) -> None:
    """Add a flag, or an argument, for a field of a request.

    Args:
        command: what takes it.
        names: as `add_argument` has them.
        rule: what holds for the field, one of `cairn.fields`.
        shown_default: what help names as the default, where the parser leaves it to who answers.
        options: anything else of `add_argument`.
    """
    if rule.least is not None or rule.most is not None:
        options["type"] = number_within(rule)
    if rule.choices:
        options["choices"] = rule.choices
    default = shown_default or options.get("default")
    told = f" (default: {default})" if default else ""
    command.add_argument(*names, help=rule.text + told, **options)


def number_within(rule: Rule) -> Callable[[str], int]:
    """Return what reads a whole number of an argument and refuses one that the rule does not allow."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError("must be a whole number") from None
        if rule.least is not None and number < rule.least:
            raise argparse.ArgumentTypeError(f"must be at least {rule.least:,}")
        if rule.most is not None and number > rule.most:
            raise argparse.ArgumentTypeError(f"must be at most {rule.most:,}")
        return number

    return read
