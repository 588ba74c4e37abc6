"""How names and imports of Dart find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, SPACE, ImportFlag, Parts
from cairn.source.languages.rules import Rules

RULES = Rules(
    "dart",
    finder="dart",
    implicit=True,
    type_side="before",
    constructor="",
    capital_types=True,
    parameters_keep_types=True,
)

_STATEMENT = re.compile(r"(?:@[\w.()]+\s+)*(import|export|part(?:\s+of)?)\s+[\"']([^\"'\n]+)[\"']([^;]*)")
_FLAGS = {"export": ImportFlag.REEXPORT, "part": ImportFlag.REEXPORT, "part of": ImportFlag.WHOLE}
_PREFIX = re.compile(r"\bas\s+(\w+)")


def read_import(text: str) -> Parts:
    """Read one import, export or part; see `cairn.source.languages.import_reading`.

    A part and its library share a scope, as if each imported the other.
    """
    statement = _STATEMENT.match(text)
    if statement is None:
        return
    keyword, module, rest = statement.groups()
    if (prefix := _PREFIX.search(rest)) is not None:
        yield module, "", prefix[1], NO_FLAG
    else:
        yield module, "*", "", _FLAGS.get(SPACE.sub(" ", keyword), NO_FLAG)
