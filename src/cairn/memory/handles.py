"""The short handles of observations that people and agents use, apart from ids, whose making takes imports."""

from __future__ import annotations

import re

HANDLE = "m_"
_DIGITS = 10  # at random: among 10,000 memories, two have the same ten once in 20,000 projects
_FORM = re.compile(rf"{HANDLE}[0-9a-f]{{4,12}}")


def handle_of(id: str) -> str:
    """Return the short name of an observation, such as `m_0123456789`."""
    return HANDLE + id[-_DIGITS:]


def is_handle(text: str) -> bool:
    """Tell whether a text is a short name; fewer or more of the last digits do as well."""
    return _FORM.fullmatch(text) is not None
