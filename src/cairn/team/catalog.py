"""The team's database: what is wanted, what is published, and who may read it. PostgreSQL decides; see `sql/`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, LiteralString, NamedTuple, cast

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from cairn.errors import AccessError, CatalogError, RequestError, ScopeError
from cairn.hints import Hint
from cairn.source.origins import repository_identity
from cairn.team.generation import PublishedFile

Role = Literal["cairn_node", "cairn_worker", "cairn_login"]
_ROLES: tuple[Role, ...] = ("cairn_node", "cairn_worker", "cairn_login")
_SCHEMA = "cairn"
_MIGRATING = 0x636169726E  # the number of the advisory lock held during a migration
_CONNECT_SECONDS = 2
_STATEMENT_MS = 5_000
# The problem with a database whose tables and functions do not match this version.
_LACKS = (
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedTable,
)
Connection = psycopg.Connection[TupleRow]


class Catalog:
    """A connection pool to the database. Close it when done.

    Args:
        address: for libpq, such as `postgresql://HOST/DATABASE`; may name several hosts for a standby.
        role: of this process; None for an operator, who owns everything.
        n_connections: the maximum.
    """

    def __init__(self, address: str, role: Role | None = None, n_connections: int = 4) -> None:
        self._role = role
        self._pool = ConnectionPool(
            address,
            min_size=0,
            max_size=n_connections,
            open=True,
            timeout=_CONNECT_SECONDS,
            reconnect_timeout=0,
            check=ConnectionPool.check_connection,
            configure=self._configure,
            kwargs={"connect_timeout": _CONNECT_SECONDS, "target_session_attrs": "read-write"},
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _configure(self, connection: Connection) -> None:
        statements = [sql.SQL("SET search_path = {}, pg_temp").format(sql.Identifier(_SCHEMA))]
        if self._role is not None:
            statements.append(sql.SQL("SET ROLE {}").format(sql.Identifier(self._role)))
            statements.append(sql.SQL("SET statement_timeout = {}").format(_STATEMENT_MS))
        for statement in statements:
            connection.execute(statement)
        connection.commit()

    @contextmanager
    def transaction(self, token: bytes | None = None) -> Iterator[Connection]:
        """Run a transaction.

        Args:
            token: the hash of the asker's token, which decides the rows that a node sees.

        Raises:
            RequestError: if the database cannot store a value.
            CatalogError: if the database cannot be reached, or refuses.
        """
        try:
            with self._pool.connection() as connection:
                if token is not None:
                    connection.execute("SELECT show_token(%s)", (token,))
                yield connection
        except UnicodeEncodeError as error:
            raise RequestError("a name or a text is not Unicode", _OTHERWISE) from error
        except (psycopg.DataError, psycopg.errors.CheckViolation) as error:
            raise RequestError(f"the team's database takes no such value: {_first_line(error)}", _OTHERWISE) from error
        except _LACKS as error:
            words = f"the team's database lacks tables or functions: {_first_line(error)}"
            raise CatalogError(words, Hint("create or update them, as their owner", "team migrate")) from error
        except (psycopg.Error, PoolTimeout) as error:
            problem = _first_line(error)
            raise CatalogError(f"the team's database does not answer as it should: {problem}", _SEE_IT) from error

    def ping(self) -> None:
        """Check that the database answers.

        Raises:
            CatalogError: if it does not.
        """
        with self.transaction() as connection:
            connection.execute("SELECT 1")

    def migrate(self) -> list[str]:
        """Bring the schema up to date, and return the names of the missing steps.

        Raises:
            CatalogError: as `transaction`; or if the schema is newer than this program.
        """
        steps = _steps()
        with self.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
            for role in _ROLES:
                if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
                    connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(_SCHEMA)))
            connection.execute("CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY)")
            done = {row[0] for row in connection.execute("SELECT name FROM migration")}
            names = [file.name for file in steps]
            if newer := done.difference(names):
                raise CatalogError(f"the database is of a newer version: it knows {min(newer)}", "update Cairn")
            missing = [file for file in steps if file.name not in done]
            for file in missing:
                connection.execute(cast(LiteralString, file.read_text("utf-8")))  # type: ignore[redundant-cast] # ours
                connection.execute("INSERT INTO migration VALUES (%s)", (file.name,))
        return [file.name for file in missing]

    def missing_steps(self) -> list[str]:
        """Return the names of the steps that `migrate` would take.

        Raises:
            CatalogError: as `transaction`; also if there are no tables at all.
        """
        with self.transaction() as connection:
            done = {row[0] for row in connection.execute("SELECT name FROM migration")}
        return [file.name for file in _steps() if file.name not in done]


def _steps() -> list[Traversable]:
    return sorted((file for file in files("cairn.team.sql").iterdir() if file.name.endswith(".sql")), key=str)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


_SEE_IT = "see whether it runs, and whether it lets this process in"
_OTHERWISE = "give another value"


Scope = Literal["read", "write", "admin"]


def require_scope(connection: Connection, scope: Scope) -> None:
    """Make sure that the token of a transaction is valid and has a scope.

    Raises:
        AccessError: if it is unknown, revoked or expired; the error does not tell which.
        ScopeError: if it lacks the scope.
    """
    row = connection.execute("SELECT refusal(%s)", (scope,)).fetchone()
    if row is None or row[0] == "token":
        raise AccessError("this token does not hold, or no longer", "sign in again, or ask an operator for another")
    if row[0] is not None:
        raise ScopeError(f"this token may not {_DEEDS[scope]}", f"use one with the scope {scope!r}")


_DEEDS: Mapping[Scope, str] = {"read": "read projects", "write": "write memories", "admin": "do what operators do"}


class Claim(NamedTuple):
    """A branch that a worker has claimed.

    Attributes:
        branch_id: of the branch.
        fence: increases with each claim; an older claim cannot publish anything.
        url: of the repository.
        name: of the branch.
        wanted: the commit to publish.
        again: whether to store everything again, even if it exists.
        tree: the object with the files of the last generation, None before the first and if `again`.
    """

    branch_id: int
    fence: int
    url: str
    name: str
    wanted: str
    again: bool
    tree: str | None


class WorkList:
    """The database functions for workers; see the functions with the same names in `sql/`.

    Args:
        catalog: with the role of a worker.
        worker: this worker's name.
        lease: how long it may be silent.
    """

    def __init__(self, catalog: Catalog, worker: str, lease: timedelta) -> None:
        self._catalog = catalog
        self._worker = worker
        self._lease = lease

    def look(self, rest: timedelta) -> tuple[int, str, str] | None:
        """Return a branch to check for new commits: its id, URL and name."""
        row = self._one("SELECT * FROM look(%s)", rest)
        return None if row is None or row[0] is None else (row[0], row[1], row[2])

    def want(self, branch_id: int, commit: str) -> None:
        """Request the publication of a branch's commit."""
        self._one("SELECT want(%s, %s)", branch_id, commit)

    def not_seen(self, branch_id: int, why: str) -> None:
        """Record that a repository did not tell its newest commit."""
        self._one("SELECT not_seen(%s, %s)", branch_id, storable(why))

    def claim(self) -> Claim | None:
        """Claim a branch with a commit to publish, perhaps again; None if there is none."""
        row = self._one("SELECT * FROM claim(%s, %s)", self._worker, self._lease)
        return None if row is None or row[0] is None else Claim(*row)

    def renew(self, claim: Claim) -> bool:
        """Renew the claim on a branch; return whether this worker still had it."""
        row = self._one("SELECT renew(%s, %s, %s)", claim.branch_id, claim.fence, self._lease)
        return row is not None and bool(row[0])

    def publish(self, claim: Claim, pieces: Sequence[PublishedFile]) -> bool:
        """Publish a generation as the newest, if this worker still has the branch; return whether it did."""
        rows = json.dumps([piece._asdict() for piece in pieces])
        row = self._one("SELECT publish(%s, %s, %s, %s)", claim.branch_id, claim.fence, claim.wanted, rows)
        return row is not None and bool(row[0])

    def give_up(self, claim: Claim, why: str, rest: timedelta) -> None:
        """Release a branch; it is retried after a pause that doubles with each failure."""
        self._one("SELECT give_up(%s, %s, %s, %s)", claim.branch_id, claim.fence, storable(why), rest)

    def hold(self, claim: Claim, name: str) -> bool:
        """Protect an object from deletion while this worker has the branch; return False if it is too late."""
        row = self._one("SELECT hold(%s, %s, %s)", name, claim.branch_id, claim.fence)
        return row is not None and bool(row[0])

    def _one(self, statement: LiteralString, *values: object) -> tuple[Any, ...] | None:
        with self._catalog.transaction() as connection:
            return connection.execute(statement, values).fetchone()


