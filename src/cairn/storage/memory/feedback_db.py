"""All SQL of feedback: what code searches showed, and what was then done with it."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from cairn.storage.connection import in_parts
from cairn.storage.memory.rows import AskedQuestion, HitUse, ShownHit

MOST_USES = 200  # per question
_RECENT = 1_000  # questions
_QUESTION = ", ".join(AskedQuestion._fields)
_SHOWN = ", ".join(ShownHit._fields)
_USE = ", ".join(HitUse._fields)
_ADD_USE = (
    f"INSERT OR IGNORE INTO outcome ({_USE}) SELECT ?, ?, ?, ?, ? "
    f"WHERE (SELECT count(*) FROM outcome WHERE question = ?1) < {MOST_USES}"
)
_OPPOSITE = {"good": "bad", "bad": "good"}


# -- writing -----------------------------------------------------------------------------------------------------------


def add_shown(connection: sqlite3.Connection, question: int, hits: Iterable[ShownHit]) -> None:
    """Add the hits that the answer to a question showed."""
    marks = ", ".join("?" * len(ShownHit._fields))
    rows = [hit._replace(question=question) for hit in hits]
    connection.executemany(f"INSERT INTO shown ({_SHOWN}) VALUES ({marks})", rows)


def add_uses(connection: sqlite3.Connection, uses: Iterable[HitUse]) -> None:
    """Add uses, one for each question, file and kind; each question keeps a limited number."""
    connection.executemany(_ADD_USE, list(uses))


def add_verdict(connection: sqlite3.Connection, use: HitUse) -> None:
    """Add a verdict on a hit, `good` or `bad`, in place of the opposite one and if need be of the oldest use."""
    where = "question = ? AND path = ? AND symbol = ? AND use = ?"
    connection.execute(f"DELETE FROM outcome WHERE {where}", (*use[:3], _OPPOSITE[use.use]))
    connection.execute(f"INSERT OR REPLACE INTO outcome ({_USE}) VALUES (?, ?, ?, ?, ?)", use)


def adopt(connection: sqlite3.Connection, number: int, session: str, place: int) -> None:
    """Record a question's session once it is known."""
    connection.execute("UPDATE question SET session = ?, place = ? WHERE number = ?", (session, place, number))


def delete(connection: sqlite3.Connection, numbers: Collection[int]) -> None:
    """Delete questions with everything about them."""
    for part in in_parts(list(numbers)):
        marks = ", ".join("?" * len(part))
        for table, column in (("shown", "question"), ("outcome", "question"), ("answer", "question")):
            connection.execute(f"DELETE FROM {table} WHERE {column} IN ({marks})", part)
        connection.execute(f"DELETE FROM question WHERE number IN ({marks})", part)


def drop_old(connection: sqlite3.Connection, before: float, most: int, memories_before: float, limit: int) -> int:
    """Delete code questions from before some time and beyond the newest `most`; return how many were deleted.

    Args:
        connection: to the memory.
        before: seconds since the epoch.
        most: how many questions to keep.
        memories_before: questions answered by memories since then stay, without their words, because they show that
            these memories are needed.
        limit: how many questions to delete at once.
    """
    border = "SELECT number FROM question WHERE kind = 'code' ORDER BY number DESC LIMIT 1 OFFSET ?"
    row = connection.execute(border, (most - 1,)).fetchone()
    old = (
        "SELECT number, seconds, EXISTS (SELECT 1 FROM answer WHERE answer.question = number) FROM question "
        "WHERE kind = 'code' AND (seconds < ? OR number < ?) AND NOT (text = '' AND seconds >= ?) LIMIT ?"
    )
    least = 0 if row is None else row[0]
    found = connection.execute(old, (before, least, memories_before, limit)).fetchall()
    kept = [number for number, seconds, has_memories in found if has_memories and seconds >= memories_before]
    for part in in_parts(kept):
        marks = ", ".join("?" * len(part))
        connection.execute(f"UPDATE question SET text = '' WHERE number IN ({marks})", part)
        for table in ("shown", "outcome"):
            connection.execute(f"DELETE FROM {table} WHERE question IN ({marks})", part)
    delete(connection, {number for number, *_ in found} - set(kept))
    return len(found)


# -- reading -----------------------------------------------------------------------------------------------------------


