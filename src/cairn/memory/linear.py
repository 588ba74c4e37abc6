"""Patterns that take linear time on any text: RE2's, compiled once each, when first asked for."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def linear(pattern: str) -> Any:  # noqa: ANN401 - re2 ships no types
    """Return a compiled pattern; it has `search`, `fullmatch`, `finditer` and `findall` as those of `re`."""
    import re2  # noqa: PLC0415 - start-up time: only texts of agents need it

    return re2.compile(pattern)
