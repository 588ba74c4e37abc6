"""Follows files that were renamed and definitions that were moved, so that a memory stays with its code."""

from __future__ import annotations

import math
import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cairn.errors import PathError
from cairn.memory import derived
from cairn.memory.clock import seconds_of
from cairn.memory.links import LinkStates
from cairn.memory.moved_code import MovedDefinitions
from cairn.source.git import Repository, head_revision
from cairn.source.renames import find_renames
from cairn.source.walk import read_file
from cairn.storage.memory import observation_db
from cairn.storage.memory.rows import CodeLink, Observation

_WORD = re.compile(rb"\w+")
_MAX_BYTES = 1_000_000
_SKEW_SECONDS = 2.0  # of a file's time: a definition is gone only from a file that changed since
_MOST_READ = 50  # files, in search of definitions that were moved there


class _Tied(NamedTuple):
    """A definition that a memory speaks of: the memory's row, and when and at which commit it was made."""

    number: int
    seconds: float
    revision: str
    link: CodeLink


class _Stamp(NamedTuple):
    """What differs once a file may have been renamed, or other files are spoken of."""

    memories: str
    head: str
    staged: tuple[int, int, int] | None


class Moves:
    """Tells where the code is now that memories speak of; git is asked again once something has changed.

    Args:
        root: the project's folder.
        repository: the checkout it belongs to, None outside git, where nothing is followed.
        states: tells what is in the files now.
    """

    def __init__(self, root: Path, repository: Repository | None, states: LinkStates) -> None:
        self._root, self._repository = root, repository
        self._definitions = MovedDefinitions(root, states)
        self._known: tuple[_Stamp, dict[str, str]] | None = None
        self._linked: tuple[str, dict[str, list[_Tied]]] | None = None  # at a state of what is derived
        self._lock = Lock()

    def files(self, connection: sqlite3.Connection) -> Mapping[str, str]:
        """Return {path that active memories say: path now} of the files that were renamed since."""
        if self._repository is None:
            return {}
        head = self._head()
        stamp = _Stamp(derived.state_of(connection), head, _stamp(self._repository.git_dir / "index"))
        with self._lock:
            if self._known is None or self._known[0] != stamp:
                self._known = stamp, self._ask(connection, head)
            return self._known[1]

    def follow(
        self, connection: sqlite3.Connection, links: Mapping[str, tuple[Iterable[CodeLink], str]]
    ) -> dict[str, tuple[CodeLink, ...]]:
        """Return the links of some memories, leading to where the code is now.

        Args:
            connection: the store's.
            links: of each memory, by its id, and the commit at which it was made.
        """
        files = self.files(connection)
        moved = {
            id: [link._replace(path=files.get(link.path, link.path)) for link in own] for id, (own, _) in links.items()
        }
        if self._repository is None:
            return {id: tuple(own) for id, own in moved.items()}
        tied = ((link, links[id][1]) for id, own in moved.items() for link in own)
        definitions = self._definitions.follow(tied, self._head())
        return {id: tuple(definitions.get(link, link) for link in own) for id, own in moved.items()}

    def follow_all(self, connection: sqlite3.Connection, observations: Iterable[Observation]) -> list[Observation]:
        """Return some memories with their links leading to where the code is now."""
        found = list(observations)
        now = self.follow(connection, {one.id: (one.links, one.revision) for one in found if one.links})
        return [one._replace(links=now.get(one.id, ())) for one in found]

    def find_linked(self, connection: sqlite3.Connection, paths: Collection[str]) -> set[int]:
        """Return the row numbers of the memories that speak of some files, whatever these were called before.

        Args:
            connection: the store's.
            paths: relative to the root; one that ends in a slash means all files below it.
        """
        files = [path for path in places_before(paths, self.files(connection)) if not path.endswith("/")]
        return observation_db.find_linked(connection, files) | self.find_moved(connection, paths)

    def find_moved(self, connection: sqlite3.Connection, paths: Collection[str]) -> set[int]:
        """Return the row numbers of the active memories that speak of definitions that were moved into some files.

        Args:
            connection: the store's.
            paths: as for `find_linked`.
        """
        if self._repository is None or not paths:
            return set()
        folders = tuple(path for path in paths if path.endswith("/"))
        files = self.files(connection)
        candidates: list[_Tied] = []
        for old, tied in self._tied(connection).items():
            path = files.get(old, old)
            if path not in paths and self._changed_at(path) >= tied[-1].seconds:
                candidates += [one._replace(link=one.link._replace(path=path)) for one in tied]
        if candidates and not folders:
            words = self._words_of(paths)
            candidates = [tied for tied in candidates if tied.link.symbol.rpartition(".")[2].encode() in words]
        moved = self._definitions.follow(((tied.link, tied.revision) for tied in candidates), self._head())
        into = {link for link, now in moved.items() if now.path in paths or now.path.startswith(folders)}
        return {tied.number for tied in candidates if tied.link in into}

    def _tied(self, connection: sqlite3.Connection) -> dict[str, list[_Tied]]:
        """Return the definitions of each file that active memories speak of, the newest memories first."""
        state = derived.state_of(connection)
        with self._lock:
            known = self._linked
        if known is None or known[0] != state:
            known = state, {}
            for row in observation_db.linked_definitions(connection):
                tied = _Tied(row.number, seconds_of(row.created), row.revision, row.link)
                known[1].setdefault(row.link.path, []).append(tied)
            with self._lock:
                self._linked = known
        return known[1]

    def _changed_at(self, path: str) -> float:
        """Return when a file changed last, in seconds since the epoch; infinite if it is gone."""
        try:
            return os.stat(f"{self._root}/{path}").st_mtime + _SKEW_SECONDS
        except (OSError, ValueError):
            return math.inf

    def _words_of(self, paths: Collection[str]) -> set[bytes]:
        words: set[bytes] = set()
        for path in list(paths)[:_MOST_READ]:
            with suppress(OSError, PathError):  # it is not there, or not to be read
                words.update(_WORD.findall(read_file(self._root, path, _MAX_BYTES)))
        return words

    def _head(self) -> str:
        return "" if self._repository is None else head_revision(self._repository) or ""

    def _ask(self, connection: sqlite3.Connection, head: str) -> dict[str, str]:
        spoken_of = observation_db.linked_places(connection)
        absent = {path for path in dict(spoken_of) if not os.path.lexists(self._root / path)}
        commits = [commit for path, commit in spoken_of if path in absent]
        return find_renames(self._root, absent, commits, head) if absent else {}


def places_before(paths: Collection[str], moves: Mapping[str, str]) -> set[str]:
    """Return some files, and what memories call them that were made before they were renamed.

    Args:
        paths: one that ends in a slash means all files below it.
        moves: as `Moves.files` returns them.
    """
    folders = tuple(path for path in paths if path.endswith("/"))
    return {*paths, *(old for old, new in moves.items() if new in paths or new.startswith(folders))}


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        state = os.stat(file)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_ino, state.st_size