def newest(
    connection: sqlite3.Connection,
    *,
    session: str | None = None,
    since: float = 0.0,
    limit: int | None = None,
    empty_only: bool = False,
) -> list[AskedQuestion]:
    """Return questions about the code, newest first.

    Args:
        connection: to the memory.
        session: only of this session; empty for those without one, None for all.
        since: in seconds since the epoch.
        limit: how many at most.
        empty_only: only those that found nothing.
    """
    terms, values = ["kind = 'code'", "text != ''"], list[object]()
    if session is not None:
        terms.append("session = ?")
        values.append(session)
    if since:
        terms.append("seconds >= ?")
        values.append(since)
    if empty_only:
        terms.append("n_found = 0")
    query = f"SELECT {_QUESTION} FROM question WHERE {' AND '.join(terms)} ORDER BY number DESC LIMIT ?"
    return [AskedQuestion(*row) for row in connection.execute(query, (*values, -1 if limit is None else limit))]


def shown(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, list[ShownHit]]:
    """Return the hits that the answers to some questions showed, best first."""
    found: dict[int, list[ShownHit]] = defaultdict(list)
    for part in in_parts(list(numbers)):
        query = f"SELECT {_SHOWN} FROM shown WHERE question IN ({', '.join('?' * len(part))}) ORDER BY question, rank"
        for row in connection.execute(query, part):
            found[row[0]].append(ShownHit(*row))
    return found


def uses(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, list[HitUse]]:
    """Return the uses after some questions, earliest first."""
    found: dict[int, list[HitUse]] = defaultdict(list)
    for part in in_parts(list(numbers)):
        marks = ", ".join("?" * len(part))
        query = f"SELECT {_USE} FROM outcome WHERE question IN ({marks}) ORDER BY question, seconds, path, symbol, use"
        for row in connection.execute(query, part):
            found[row[0]].append(HitUse(*row))
    return found


def last_showing(connection: sqlite3.Connection, numbers: Sequence[int], path: str) -> int | None:
    """Return the latest of some questions whose answer showed a file, None if none did."""
    query = f"SELECT max(question) FROM shown WHERE question IN ({', '.join('?' * len(numbers))}) AND path = ?"
    (number,) = connection.execute(query, (*numbers, path)).fetchone()
    return None if number is None else int(number)


def paths_shown(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[str, int]:
    """Return the files that the answers to some questions showed, each with the latest such question."""
    query = f"SELECT path, max(question) FROM shown WHERE question IN ({', '.join('?' * len(numbers))}) GROUP BY path"
    return dict(connection.execute(query, numbers).fetchall())


def orphans(connection: sqlite3.Connection, since: float, limit: int) -> list[tuple[int, str]]:
    """Return the latest questions without a known session, as (number, words), newest first."""
    query = (
        "SELECT number, text FROM (SELECT * FROM question ORDER BY number DESC LIMIT ?) "
        "WHERE session = '' AND kind = 'code' AND seconds >= ? AND text != ''"
    )
    return connection.execute(query, (limit, since)).fetchall()


def counts(connection: sqlite3.Connection, since: float, session: str = "") -> tuple[int, int, int]:
    """Return how many questions were asked since some time, how many found nothing, and how many led to a use.

    Args:
        since: in seconds since the epoch.
        session: only of this session; empty for all.
    """
    query = (
        "SELECT count(*), coalesce(sum(n_found = 0), 0), coalesce(sum(EXISTS "
        "(SELECT 1 FROM outcome WHERE outcome.question = number)), 0) "
        f"FROM question WHERE kind = 'code' AND text != '' AND seconds >= ?{' AND session = ?' if session else ''}"
    )
    n_asked, n_empty, n_used = connection.execute(query, (since, session) if session else (since,)).fetchone()
    return n_asked, n_empty, n_used


def counts_by_use(connection: sqlite3.Connection, since: float, session: str = "") -> dict[str, int]:
    """Return how many files were used in each way since some time; arguments as for `counts`."""
    own = " AND question IN (SELECT number FROM question WHERE session = ?)" if session else ""
    query = f"SELECT use, count(*) FROM outcome WHERE seconds >= ?{own} GROUP BY use ORDER BY use"
    return dict(connection.execute(query, (since, session) if session else (since,)).fetchall())


def session_ending(connection: sqlite3.Connection, id: str, since: float) -> str | None:
    """Return the recent session whose id is an agent's name, a colon and `id`; None unless there is just one."""
    query = (
        "SELECT id FROM (SELECT id FROM session WHERE heard >= ?1 UNION "
        f"SELECT session FROM (SELECT session FROM question ORDER BY number DESC LIMIT {_RECENT})) "
        "WHERE substr(id, -length(?2) - 1) = ':' || ?2 LIMIT 2"
    )
    found = connection.execute(query, (since, id)).fetchall()
    return str(found[0][0]) if len(found) == 1 else None
