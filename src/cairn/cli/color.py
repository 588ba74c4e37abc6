"""When output has colour: by default on a terminal, unless NO_COLOR is set."""

from __future__ import annotations

import os
from typing import Literal, TextIO, TypeAlias

When: TypeAlias = Literal["auto", "always", "never"]
_chosen: list[When] = ["auto"]  # of the process


def choose(when: When) -> None:
    """Decide for everything that this process prints."""
    _chosen[0] = when


def takes_color(stream: TextIO) -> bool:
    """Tell whether a stream gets colour."""
    if _chosen[0] != "auto":
        return _chosen[0] == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
