"""All SQL of observations as folded from their events, and of their links."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cairn.storage.connection import in_parts, reading
from cairn.storage.memory.rows import CodeLink, Observation

_COLUMNS = (
    "id, type, text, importance, tags, origin, session, branch, revision, is_shared, status, superseded_by, "
    "actor, created, changed, is_redacted"
)  # fmt: skip
_NAMES = _COLUMNS.split(", ")
_SET = ", ".join(f"{name} = excluded.{name}" for name in (*_NAMES[1:], "digest"))
_UPSERT = (
    f"INSERT INTO observation ({_COLUMNS}, digest) VALUES ({', '.join('?' * (len(_NAMES) + 1))}) "
    f"ON CONFLICT (id) DO UPDATE SET {_SET} RETURNING number"
)


class Conditions(NamedTuple):
    """Conditions on observations; empty or None means any.

    Attributes:
        statuses, types, origins: any of these.
        session, tag: exactly this one.
        paths: is about any of these; one that ends in a slash stands for everything below it.
        moved: with `paths`, row numbers that match too, because their code was moved there.
        text: occurs in the text, in any case.
        since, until: of its creation, as a timestamp or the beginning of one.
        branches: any of these.
        is_shared: whether it may leave this machine.
        least_importance: at least this important.
    """

    statuses: Sequence[str] = ()
    types: Sequence[str] = ()
    origins: Sequence[str] = ()
    branches: Sequence[str] = ()
    session: str = ""
    tag: str = ""
    paths: Sequence[str] = ()
    moved: Sequence[int] = ()
    text: str = ""
    since: str = ""
    until: str = ""
    is_shared: bool | None = None
    least_importance: int = 0


def save(connection: sqlite3.Connection, observation: Observation) -> None:
    """Save the current state of an observation."""
    row = _row(observation)
    (number,) = connection.execute(_UPSERT, (*row, _digest(row, observation.links))).fetchone()
    connection.execute("DELETE FROM link WHERE number = ?", (number,))
    connection.executemany("INSERT INTO link VALUES (?, ?, ?, ?)", [(number, *link) for link in observation.links])


def find_misfits(connection: sqlite3.Connection, wanted: Mapping[str, Observation]) -> set[str]:
    """Return the ids of observations that are stored wrongly or should not exist.

    Args:
        connection: to the memory.
        wanted: the correct observations, by id.
    """
    rows = connection.execute(f"SELECT number, digest, {_COLUMNS} FROM observation").fetchall()
    links = _links(connection, [row[0] for row in rows])
    stored = {row[2]: (row[1], tuple(row[2:]), tuple(links.get(row[0], ()))) for row in rows}
    misfits = stored.keys() - wanted.keys()
    for id, observation in wanted.items():
        row = _row(observation)
        if stored.get(id) != (_digest(row, observation.links), row, observation.links):
            misfits.add(id)
    return misfits


def delete_stray_links(connection: sqlite3.Connection) -> int:
    """Delete links of missing observations, and return how many there were."""
    return connection.execute("DELETE FROM link WHERE number NOT IN (SELECT number FROM observation)").rowcount


def delete(connection: sqlite3.Connection, ids: Collection[str]) -> None:
    """Delete observations that have no events."""
    for number in numbers(connection, ids).values():
        connection.execute("DELETE FROM link WHERE number = ?", (number,))
        connection.execute("DELETE FROM observation WHERE number = ?", (number,))


def numbers(connection: sqlite3.Connection, ids: Collection[str]) -> dict[str, int]:
    """Return the row numbers of some observations, by id."""
    found: dict[str, int] = {}
    for part in in_parts(list(ids)):
        marks = ", ".join("?" * len(part))
        found.update(connection.execute(f"SELECT id, number FROM observation WHERE id IN ({marks})", part))
    return found


def load(connection: sqlite3.Connection, ids: Collection[str]) -> dict[str, Observation]:
    """Return some observations by id; unknown ids are left out."""
    found: dict[str, Observation] = {}
    for part in in_parts(list(ids)):
        marks = ", ".join("?" * len(part))
        found.update((row.id, row) for row in _read(connection, f"WHERE id IN ({marks})", part))
    return found


def load_numbers(connection: sqlite3.Connection, row_numbers: Collection[int]) -> dict[int, Observation]:
    """Return some observations by row number; unknown numbers are left out."""
    found: dict[int, Observation] = {}
    for part in in_parts(list(row_numbers)):
        marks = ", ".join("?" * len(part))
        by_id = dict(connection.execute(f"SELECT id, number FROM observation WHERE number IN ({marks})", part))
        found.update((by_id[row.id], row) for row in _read(connection, f"WHERE number IN ({marks})", part))
    return found


def matching(connection: sqlite3.Connection, conditions: Conditions) -> list[int]:
    """Return the row numbers of the observations that meet all conditions."""
    return [number for (number,) in connection.execute(*select_numbers(conditions))]


def select_numbers(conditions: Conditions) -> tuple[str, list[Any]]:
    """Return the query, with its parameters, for the row numbers of the observations that meet all conditions."""
    where, values = _where(conditions)
    return f"SELECT number FROM observation {where}", values


def find_linked(connection: sqlite3.Connection, paths: Collection[str]) -> set[int]:
    """Return the row numbers of observations linked to some files or to definitions in them."""
    found: set[int] = set()
    for part in in_parts(list(paths)):
        marks = ", ".join("?" * len(part))
        found.update(
            number for (number,) in connection.execute(f"SELECT number FROM link WHERE path IN ({marks})", part)
        )
    return found


def linked_paths(connection: sqlite3.Connection) -> list[str]:
    """Return the files that active observations are linked to, sorted."""
    query = "SELECT DISTINCT path FROM link JOIN observation USING (number) WHERE status = 'active' ORDER BY path"
    return [path for (path,) in connection.execute(query)]


def linked_places(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the files that active observations are linked to, each with the observation's commit, newest first."""
    query = (
        "SELECT path, revision FROM link JOIN observation USING (number) "
        "WHERE status = 'active' GROUP BY path, revision ORDER BY max(created) DESC"
    )
    return connection.execute(query).fetchall()


