"""What people and agents write for a file, or for a definition in it, that a memory is about."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MARK = "::"  # between a path and the name of a definition, as in `src/cart.py::Cart.total`


class Target(NamedTuple):
    """A file, and a definition in it; an empty name means the file as a whole."""

    path: str
    symbol: str


def parse_target(text: str, is_file: Callable[[str], bool] | None = None) -> Target:
    """Return what `FILE` or `FILE::SYMBOL` names.

    Args:
        text: a path may hold `::` itself.
        is_file: tells of a path whether there is such a file; without it, or if there is none, the first `::` counts.
    """
    path, mark, symbol = text.partition(MARK)
    while mark and is_file is not None:
        if is_file(path):
            return Target(path, symbol)
        more, mark, symbol = symbol.partition(MARK)
        path = f"{path}{MARK}{more}"
    if is_file is not None and is_file(text):
        return Target(text, "")
    path, _, symbol = text.partition(MARK)
    return Target(path, symbol)


def target_in(root: Path, text: str) -> Target:
    """Return what `FILE` or `FILE::SYMBOL` names, as `parse_target` does by the files that are there."""
    return parse_target(text, lambda path: os.path.isfile(os.path.join(root, path)))


def target_below(root: Path, text: str) -> Target:
    """Return what `FILE` or `FILE::SYMBOL` names, its path relative to the root; it need not exist."""
    path, symbol = target_in(root, text)
    relative = os.path.relpath(os.path.join(root, path), root) if os.path.isabs(path) else os.path.normpath(path)
    return Target(Path(relative).as_posix(), symbol)
