"""Detects agents in use by the project's files, the user's folders, and the programs on the PATH."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from cairn.hooks.adapter import Adapter, Level
from cairn.hooks.agents import NAMES, adapter_of


class Found(NamedTuple):
    """An agent in use, and the signs of it, such as `claude on the PATH`."""

    adapter: Adapter
    signs: tuple[str, ...]


def detect(root: Path, home: Path | None, search_path: str, level: Level, ours: Collection[str] = ()) -> list[Found]:
    """Return the agents in use, in the order of `cairn.hooks.agents.NAMES`.

    Args:
        root: the project; its files only count if its files are to be changed.
        home: the user's; None if unknown.
        search_path: folders of programs, as in `PATH`.
        level: whether the project's files or the user's are to be changed.
        ours: files and folders that Cairn made; they prove nothing, since some agents share them.
    """
    found = []
    for name in NAMES:
        adapter = adapter_of(name)
        signs = _signs(adapter, root if level == "project" else None, home, search_path, ours)
        if signs:
            found.append(Found(adapter, tuple(signs)))
    return found


def _signs(
    adapter: Adapter, root: Path | None, home: Path | None, search_path: str, ours: Collection[str]
) -> list[str]:
    known = adapter.detection
    signs = [f"{program} on the PATH" for program in known.programs if shutil.which(program, path=search_path)]
    if root is not None:
        there = [name for name in known.in_project if os.path.lexists(root / name)]
        signs += [name for name in there if os.path.realpath(root / name) not in ours]
    if home is not None:
        signs += [f"~/{name}" for name in known.in_home if os.path.lexists(home / name)]
    return signs
