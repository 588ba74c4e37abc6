"""All SQL of the vectors of observations, separate for each model."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable

from cairn.storage.connection import in_parts
from cairn.storage.memory.observation_db import Conditions, select_numbers

_SAMPLE = 1_000  # latest observations, from which the length of all is estimated


def put(connection: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, bytes]]) -> None:
    """Write a model's vectors of some observations, as (row number, packed vector)."""
    rows = [(model, number, vector) for number, vector in vectors]
    connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)


def delete(connection: sqlite3.Connection, numbers: Collection[int]) -> None:
    """Delete all models' vectors of some observations."""
    connection.executemany("DELETE FROM vector WHERE number = ?", [(number,) for number in numbers])


def delete_others(connection: sqlite3.Connection, models: Collection[str]) -> None:
    """Delete the vectors of all models but some."""
    marks = ", ".join("?" * len(models))
    connection.execute(f"DELETE FROM vector WHERE model NOT IN ({marks})", list(models))


def read(connection: sqlite3.Connection, model: str) -> list[tuple[int, bytes]]:
    """Return a model's vectors, as (row number, packed vector), by number."""
    query = "SELECT number, vector FROM vector WHERE model = ? ORDER BY number"
    return connection.execute(query, (model,)).fetchall()


def read_some(connection: sqlite3.Connection, model: str, numbers: Collection[int]) -> dict[int, bytes]:
    """Return a model's vectors of some observations, by row number."""
    found: dict[int, bytes] = {}
    for part in in_parts(list(numbers)):
        marks = ", ".join("?" * len(part))
        query = f"SELECT number, vector FROM vector WHERE model = ? AND number IN ({marks})"
        found.update(connection.execute(query, (model, *part)))
    return found


def read_matching(connection: sqlite3.Connection, model: str, conditions: Conditions) -> dict[int, bytes]:
    """Return a model's vectors of the observations that meet all conditions, by ascending row number."""
    chosen, values = select_numbers(conditions)
    query = f"SELECT number, vector FROM vector WHERE model = ? AND number IN ({chosen}) ORDER BY number"
    return dict(connection.execute(query, (model, *values)))


def missing(connection: sqlite3.Connection, model: str, limit: int) -> list[tuple[int, str]]:
    """Return up to `limit` observations without a model's vector, -1 for all, as (row number, text)."""
    query = (
        "SELECT number, text FROM observation WHERE is_redacted = 0 AND NOT EXISTS "
        "(SELECT 1 FROM vector INDEXED BY vector_number WHERE model = ? AND vector.number = observation.number) "
        "ORDER BY number LIMIT ?"
    )
    return connection.execute(query, (model, limit)).fetchall()


def texts_after(connection: sqlite3.Connection, number: int, limit: int) -> list[tuple[int, str]]:
    """Return up to `limit` observations after a row number, -1 for all, as (row number, text), by number."""
    query = "SELECT number, text FROM observation WHERE is_redacted = 0 AND number > ? ORDER BY number LIMIT ?"
    return connection.execute(query, (number, limit)).fetchall()


def count_texts(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of observations, and an estimate of their characters from the latest ones."""
    query = (
        "SELECT (SELECT count(*) FROM observation WHERE is_redacted = 0), coalesce(avg(length(text)), 0.0) FROM "
        "(SELECT text FROM observation WHERE is_redacted = 0 ORDER BY number DESC LIMIT ?)"
    )
    number, chars = connection.execute(query, (_SAMPLE,)).fetchone()
    return int(number), round(number * chars)


def count_missing(connection: sqlite3.Connection, model: str) -> int:
    """Return how many observations lack a model's vector; redacted ones do not count."""
    query = (
        "SELECT (SELECT count(*) FROM observation WHERE is_redacted = 0) - "
        "(SELECT count(*) FROM vector INDEXED BY vector_number WHERE model = ?)"
    )
    (number,) = connection.execute(query, (model,)).fetchone()
    return int(number)
