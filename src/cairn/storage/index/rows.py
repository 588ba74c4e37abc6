"""Checks the types of values from SQLite, since a damaged or planted row may have others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from cairn.errors import IndexDamagedError
from cairn.hints import Hint

_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def check_types(row: Sequence[Any], *types: type) -> Sequence[Any]:
    """Return a row after checking that its values have these types.

    Raises:
        IndexDamagedError: if a value does not.
    """
    for value, wanted in zip(row, types, strict=True):
        if type(value) is not wanted:
            raise IndexDamagedError(
                f"a row holds {type(value).__name__} in place of {wanted.__name__}", Hint.of("index")
            )
    return row


def path_of(value: object) -> str:
    """Return the path that a row holds as bytes.

    Raises:
        IndexDamagedError: if it holds something else.
    """
    if type(value) is not bytes:
        raise IndexDamagedError(f"a row holds {type(value).__name__} in place of a path", Hint.of("index"))
    return value.decode(_ENCODING, _ERRORS)  # same as os.fsdecode in a third of the time


def number(text: object) -> int:
    """Return the number that a string of digits stands for.

    Raises:
        IndexDamagedError: if it does not.
    """
    if not isinstance(text, str) or not (text.isascii() and text.isdigit() and len(text) < 19):
        raise IndexDamagedError("a row holds something else in place of a number", Hint.of("index"))
    return int(text)
