"""Named, numbered schema changes; each runs with its record in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from cairn.errors import IndexVersionError
from cairn.storage.connection import transaction


class Migration(NamedTuple):
    """One step of a schema. Its number is its place in the list, from 1."""

    name: str
    statements: tuple[str, ...]


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], what: str) -> None:
    """Bring a database to the newest schema; `PRAGMA user_version` counts the applied steps.

    Raises:
        IndexVersionError: if the database knows more steps than this program.
    """
    if _version(connection, migrations, what) == len(migrations):
        return
    with transaction(connection):
        for number in range(_version(connection, migrations, what), len(migrations)):
            for statement in migrations[number].statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _version(connection: sqlite3.Connection, migrations: Sequence[Migration], what: str) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise IndexVersionError(
            f"{what} was written by a newer Cairn (schema {version}, this one knows {len(migrations)})",
            "upgrade with: uv tool upgrade codecairn (or rebuild with: cairn index --full)",
        )
    return version
