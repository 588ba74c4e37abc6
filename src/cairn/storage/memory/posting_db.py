"""All SQL of the words of observations: the terms of each, as arrays that only the recall code understands."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import NamedTuple


class PostingRow(NamedTuple):
    """The terms of one observation, as packed arrays of equal length.

    Attributes:
        number: the observation's row number.
        hashes: a 64-bit hash for each term.
        impacts: a byte for each term: its weight.
        fields: a byte for each term: a bit for each field that it is in.
    """

    number: int
    hashes: bytes
    impacts: bytes
    fields: bytes


class RecallRow(NamedTuple):
    """What ranking needs to know of an observation besides its terms."""

    number: int
    created: str
    importance: int
    branch: str
    revision: str


def put(connection: sqlite3.Connection, rows: Iterable[PostingRow]) -> None:
    """Write the terms of some observations, replacing earlier ones."""
    connection.executemany("INSERT OR REPLACE INTO posting VALUES (?, ?, ?, ?)", rows)


def delete(connection: sqlite3.Connection, numbers: Collection[int]) -> None:
    """Delete the terms of some observations."""
    connection.executemany("DELETE FROM posting WHERE number = ?", [(number,) for number in numbers])


def delete_all(connection: sqlite3.Connection) -> None:
    """Delete the terms of all observations."""
    connection.execute("DELETE FROM posting")


def read_all(connection: sqlite3.Connection) -> list[PostingRow]:
    """Return the terms of all observations, by number."""
    query = "SELECT number, hashes, impacts, fields FROM posting ORDER BY number"
    return [PostingRow(*row) for row in connection.execute(query)]


def read_ranked(connection: sqlite3.Connection) -> list[RecallRow]:
    """Return the `RecallRow` of each observation that has terms, by number."""
    query = (
        "SELECT number, created, importance, branch, revision FROM observation JOIN posting USING (number) "
        "ORDER BY number"
    )
    return [RecallRow(*row) for row in connection.execute(query)]
