"""All SQL of sessions: their prompts, their activities, and which moments were already processed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cairn.storage.memory.rows import Activity, FailedCall, PromptBatch, Session

_RECENT = 1_000  # activities, at most
_SESSION = Session._fields
_BATCH = PromptBatch._fields
_ACTIVITY = Activity._fields


class SessionConditions(NamedTuple):
    """Conditions on sessions; empty or None means any.

    Attributes:
        agents, branches, origins: any of these.
        since, until: when they were last heard of, in seconds since the epoch.
        is_open: whether they have not ended.
        path: one of their activities is on this path, or below it if it ends in a slash.
        words: one of their prompts has all of these, in any case.
    """

    agents: Sequence[str] = ()
    branches: Sequence[str] = ()
    origins: Sequence[str] = ()
    since: float = 0.0
    until: float = 0.0
    is_open: bool | None = None
    path: str = ""
    words: Sequence[str] = ()


class SessionPage(NamedTuple):
    """A page of the sessions that meet conditions, their total number, and their agents by name."""

    sessions: list[Session]
    total: int
    agents: list[str]


def see(connection: sqlite3.Connection, digest: bytes, seconds: float) -> bool:
    """Record a moment; return whether it is new."""
    row = "INSERT OR IGNORE INTO seen (id, seconds) VALUES (?, ?)"
    return connection.execute(row, (digest, seconds)).rowcount == 1


def forget_seen(connection: sqlite3.Connection, before: float) -> None:
    """Forget the moments recorded before some time."""
    connection.execute("DELETE FROM seen WHERE seconds < ?", (before,))


# -- sessions ----------------------------------------------------------------------------------------------------------


def find(connection: sqlite3.Connection, id: str) -> Session | None:
    """Return a session by the agent's own id, None if it is unknown."""
    return next(_sessions(connection, "WHERE id = ?", (id,)), None)


def save(connection: sqlite3.Connection, session: Session) -> Session:
    """Save the current state of a session, and return it with its row number."""
    values = session._asdict()
    number = values.pop("number")
    if number:
        marks = ", ".join(f"{name} = ?" for name in values)
        connection.execute(f"UPDATE session SET {marks} WHERE number = ?", (*values.values(), number))
        return session
    return session._replace(number=_insert(connection, "session", values))


def select(
    connection: sqlite3.Connection, conditions: SessionConditions, limit: int | None = None, offset: int = 0
) -> list[Session]:
    """Return the sessions that meet all conditions, most recently heard of first."""
    where, values = _where(conditions)
    page = f"{where} ORDER BY heard DESC, number DESC LIMIT ? OFFSET ?"
    return list(_sessions(connection, page, [*values, -1 if limit is None else limit, offset]))


def page(connection: sqlite3.Connection, conditions: SessionConditions, limit: int | None, offset: int) -> SessionPage:
    """Return the result of `select` with totals, in one pass over prompts and activities."""
    where, values = _where(conditions)
    total, agents, numbers = connection.execute(
        f"WITH met AS MATERIALIZED (SELECT number, agent, heard FROM session {where}), "
        "page AS (SELECT number FROM met ORDER BY heard DESC, number DESC LIMIT ? OFFSET ?) SELECT "
        "(SELECT count(*) FROM met), (SELECT json_group_array(DISTINCT agent) FROM met), "
        "(SELECT json_group_array(number) FROM page)",
        [*values, -1 if limit is None else limit, offset],
    ).fetchone()
    chosen = "WHERE number IN (SELECT value FROM json_each(?)) ORDER BY heard DESC, number DESC"
    return SessionPage(list(_sessions(connection, chosen, (numbers,))), total, sorted(filter(None, json.loads(agents))))


def failures(connection: sqlite3.Connection, agent: str, since: float) -> list[FailedCall]:
    """Return the tool calls that failed since some time, latest first; only an agent's if it is given."""
    found = connection.execute(
        "SELECT tool, name, target, count(*), count(DISTINCT session), max(seconds), session.id, agent FROM activity "
        "CROSS JOIN batch ON batch.number = activity.batch CROSS JOIN session ON session.number = batch.session "
        "WHERE is_failure = 1 AND seconds >= ? AND is_muted = 0 AND ? IN ('', agent) "
        "GROUP BY tool, name, target ORDER BY 6 DESC, target",  # ungrouped columns come from the row with the maximum
        (since, agent),
    )
    return [FailedCall(*row) for row in found]


def stale_sessions(connection: sqlite3.Connection, before: float, limit: int) -> list[Session]:
    """Return open sessions that were not heard of since some time, longest silent first."""
    return list(_sessions(connection, "WHERE ended = 0 AND heard < ? ORDER BY heard LIMIT ?", (before, limit)))


def delete_content(connection: sqlite3.Connection, session: Session) -> None:
    """Delete the batches and activities of a session."""
    batches = "SELECT number FROM batch WHERE session = ?"
    connection.execute(f"DELETE FROM activity WHERE batch IN ({batches})", (session.number,))
    connection.execute("DELETE FROM batch WHERE session = ?", (session.number,))


def delete(connection: sqlite3.Connection, session: Session) -> None:
    """Delete a session with everything in it."""
    delete_content(connection, session)
    connection.execute("DELETE FROM session WHERE number = ?", (session.number,))


def erase_words(connection: sqlite3.Connection, id: str) -> None:
    """Erase a session's prompts, and the arguments of its tool calls."""
    batches = "SELECT batch.number FROM batch JOIN session ON session.number = batch.session WHERE session.id = ?"
    connection.execute(f"UPDATE activity SET target = '' WHERE batch IN ({batches})", (id,))
    connection.execute(f"UPDATE batch SET prompt = '' WHERE number IN ({batches})", (id,))


