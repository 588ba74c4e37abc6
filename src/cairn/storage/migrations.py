"""Named, numbered schema changes, run in one transaction; and the check that a schema is exactly their result."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cairn.digest import blake2b
from cairn.errors import StoreError
from cairn.loading import load
from cairn.storage.connection import transaction
from cairn.storage.store import Migration, Store

_Rows = tuple[tuple[str, str, str, str | None], ...]
_MAX_ROWS = 1_000  # statements in a schema; one with more is not ours


class Schema(NamedTuple):
    """A database's schema: how many steps were applied, and everything that they or others created."""

    version: int
    rows: _Rows

    def digest(self) -> str:
        """Return a digest that only equal schemas share."""
        return blake2b(repr(self).encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def migrate(
    connection: sqlite3.Connection,
    store: Store,
    file: Path,
    begin: Callable[[sqlite3.Connection], None] | None = None,
) -> None:
    """Bring a database to the newest schema; `PRAGMA user_version` counts the applied steps.

    All steps run in one transaction, in which a store of truth is copied first. So whether a step fails or the process
    is killed, the file is either unchanged or fully migrated, and the copy has its former content.

    Args:
        connection: to the database.
        store: the store in it.
        file: where it is.
        begin: writes the initial content of a new database, in the transaction that creates it.

    Raises:
        StoreVersionError: the store's own, if the database knows more steps than this program.
        StoreError: if the copy cannot be written; nothing is changed then.
    """
    if _version(connection, store) == len(store.migrations):
        return
    copy = None
    try:
        with transaction(connection):
            first = _version(connection, store)
            if store.is_truth and 0 < first < len(store.migrations):
                copy = _make_copy(store, file)
            _apply(connection, store.migrations, first)
            if not first and begin is not None:
                begin(connection)
    except BaseException:
        if copy is not None:
            _drop(copy, connection, store)
        raise


def _drop(copy: Path, connection: sqlite3.Connection, store: Store) -> None:
    """Delete a copy whose original is unchanged, so that failed attempts leave none."""
    with suppress(OSError, sqlite3.DatabaseError):
        if _version(connection, store) < len(store.migrations):
            copy.unlink()


def _make_copy(store: Store, file: Path) -> Path:
    try:
        copy: Path = load("cairn.storage.copies:copy_database")(file)  # loaded only now, since few schemas change
        return copy
    except OSError as error:
        raise StoreError(
            f"{store.name} cannot be copied before its schema changes: {error.strerror} ({file}); nothing was changed",
            "make room for the copy beside it, then run the command again",
        ) from error


def _apply(connection: sqlite3.Connection, migrations: Sequence[Migration], first: int) -> None:
    """Run the steps from number `first` on."""
    for migration in migrations[first:]:
        for statement in migration.statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(migrations)}")


def read_schema(connection: sqlite3.Connection) -> Schema:
    """Return a database's schema as of one moment. Nothing in it is run."""
    connection.execute("BEGIN")
    try:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchmany(
            _MAX_ROWS
        )
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.execute("COMMIT")
    return Schema(version, tuple(rows))


def check_schema(schema: Schema, store: Store, file: Path) -> None:
    """Make sure that a schema is exactly what its steps create: foreign views and triggers are refused.

    A schema with more steps than this program knows is not checked.

    Args:
        schema: of the database.
        store: the store in it; if the schema's digest is not that of the newest one, the steps are run to compare.
        file: where it is.

    Raises:
        StoreDamagedError: the store's own, if it is not.
    """
    if schema.version > len(store.migrations) or schema.digest() == store.newest:
        return
    if schema.version < 0 or schema.rows != schema_of(store.migrations[: schema.version]).rows:
        raise store.damage(file, "has tables, views or triggers that are not Cairn's")


@lru_cache(maxsize=4)
def schema_of(migrations: tuple[Migration, ...]) -> Schema:
    """Return the schema that some steps create."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        with transaction(connection):
            _apply(connection, migrations, 0)
        return read_schema(connection)


def _version(connection: sqlite3.Connection, store: Store) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(store.migrations):
        raise store.newer(version)
    return version