class Queue(NamedTuple):
    """The number of branches by what has to be done, and for how many seconds the oldest wanted commit has waited."""

    published: int
    waiting: int
    leased: int
    failed: int
    oldest_seconds: float


def read_queue(catalog: Catalog) -> Queue:
    """Return how much there is to do; workers may ask.

    Raises:
        CatalogError: as `Catalog.transaction`.
    """
    with catalog.transaction() as connection:
        row = connection.execute("SELECT * FROM queue()").fetchone()
        assert row is not None  # an aggregate always has a row
        return Queue(*row)


@contextmanager
def condemned(catalog: Catalog, objects: Sequence[str], lasting: timedelta) -> Iterator[list[str]]:
    """Yield those objects that no generation names and no worker holds; they cannot be held meanwhile.

    Args:
        catalog: with the role of a worker.
        objects: their names.
        lasting: for how long at most.

    Raises:
        CatalogError: as `Catalog.transaction`.
    """
    with catalog.transaction() as connection:
        free = [row[0] for row in connection.execute("SELECT condemn(%s, %s)", (list(objects), lasting))]
    yield free
    with catalog.transaction() as connection:
        connection.execute("SELECT release(%s)", (free,))


class Manifest(NamedTuple):
    """A published generation of a branch.

    Attributes:
        branch_id, generation: its key.
        project: `ORGANISATION/NAME`.
        branch, commit: that it shows.
        pieces: its objects.
        digest: of all of the above except the numbers.
    """

    branch_id: int
    generation: int
    project: str
    branch: str
    commit: str
    pieces: tuple[PublishedFile, ...]
    digest: bytes