class LinkedDefinition(NamedTuple):
    """A definition that an observation is linked to, with the observation's row number, time and commit."""

    number: int
    created: str
    revision: str
    link: CodeLink


def linked_definitions(connection: sqlite3.Connection) -> list[LinkedDefinition]:
    """Return each definition that an active observation is linked to, newest first."""
    query = (
        "SELECT number, created, revision, path, symbol, hash FROM link JOIN observation USING (number) "
        "WHERE status = 'active' AND symbol != '' ORDER BY created DESC, number, path, symbol"
    )
    return [
        LinkedDefinition(number, created, revision, CodeLink(*link))
        for number, created, revision, *link in connection.execute(query)
    ]


def iter_all(connection: sqlite3.Connection) -> Iterator[Observation]:
    """Yield all observations, redacted ones included."""
    yield from _read(connection, "", ())


def select(
    connection: sqlite3.Connection, conditions: Conditions, limit: int | None = None, offset: int = 0
) -> list[Observation]:
    """Return the observations that meet all conditions, newest first."""
    where, values = _where(conditions)
    page = f"{where} ORDER BY created DESC, id DESC LIMIT ? OFFSET ?"
    return list(_read(connection, page, [*values, -1 if limit is None else limit, offset]))


def select_links(
    connection: sqlite3.Connection, conditions: Conditions, limit: int
) -> dict[str, tuple[tuple[CodeLink, ...], str]]:
    """Return the links of the observations that meet all conditions, by id, newest first.

    Returns:
        their links, and the commit at which each was made.
    """
    where, values = _where(conditions)
    page = f"SELECT number, id, revision FROM observation {where} ORDER BY created DESC, id DESC LIMIT ?"
    with reading(connection):
        rows = connection.execute(page, [*values, limit]).fetchall()
        links = _links(connection, [number for number, _, _ in rows])
    return {id: (tuple(links.get(number, ())), revision) for number, id, revision in rows}


def count_by_session(connection: sqlite3.Connection, sessions: Sequence[str]) -> dict[str, int]:
    """Return how many observations were made in each of some sessions; sessions without any are left out."""
    found: dict[str, int] = {}
    for part in in_parts(sessions):
        marks = ", ".join("?" * len(part))
        query = (
            f"SELECT session, count(*) FROM observation WHERE session != '' AND session IN ({marks}) "
            "AND is_redacted = 0 GROUP BY session"
        )
        found.update(connection.execute(query, part))
    return found