# -- batches and activities --------------------------------------------------------------------------------------------


def last_batch(connection: sqlite3.Connection, session: Session) -> PromptBatch | None:
    """Return the last batch of a session, None if there is none."""
    found = _batches(connection, "WHERE session = ? ORDER BY place DESC LIMIT 1", (session.number,))
    return next(found, None)


def save_batch(connection: sqlite3.Connection, batch: PromptBatch) -> PromptBatch:
    """Save the current state of a batch, and return it with its row number."""
    values = batch._asdict()
    number = values.pop("number")
    if number:
        connection.execute("UPDATE batch SET ended = ? WHERE number = ?", (batch.ended, number))
        return batch
    return batch._replace(number=_insert(connection, "batch", values))


def add_activity(connection: sqlite3.Connection, activity: Activity) -> Activity:
    """Add an activity, and return it with its row number."""
    values = activity._asdict()
    del values["number"]
    return activity._replace(number=_insert(connection, "activity", values))


def batches(connection: sqlite3.Connection, session: Session) -> list[PromptBatch]:
    """Return the batches of a session, in order."""
    return list(_batches(connection, "WHERE session = ? ORDER BY place", (session.number,)))


def activities(connection: sqlite3.Connection, session: Session) -> list[Activity]:
    """Return the activities of a session, in order of arrival."""
    query = (
        f"SELECT {', '.join(f'activity.{name}' for name in _ACTIVITY)} FROM activity "
        "JOIN batch ON batch.number = activity.batch WHERE batch.session = ? ORDER BY activity.number"
    )
    return [_activity(row) for row in connection.execute(query, (session.number,))]


def edited_paths(connection: sqlite3.Connection, limit: int) -> list[str]:
    """Return the files last edited in any session, latest first."""
    query = (
        "SELECT target FROM (SELECT * FROM activity ORDER BY number DESC LIMIT ?) WHERE tool IN ('edit', 'write') "
        "AND is_failure = 0 AND outcome != 'denied' GROUP BY target ORDER BY max(number) DESC LIMIT ?"
    )
    return [target for (target,) in connection.execute(query, (_RECENT, limit))]


def edited_in(connection: sqlite3.Connection, session: Session) -> list[str]:
    """Return the files that were edited in a session."""
    query = (
        "SELECT DISTINCT target FROM activity JOIN batch ON batch.number = activity.batch WHERE batch.session = ? "
        "AND tool IN ('edit', 'write') AND is_failure = 0 AND outcome != 'denied' LIMIT ?"
    )
    return [target for (target,) in connection.execute(query, (session.number, _RECENT))]


def looked_at(connection: sqlite3.Connection, session: Session, limit: int) -> list[str]:
    """Return the targets of a session's edits and reads as its calls have them: edits first, newest first."""
    query = (
        "SELECT target FROM activity JOIN batch ON batch.number = activity.batch WHERE batch.session = ? "
        "AND tool IN ('edit', 'write', 'read') AND is_failure = 0 AND outcome != 'denied' AND target != '' "
        "GROUP BY target ORDER BY max(tool != 'read') DESC, max(activity.number) DESC LIMIT ?"
    )
    return [target for (target,) in connection.execute(query, (session.number, limit))]


def _activity(row: Sequence[Any]) -> Activity:
    activity = Activity(*row)
    return activity._replace(is_failure=bool(activity.is_failure))


def _insert(connection: sqlite3.Connection, table: str, values: dict[str, Any]) -> int:
    marks = ", ".join("?" * len(values))
    row = connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
    return int(row.lastrowid or 0)


def _sessions(connection: sqlite3.Connection, rest: str, values: Sequence[Any]) -> Iterator[Session]:
    for row in connection.execute(f"SELECT {', '.join(_SESSION)} FROM session {rest}", values).fetchall():
        session = Session(*row)
        yield session._replace(
            has_plan=bool(session.has_plan), is_muted=bool(session.is_muted), is_fresh=bool(session.is_fresh)
        )


def _batches(connection: sqlite3.Connection, rest: str, values: Sequence[Any]) -> Iterator[PromptBatch]:
    for row in connection.execute(f"SELECT {', '.join(_BATCH)} FROM batch {rest}", values).fetchall():
        yield PromptBatch(*row)


def _where(conditions: SessionConditions) -> tuple[str, list[Any]]:
    terms = ["is_muted = 0"]
    values: list[Any] = []
    for column, names in (
        ("agent", conditions.agents),
        ("branch", conditions.branches),
        ("origin", conditions.origins),
    ):
        if names:
            terms.append(f"{column} IN ({', '.join('?' * len(names))})")
            values.extend(names)
    if conditions.since:
        terms.append("heard >= ?")
        values.append(conditions.since)
    if conditions.until:
        terms.append("heard < ?")
        values.append(conditions.until)
    if conditions.is_open is not None:
        terms.append("ended = 0" if conditions.is_open else "ended != 0")
    if conditions.path:
        is_below = conditions.path.endswith("/")
        match = "substr(target, 1, length(?)) = ?" if is_below else "target = ?"
        terms.append(
            f"number IN (SELECT batch.session FROM activity JOIN batch ON batch.number = activity.batch WHERE {match})"
        )
        values.extend([conditions.path] * match.count("?"))
    if conditions.words:
        match = " AND ".join(["instr(lower(prompt), lower(?)) > 0"] * len(conditions.words))
        terms.append(f"number IN (SELECT batch.session FROM batch WHERE {match})")
        values.extend(conditions.words)
    return f"WHERE {' AND '.join(terms)}", values
