"""Named, numbered schema changes, each run with its record in one transaction; and whether a schema is theirs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from cairn.errors import IndexDamagedError, IndexVersionError
from cairn.storage.connection import transaction

_Rows = tuple[tuple[str, str, str, str | None], ...]
_MAX_ROWS = 1_000  # of a schema; more are not ours


class Migration(NamedTuple):
    """One step of a schema. Its number is its place in the list, from 1."""

    name: str
    statements: tuple[str, ...]


class Schema(NamedTuple):
    """What is in a database: the steps it knows, and all that they or others made."""

    version: int
    rows: _Rows

    def digest(self) -> str:
        """Return what is equal for equal schemas only."""
        return sha256(repr(self).encode("utf-8", "surrogatepass")).hexdigest()


def migrate(
    connection: sqlite3.Connection,
    migrations: Sequence[Migration],
    what: str,
    begin: Callable[[sqlite3.Connection], None] | None = None,
) -> None:
    """Bring a database to the newest schema; `PRAGMA user_version` counts the applied steps.

    Args:
        connection: to the database.
        migrations: all steps.
        what: what the database is, for the message.
        begin: fills in what a new database begins with, in the transaction that makes it.

    Raises:
        IndexVersionError: if the database knows more steps than this program.
    """
    if _version(connection, migrations, what) == len(migrations):
        return
    with transaction(connection):
        first = _version(connection, migrations, what)
        for number in range(first, len(migrations)):
            for statement in migrations[number].statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        if not first and begin is not None:
            begin(connection)


def read_schema(connection: sqlite3.Connection) -> Schema:
    """Return what is in a database, all of it as of one moment. Nothing of it runs."""
    connection.execute("BEGIN")
    try:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchmany(
            _MAX_ROWS
        )
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.execute("COMMIT")
    return Schema(version, tuple(rows))


def check_schema(schema: Schema, migrations: Sequence[Migration], newest: str, what: str) -> None:
    """Make sure that a schema is the one that the steps it names make; views and triggers of others have no place.

    A schema of more steps than this program knows is not judged.

    Args:
        schema: of the database.
        migrations: all steps.
        newest: the digest of what they make, which saves making it; where it is another, that is done.
        what: what the database is, for the message.

    Raises:
        IndexDamagedError: if it is not.
    """
    if schema.version > len(migrations) or schema.digest() == newest:
        return
    if schema.version < 0 or schema.rows != schema_of(tuple(migrations[: schema.version])).rows:
        raise IndexDamagedError(f"{what} has tables, views or triggers that are not of Cairn", "cairn index --full")


@lru_cache(maxsize=4)
def schema_of(migrations: tuple[Migration, ...]) -> Schema:
    """Return the schema that some steps make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, migrations, "a new database")
        return read_schema(connection)


def _version(connection: sqlite3.Connection, migrations: Sequence[Migration], what: str) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise IndexVersionError(
            f"{what} was written by a newer Cairn (schema {version}, this one knows {len(migrations)})",
            "upgrade with: uv tool upgrade codecairn (or rebuild with: cairn index --full)",
        )
    return version
