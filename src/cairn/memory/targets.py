"""What people and agents write for a file, or for a definition in it, that a memory is about."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

MARK = "::"  # between a path and the name of a definition, as in `src/cart.py::Cart.total`


class Target(NamedTuple):
    """A file, and a definition in it; an empty name means the file as a whole."""

    path: str
    symbol: str


def parse_target(text: str) -> Target:
    """Return what `FILE` or `FILE::SYMBOL` names."""
    path, _, symbol = text.partition(MARK)
    return Target(path, symbol)


def target_below(root: Path, text: str) -> Target:
    """Return what `FILE` or `FILE::SYMBOL` names, its path relative to the root; it need not exist."""
    path, symbol = parse_target(text)
    relative = os.path.relpath(os.path.join(root, path), root) if os.path.isabs(path) else os.path.normpath(path)
    return Target(Path(relative).as_posix(), symbol)
