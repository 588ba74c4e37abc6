"""All SQL of the versions of a tuning, and of unfinished runs."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class StoredVersion(NamedTuple):
    """A version: `status` is `active`, `proposed`, `refused`, `replaced` or `rolled-back`; texts are JSON."""

    number: int
    created: float
    status: str
    tuning: str
    report: str


_COLUMNS = ", ".join(StoredVersion._fields)


def next_number(connection: sqlite3.Connection) -> int:
    """Return the number of the next version."""
    return int(connection.execute("SELECT coalesce(max(number), 0) + 1 FROM tuning_version").fetchone()[0])


def add_version(connection: sqlite3.Connection, version: StoredVersion) -> None:
    """Add a version."""
    connection.execute(f"INSERT INTO tuning_version ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", version)


def versions(connection: sqlite3.Connection) -> list[StoredVersion]:
    """Return all versions, newest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM tuning_version ORDER BY number DESC")
    return [StoredVersion(*row) for row in rows]


def set_status(connection: sqlite3.Connection, before: str, after: str) -> None:
    """Change the status of all versions that have a given one."""
    connection.execute("UPDATE tuning_version SET status = ? WHERE status = ?", (after, before))


def set_status_of(connection: sqlite3.Connection, number: int, status: str) -> None:
    """Set the status of a version."""
    connection.execute("UPDATE tuning_version SET status = ? WHERE number = ?", (status, number))


def set_report(connection: sqlite3.Connection, number: int, report: str) -> None:
    """Replace the evidence for a version."""
    connection.execute("UPDATE tuning_version SET report = ? WHERE number = ?", (report, number))


def read_run(connection: sqlite3.Connection, key: str) -> str | None:
    """Return what an unfinished run saved under a key, None if there is nothing."""
    row = connection.execute("SELECT body FROM tuning_run WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def keep_run(connection: sqlite3.Connection, key: str, body: str, seconds: float) -> None:
    """Save what a run has found so far, replacing all other runs' results."""
    connection.execute("DELETE FROM tuning_run")
    connection.execute("INSERT INTO tuning_run (key, body, seconds) VALUES (?, ?, ?)", (key, body, seconds))


def drop_runs(connection: sqlite3.Connection) -> None:
    """Delete what runs saved."""
    connection.execute("DELETE FROM tuning_run")
