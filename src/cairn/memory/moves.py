"""Follows files that were renamed, so that a memory stays with the code that it speaks of."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cairn.memory import derived
from cairn.source.git import Repository, head_revision
from cairn.source.renames import find_renames
from cairn.storage.memory import observation_db
from cairn.storage.memory.rows import CodeLink, Observation


class _Stamp(NamedTuple):
    """What differs once a file may have been renamed, or other files are spoken of."""

    memories: str
    head: str
    staged: tuple[int, int, int] | None


class Moves:
    """Tells where the files are now that active memories speak of; git is asked again once something has changed.

    Args:
        root: the project's folder.
        repository: the checkout it belongs to, None outside git, where no file is followed.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self._root, self._repository = root, repository
        self._known: tuple[_Stamp, dict[str, str]] | None = None
        self._lock = Lock()

    def find(self, connection: sqlite3.Connection) -> Mapping[str, str]:
        """Return {path that memories say: path now} of the files that were renamed since."""
        if self._repository is None:
            return {}
        head = head_revision(self._repository) or ""
        stamp = _Stamp(derived.state_of(connection), head, _stamp(self._repository.git_dir / "index"))
        with self._lock:
            if self._known is None or self._known[0] != stamp:
                self._known = stamp, self._ask(connection, head)
            return self._known[1]

    def _ask(self, connection: sqlite3.Connection, head: str) -> dict[str, str]:
        spoken_of = observation_db.linked_places(connection)
        absent = {path for path in dict(spoken_of) if not os.path.lexists(self._root / path)}
        commits = [commit for path, commit in spoken_of if path in absent]
        return find_renames(self._root, absent, commits, head) if absent else {}


def follow(observation: Observation, moves: Mapping[str, str]) -> Observation:
    """Return a memory with its links leading to where its files are now."""
    links = follow_links(observation.links, moves)
    return observation if links is observation.links else observation._replace(links=links)


def follow_links(links: tuple[CodeLink, ...], moves: Mapping[str, str]) -> tuple[CodeLink, ...]:
    """Return links that lead to where their files are now."""
    if not moves or not any(link.path in moves for link in links):
        return links
    return tuple(link._replace(path=moves.get(link.path, link.path)) for link in links)


def places_before(paths: Collection[str], moves: Mapping[str, str]) -> set[str]:
    """Return some files, and what memories call them that were made before they were renamed.

    Args:
        paths: one that ends in a slash means all files below it.
        moves: as `Moves.find` returns them.
    """
    folders = tuple(path for path in paths if path.endswith("/"))
    return {*paths, *(old for old, new in moves.items() if new in paths or new.startswith(folders))}


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        state = os.stat(file)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_ino, state.st_size
