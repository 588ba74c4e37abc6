"""Diagnoses a team's server: database, roles, object store, published objects, silent parts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cairn.errors import CairnError
from cairn.hints import Hint
from cairn.team.catalog import Catalog
from cairn.team.objects import PUBLISH_AGAIN, Objects, hash_of
from cairn.team.state import Part, read_parts

_OLDEST_SERVER = 14
_MAX_SKEW_SECONDS = 5.0
_LONG_WAIT_SECONDS = 600.0
_SAMPLE = 50  # objects to check
_SHOWN_SILENT = 10  # silent nodes or workers to list
_STATUS = Hint("see which", "team status")


class Examined(NamedTuple):
    """The result of one check.

    Attributes:
        name: of the check.
        problem: what is wrong; empty if nothing is.
        hint: what to do about it.
    """

    name: str
    problem: str = ""
    hint: Hint | str = ""


def examine(catalog: Catalog, objects: Objects) -> Iterator[Examined]:
    """Yield the results of all checks; a check that cannot be done counts as a problem.

    Args:
        catalog: without a role.
        objects: the team's.
    """
    for name, look in _LOOKS.items():
        try:
            yield look(catalog, objects)._replace(name=name)
        except CairnError as error:
            yield Examined(name, str(error), error.hint)


def _database(catalog: Catalog, _: Objects) -> Examined:
    ((number,),) = _rows(catalog, "SELECT current_setting('server_version_num')::int / 10000")
    if int(str(number)) < _OLDEST_SERVER:
        return Examined("", f"PostgreSQL {number} is too old", f"update it to {_OLDEST_SERVER} or later")
    return Examined("")


def _tables(catalog: Catalog, _: Objects) -> Examined:
    if missing := catalog.missing_steps():
        return Examined("", f"steps are missing: {', '.join(missing)}", Hint("update them", "team migrate"))
    return Examined("")


def _roles(catalog: Catalog, _: Objects) -> Examined:
    """Check whether the logins of nodes, workers and sign-ins have more rights than they should."""
    rows = _rows(
        catalog,
        """SELECT rolname FROM pg_roles
           WHERE (rolsuper OR rolbypassrls OR rolcreaterole OR EXISTS (
                   SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relnamespace = 'cairn'::regnamespace))
               AND EXISTS (SELECT FROM pg_roles AS ours
                   WHERE ours.rolname IN ('cairn_node', 'cairn_worker', 'cairn_login')
                   AND (ours.oid = pg_roles.oid OR EXISTS (
                       SELECT FROM pg_auth_members WHERE roleid = ours.oid AND member = pg_roles.oid)))
           ORDER BY 1""",
    )
    if rows:
        names = ", ".join(str(row[0]) for row in rows)
        return Examined(
            "", f"these may do more than a node or a worker: {names}", "log in as members of these roles alone"
        )
    return Examined("")


def _row_security(catalog: Catalog, _: Objects) -> Examined:
    """Check that nodes can only read tables with row security, and that the sign-in role can read none."""
    rows = _rows(
        catalog,
        """SELECT relname FROM pg_class
           WHERE relnamespace = 'cairn'::regnamespace AND relkind IN ('r', 'p')
               AND (has_table_privilege('cairn_node', oid, 'SELECT') AND NOT relrowsecurity
                   OR has_table_privilege('cairn_login', oid, 'SELECT')) ORDER BY 1""",
    )
    if rows:
        names = ", ".join(str(row[0]) for row in rows)
        return Examined("", f"nodes may read all of: {names}", Hint("see whether steps are missing", "team migrate"))
    return Examined("")


def _clock(catalog: Catalog, _: Objects) -> Examined:
    ((now,),) = _rows(catalog, "SELECT clock_timestamp()")
    assert isinstance(now, datetime)
    skew = abs((datetime.now(UTC) - now).total_seconds())
    if skew > _MAX_SKEW_SECONDS:
        return Examined(
            "", f"this machine and the database differ by {skew:.0f} s", "let both keep the time, as by NTP"
        )
    return Examined("")


def _store(_: Catalog, objects: Objects) -> Examined:
    """Store an object, read it and delete it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "file")
        file.write_bytes(b"examined at " + datetime.now(UTC).isoformat().encode())
        name = objects.put(file)
        objects.get(name, Path(folder, "copy"))
        objects.delete([name])
        assert hash_of(Path(folder, "copy")) == name  # `get` has checked it
    return Examined("")


def _objects(catalog: Catalog, objects: Objects) -> Examined:
    """Check that some objects of the newest generations exist."""
    rows = _rows(
        catalog,
        f"""SELECT object FROM piece JOIN branch ON branch.id = branch_id AND branch.generation = piece.generation
            ORDER BY random() LIMIT {_SAMPLE}""",
    )
    names = [str(row[0]) for row in rows]
    lacking = [name for name in names if not objects.has(name)]
    if lacking:
        return Examined(
            "", f"the store lacks {len(lacking)} of {len(names)} objects that were looked for", PUBLISH_AGAIN
        )
    return Examined("")


def _failures(catalog: Catalog, _: Objects) -> Examined:
    rows = _rows(
        catalog,
        """SELECT count(*) FILTER (WHERE problem <> ''), count(*) FILTER (WHERE look_problem <> '') FROM branch""",
    )
    deeds = zip(("branches that failed", "branches whose repository cannot be reached"), rows[0], strict=True)
    problem = "; ".join(f"{deed}: {number}" for deed, number in deeds if number)
    return Examined("", problem, _STATUS) if problem else Examined("")


def _silent(part: Part, catalog: Catalog, _: Objects) -> Examined:
    """Find parts that were killed or cannot reach the database, most recent silence first."""
    silent = sorted((row["heard_at"], row["name"]) for row in read_parts(catalog, part) if row["is_silent"])[::-1]
    if silent:
        names = ", ".join(f"{name} since {heard_at[:19]}" for heard_at, name in silent[:_SHOWN_SILENT])
        rest = f", and {len(silent) - _SHOWN_SILENT} more" if len(silent) > _SHOWN_SILENT else ""
        return Examined(
            "",
            f"silent: {names}{rest}",
            f"its log says why; a {part} that is gone for good is forgotten after a day",
        )
    return Examined("")


def _queue(catalog: Catalog, _: Objects) -> Examined:
    ((number,),) = _rows(
        catalog,
        f"""SELECT count(*) FROM branch WHERE (again OR wanted IS DISTINCT FROM published) AND problem = ''
            AND wanted_at < now() - interval '{_LONG_WAIT_SECONDS} seconds'
            AND (leased_until IS NULL OR leased_until <= now())""",
    )
    if number:
        return Examined("", f"branches that wait for a worker for over 10 minutes: {number}", "start more workers")
    return Examined("")


def _rows(catalog: Catalog, statement: str) -> list[tuple[object, ...]]:
    with catalog.transaction() as connection:
        return connection.execute(statement.encode()).fetchall()


_LOOKS: dict[str, Callable[[Catalog, Objects], Examined]] = {
    "database": _database,
    "tables": _tables,
    "roles": _roles,
    "row security": _row_security,
    "clock": _clock,
    "object store": _store,
    "published objects": _objects,
    "failures": _failures,
    "queue": _queue,
    "nodes": partial(_silent, "node"),
    "workers": partial(_silent, "worker"),
}