def count(connection: sqlite3.Connection, conditions: Conditions) -> int:
    """Return how many observations meet all conditions."""
    where, values = _where(conditions)
    (number,) = connection.execute(f"SELECT count(*) FROM observation {where}", values).fetchone()
    return int(number)


def ids_ending_in(connection: sqlite3.Connection, ending: str) -> list[str]:
    """Return the ids that end in the given digits."""
    rows = connection.execute("SELECT id FROM observation WHERE substr(id, -length(?1)) = ?1 ORDER BY id", (ending,))
    return [id for (id,) in rows]


def _where(conditions: Conditions) -> tuple[str, list[Any]]:
    terms = ["is_redacted = 0"]
    values: list[Any] = []
    for column, names in (
        ("status", conditions.statuses),
        ("type", conditions.types),
        ("origin", conditions.origins),
        ("branch", conditions.branches),
    ):
        if names:
            terms.append(f"{column} IN ({', '.join('?' * len(names))})")
            values.extend(names)
    for term, value in (
        ("session != '' AND session = ?", conditions.session),  # otherwise SQLite does not use the index
        ("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", conditions.tag),
        ("instr(lower(text), lower(?)) > 0", conditions.text),
        ("created >= ?", conditions.since),
        ("created < ?", conditions.until),
        ("is_shared = ?", conditions.is_shared),
        ("importance >= ?", conditions.least_importance or None),
    ):
        if value not in ("", None):
            terms.append(term)
            values.append(value)
    if conditions.paths:
        folders = [path for path in conditions.paths if path.endswith("/")]
        files = json.dumps([path for path in conditions.paths if not path.endswith("/")])
        matches = ["path IN (SELECT value FROM json_each(?))", *["substr(path, 1, length(?)) = ?"] * len(folders)]
        linked = f"number IN (SELECT number FROM link WHERE {' OR '.join(matches)})"
        terms.append(f"({linked} OR number IN (SELECT value FROM json_each(?)))")
        values.extend([files, *(value for folder in folders for value in (folder, folder))])
        values.append(json.dumps(list(conditions.moved)))
    return f"WHERE {' AND '.join(terms)}", values


def _read(connection: sqlite3.Connection, rest: str, values: Sequence[Any]) -> Iterator[Observation]:
    with reading(connection):  # otherwise another process may change links meanwhile
        rows = connection.execute(f"SELECT number, digest, {_COLUMNS} FROM observation {rest}", values).fetchall()
        links = _links(connection, [row[0] for row in rows])
    for number, digest, *row in rows:
        own_links = tuple(links.get(number, ()))
        if _digest(row, own_links) != digest:
            raise sqlite3.DatabaseError("database disk image is malformed: a memory is not what was written")
        fields = dict(zip(_NAMES, row, strict=True))
        fields.update(
            tags=tuple(json.loads(fields["tags"])),
            is_shared=bool(fields["is_shared"]),
            is_redacted=bool(fields["is_redacted"]),
            links=own_links,
        )
        yield Observation(**fields)


def _links(connection: sqlite3.Connection, row_numbers: Sequence[int]) -> dict[int, list[CodeLink]]:
    links: dict[int, list[CodeLink]] = {}
    for part in in_parts(row_numbers):
        marks = ", ".join("?" * len(part))
        query = f"SELECT number, path, symbol, hash FROM link WHERE number IN ({marks}) ORDER BY number, path, symbol"
        for number, *link in connection.execute(query, part):
            links.setdefault(number, []).append(CodeLink(*link))
    return links


def _row(observation: Observation) -> tuple[Any, ...]:
    values = observation._asdict() | {"tags": json.dumps(observation.tags, ensure_ascii=False)}
    return tuple(int(value) if isinstance(value, bool) else value for value in map(values.__getitem__, _NAMES))


def _digest(row: Sequence[Any], links: Iterable[Sequence[str]]) -> int:
    """Return a checksum of a row and its links, since SQLite does not notice altered text."""
    return zlib.crc32(repr((tuple(row), *map(tuple, links))).encode("utf-8", "surrogatepass"))