def read_manifest(catalog: Catalog, token: bytes, project: str, branch: str | None) -> Manifest | None:
    """Return the newest generation of a branch, by default the default branch; None if there is none for this token.

    Raises:
        CatalogError: as `Catalog.transaction`.
        AccessError, ScopeError: as `require_scope`.
    """
    organisation, _, name = project.partition("/")
    with catalog.transaction(token) as connection:
        row = connection.execute(
            """SELECT branch.id, generation, branch.name, published FROM branch JOIN project ON project.id = project_id
               WHERE organisation = %s AND project.name = %s AND generation > 0
                   AND CASE WHEN %s::text IS NULL THEN is_default ELSE branch.name = %s END""",
            (organisation, name, branch, branch),
        ).fetchone()
        if row is None:
            require_scope(connection, "read")
            return None
        pieces = connection.execute(
            "SELECT kind, name, object FROM piece WHERE branch_id = %s AND generation = %s ORDER BY kind, name", row[:2]
        ).fetchall()
    shown = (project, row[2], row[3], tuple(PublishedFile(*piece) for piece in pieces))
    return Manifest(row[0], row[1], *shown, hashlib.sha256(repr(shown).encode()).digest())


class Readable(NamedTuple):
    """The branches that the bearer of a token may read, as JSON, and whether the token has the scope `admin`."""

    projects: Sequence[Mapping[str, object]]
    is_operator: bool


def list_projects(catalog: Catalog, token: bytes) -> Readable:
    """Return what the bearer of a token may read.

    Raises:
        CatalogError: as `Catalog.transaction`.
        AccessError, ScopeError: as `require_scope`.
    """
    with catalog.transaction(token) as connection:
        require_scope(connection, "read")
        rows = connection.execute(
            """SELECT organisation || '/' || project.name, branch.name, is_default, published, published_at, url
               FROM branch JOIN project ON project.id = project_id WHERE generation > 0 ORDER BY 1, 2"""
        ).fetchall()
        is_operator = connection.execute("SELECT bearer_with('admin') IS NOT NULL").fetchone() == (True,)
    projects = [
        {
            "project": row[0],
            "branch": row[1],
            "default": row[2],
            "commit": row[3],
            "published_at": row[4].isoformat(),
            "repository": repository_identity(row[5]),  # the URL may contain a password
        }
        for row in rows
    ]
    return Readable(projects, is_operator)


def revoke_all_tokens(catalog: Catalog, token: bytes, person: str) -> int:
    """Revoke all tokens of a person, for the bearer of a token with the scope `admin`; return how many there were.

    Raises:
        CatalogError: as `Catalog.transaction`.
        AccessError, ScopeError: as `require_scope`.
    """
    with catalog.transaction(token) as connection:
        require_scope(connection, "admin")
        row = connection.execute("SELECT revoke_tokens(%s)", (person,)).fetchone()
    return 0 if row is None else row[0]


def storable(text: str) -> str:
    """Return a text that PostgreSQL can store, since people's input and git's output may not be valid Unicode."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")
