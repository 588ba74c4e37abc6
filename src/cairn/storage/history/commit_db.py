"""All SQL of commits: each is stored once, by its hash, whichever branches contain it."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from cairn.storage.connection import in_parts

NOT_KNOWN = -1  # in place of a file's previous path


class StoredCommit(NamedTuple):
    """A commit as stored.

    Attributes:
        hash: as bytes.
        seconds: when it was made, since the epoch.
        subject: its first line, without secrets.
        weight: how much it counts, from 0 to 1.
        hashes: those of its terms, 8 bytes each.
        fields: the fields that each term is in, a byte each.
        paths: two numbers of 4 bytes for each changed file: its path, and its previous path; 0 if that is the same or
            there was none, `NOT_KNOWN` if git could not tell.
    """

    hash: bytes
    seconds: int
    subject: str
    weight: float
    hashes: bytes
    fields: bytes
    paths: bytes


def known_hashes(connection: sqlite3.Connection) -> set[bytes]:
    """Return the hashes of all commits."""
    return {row[0] for row in connection.execute("SELECT hash FROM past")}


def put_commits(connection: sqlite3.Connection, commits: Iterable[StoredCommit]) -> None:
    """Add commits that are not stored yet."""
    connection.executemany(
        """INSERT OR IGNORE INTO past (hash, seconds, subject, weight, hashes, fields, paths)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        commits,
    )


def read_commits(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> Iterator[StoredCommit]:
    """Yield those commits among `hashes` that are stored, in the order given."""
    for part in in_parts(hashes):
        marks = ",".join("?" * len(part))
        rows = connection.execute(
            f"SELECT hash, seconds, subject, weight, hashes, fields, paths FROM past WHERE hash IN ({marks})", part
        )
        found = {row[0]: StoredCommit(*row) for row in rows}
        yield from (found[one] for one in part if one in found)


def number_paths(connection: sqlite3.Connection, paths: Collection[str]) -> dict[str, int]:
    """Return the numbers of paths; a new path gets the next number, starting at 1."""
    connection.executemany("INSERT OR IGNORE INTO path (path) VALUES (?)", ((path,) for path in paths))
    numbers: dict[str, int] = {}
    for part in in_parts(list(paths)):
        marks = ",".join("?" * len(part))
        numbers |= dict(connection.execute(f"SELECT path, id FROM path WHERE path IN ({marks})", part).fetchall())
    return numbers


def read_paths(connection: sqlite3.Connection) -> dict[int, str]:
    """Return all paths by number."""
    return dict(connection.execute("SELECT id, path FROM path").fetchall())


def drop_others(connection: sqlite3.Connection, keep: Collection[bytes]) -> None:
    """Forget all commits but some."""
    gone = known_hashes(connection).difference(keep)
    connection.executemany("DELETE FROM past WHERE hash = ?", ((one,) for one in gone))


def clear(connection: sqlite3.Connection) -> None:
    """Forget all commits and paths."""
    connection.execute("DELETE FROM past")
    connection.execute("DELETE FROM path")
