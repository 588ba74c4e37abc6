"""Tells what compilers and linters say of a place from the messages that the project itself makes."""

from __future__ import annotations

import re

from cairn.search.pasted import PastedPlace
from cairn.search.pasted_text import read_message

# The path of a place, and what comes before that which is said of it. Ruby and warnings of Python say where a message
# was made.
_DIAGNOSED = re.compile(
    r"\s*(\S+\.\w+)(?::\d+(?::\d+)?|\(\d+,\d+\)): +(?!in [`'\"]|[\w.:\\]{1,120}(?:Error|Exception|Warning): )"
    r"(?:(?:error|warning|note|[A-Z])\b:? *)?"
)
# Of the words of such a message that stand in the project if it is its own: their share, and how many if not all do.
_OWN_SHARE, _LEAST_OWN_WORDS = 0.75, 4
_WORD = re.compile(r"\w+")
_HIDDEN = re.compile(r"(?:^|/)\.[^/]")


def diagnosed_path(message: str) -> str:
    """Return the path of the place of which a message says something, empty if it begins with none."""
    diagnosed = _DIAGNOSED.match(message)
    return diagnosed[1] if diagnosed else ""


def makes_diagnosis(place: PastedPlace, path: str, message: str) -> bool:
    """Tell whether a place makes a message that says something of another place: the project is that linter.

    Args:
        path: of the file of the place.
        message: one that has a `diagnosed_path`.
    """
    if is_hidden(path):
        return False
    diagnosed, parts = _DIAGNOSED.match(message), read_message(message)
    said = _WORD.finditer(message, diagnosed.end() if diagnosed else 0)
    n_words = sum(not parts.is_value(word.start()) for word in said)
    return place.share >= 1 or place.n_words >= max(_LEAST_OWN_WORDS, _OWN_SHARE * n_words)


def is_hidden(path: str) -> bool:
    """Tell whether a file is hidden, or in a hidden folder: it tells tools something, and makes no message."""
    return _HIDDEN.search(path) is not None
