"""All SQL of the use of the memory: what was shown, what was asked, and who reports events."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from cairn.storage.connection import in_parts
from cairn.storage.memory import session_db
from cairn.storage.memory.rows import AskedQuestion, EventSource, InjectedMemory

_INJECTION = InjectedMemory._fields
_USES = ("", "edited", "fetched", "cited")  # from weakest to strongest evidence; a spoken verdict is the strongest
_COMPACTED = "compacted"  # why a row is there that tells from where on an agent still has what it was shown
_LAST = f"SELECT max(number) FROM injection WHERE session = ?1 AND why = '{_COMPACTED}'"
_IS_KNOWN = f"session = ?1 AND number > coalesce(({_LAST}), 0)"
_QUESTION = AskedQuestion._fields
_SOURCE = EventSource._fields[:-1]
_HEAR = """INSERT INTO source (agent, event, heard, n_events, n_timed, last_ms, total_ms, slowest_ms)
    VALUES (?, ?, ?, 1, 0, 0, 0, 0)
    ON CONFLICT (agent, event) DO UPDATE SET heard = max(heard, excluded.heard), n_events = n_events + 1"""
_TIME = """UPDATE source SET n_timed = n_timed + 1, last_ms = ?3, total_ms = total_ms + ?3,
    slowest_ms = max(slowest_ms, ?3) WHERE agent = ?1 AND event = ?2"""
_TIMES = 100  # latest times to keep for each source
_KEEP_TIME = f"""INSERT OR REPLACE INTO source_time
    SELECT agent, event, n_timed % {_TIMES}, ?3 FROM source WHERE agent = ?1 AND event = ?2"""
_P95 = """SELECT agent, event, min(ms) FROM (SELECT agent, event, ms,
    cume_dist() OVER (PARTITION BY agent, event ORDER BY ms) AS share FROM source_time)
    WHERE share >= 0.95 GROUP BY agent, event"""


# -- injections --------------------------------------------------------------------------------------------------------


def add_injections(connection: sqlite3.Connection, injections: Collection[InjectedMemory]) -> None:
    """Add what was shown."""
    marks = ", ".join("?" * (len(_INJECTION) - 1))
    statement = f"INSERT INTO injection ({', '.join(_INJECTION[:-1])}) VALUES ({marks})"
    connection.executemany(statement, [injection[:-1] for injection in injections])


def take_back(connection: sqlite3.Connection, session: str, event: str, seconds: float) -> None:
    """Forget what was shown at a moment of a session, as nobody heard it."""
    connection.execute(
        "DELETE FROM injection WHERE session = ? AND event = ? AND seconds = ?", (session, event, seconds)
    )


def mark_used(connection: sqlite3.Connection, session: str, observations: Collection[str], use: str) -> int:
    """Record a use of memories that a session was shown, if it is stronger evidence; return how many it was shown."""
    weaker = _USES[: _USES.index(use)] if use in _USES else (*_USES, "helpful", "unhelpful")
    is_weaker = f"use IN ({', '.join('?' * len(weaker))})"
    n_shown = 0
    for part in in_parts(list(observations)):
        marks = ", ".join("?" * len(part))
        statement = (
            f"UPDATE injection SET use = CASE WHEN {is_weaker} THEN ? ELSE use END "
            f"WHERE session = ? AND observation IN ({marks})"
        )
        n_shown += connection.execute(statement, (*weaker, use, session, *part)).rowcount
    return n_shown


def injections(
    connection: sqlite3.Connection, session: str = "", observation: str = "", limit: int | None = None
) -> list[InjectedMemory]:
    """Return what was shown, newest first; only in a session or of an observation, if given."""
    terms = [(f"{name} = ?", value) for name, value in (("session", session), ("observation", observation)) if value]
    where = f"WHERE {' AND '.join(term for term, _ in terms)}" if terms else ""
    query = f"SELECT {', '.join(_INJECTION)} FROM injection {where} ORDER BY number DESC LIMIT ?"
    values = [value for _, value in terms]
    return [InjectedMemory(*row) for row in connection.execute(query, (*values, -1 if limit is None else limit))]


def ids_shown(connection: sqlite3.Connection, session: str, why: str = "") -> set[str]:
    """Return the ids of the memories that a session was shown; only for one reason, if given."""
    query = "SELECT DISTINCT observation FROM injection WHERE session = ?1 AND ?2 IN ('', why)"
    return {id for (id,) in connection.execute(query, (session, why))}


def ids_known(connection: sqlite3.Connection, session: str, why: str = "") -> set[str]:
    """Return the same as `ids_shown`, since the context was last compacted."""
    query = f"SELECT DISTINCT observation FROM injection WHERE {_IS_KNOWN} AND ?2 IN ('', why)"
    return {id for (id,) in connection.execute(query, (session, why))}


def tokens_known(connection: sqlite3.Connection, session: str) -> int:
    """Return how many tokens a session was shown since its context was last compacted."""
    query = f"SELECT coalesce(sum(tokens), 0) FROM injection WHERE {_IS_KNOWN}"
    return int(connection.execute(query, (session,)).fetchone()[0])


def note_compaction(connection: sqlite3.Connection, session: str, seconds: float) -> None:
    """Record that an agent no longer has what it was shown, if it was shown anything."""
    if tokens_known(connection, session):
        add_injections(connection, [InjectedMemory(session, seconds, "before-compaction", "", _COMPACTED, 0)])


class ShownCounts(NamedTuple):
    """How often a memory was shown and then used, and the verdicts on it."""

    times: int = 0
    used: int = 0
    helpful: int = 0
    unhelpful: int = 0


def shown_counts(connection: sqlite3.Connection, observations: Collection[str]) -> dict[str, ShownCounts]:
    """Return how often each of some memories was shown and used, by id; memories never shown are left out."""
    found: dict[str, ShownCounts] = {}
    for part in in_parts(list(observations)):
        where = f"WHERE observation IN ({', '.join('?' * len(part))}) GROUP BY observation"
        found.update(_shown_counts(connection, where, part))
    return found


def shown_in_vain(connection: sqlite3.Connection, least_times: int) -> dict[str, ShownCounts]:
    """Return the same for memories that were shown often but never used, or that were called unhelpful."""
    # Select them first, because the sums below take three times as long.
    often = "SELECT observation FROM injection GROUP BY observation HAVING count(*) >= ?1"
    marked = "SELECT observation FROM injection WHERE use = 'unhelpful'"
    in_vain = "count(*) >= ?1 AND total(use NOT IN ('', 'unhelpful')) = 0"
    unhelpful = "total(use = 'unhelpful') > total(use = 'helpful')"
    where = (
        f"WHERE observation != '' AND observation IN ({often} UNION ALL {marked}) "
        f"GROUP BY observation HAVING {unhelpful} OR {in_vain}"
    )
    return _shown_counts(connection, where, [least_times])


def _shown_counts(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> dict[str, ShownCounts]:
    query = (
        "SELECT observation, count(*), total(use NOT IN ('', 'unhelpful')), total(use = 'helpful'), "
        f"total(use = 'unhelpful') FROM injection {where}"
    )
    return {id: ShownCounts(*map(int, counts)) for id, *counts in connection.execute(query, values)}


def tokens_shown(connection: sqlite3.Connection, session: str) -> int:
    """Return how many tokens a session was shown in all."""
    query = "SELECT coalesce(sum(tokens), 0) FROM injection WHERE session = ?"
    return int(connection.execute(query, (session,)).fetchone()[0])


def use_counts(connection: sqlite3.Connection, since: float, session: str = "") -> list[tuple[str, str, int]]:
    """Return how often memories were shown since some time, as (event, use, count).

    Args:
        since: in seconds since the epoch.
        session: only in this session; empty for all.
    """
    own = " AND session = ?" if session else ""
    query = (
        f"SELECT event, use, count(*) FROM injection WHERE seconds >= ? AND why != '{_COMPACTED}'{own} "
        "GROUP BY event, use ORDER BY event, use"
    )
    return connection.execute(query, (since, session) if session else (since,)).fetchall()


def mark_newest(connection: sqlite3.Connection, observation: str, session: str, use: str) -> str | None:
    """Record the use of a memory where it was last shown, in a session if given; return that session.

    Returns:
        None if it was never shown.
    """
    newest = "SELECT session FROM injection WHERE observation = ?1 AND ?2 IN ('', session) ORDER BY number DESC LIMIT 1"
    row = connection.execute(newest, (observation, session)).fetchone()
    if row is not None:
        mark_used(connection, row[0], [observation], use)
    return None if row is None else str(row[0])


# -- questions ---------------------------------------------------------------------------------------------------------


def add_question(connection: sqlite3.Connection, question: AskedQuestion, observations: Sequence[str] = ()) -> int:
    """Add a question with the memories that answered it, and return its row number."""
    marks = ", ".join("?" * (len(_QUESTION) - 1))
    statement = f"INSERT INTO question ({', '.join(_QUESTION[:-1])}) VALUES ({marks})"
    number = int(connection.execute(statement, question[:-1]).lastrowid or 0)
    rows = [(number, observation) for observation in dict.fromkeys(observations)]
    connection.executemany("INSERT INTO answer VALUES (?, ?)", rows)
    return number


def questions(connection: sqlite3.Connection, kind: str = "", limit: int | None = None) -> list[AskedQuestion]:
    """Return questions, newest first; only of one kind, if given."""
    query = f"SELECT {', '.join(_QUESTION)} FROM question WHERE ?1 IN ('', kind) ORDER BY number DESC LIMIT ?2"
    return [AskedQuestion(*row) for row in connection.execute(query, (kind, -1 if limit is None else limit))]


def recalled(connection: sqlite3.Connection, session: str) -> list[tuple[float, str]]:
    """Return when a session asked for memories, and which one if it was the only answer."""
    query = (
        "SELECT question.seconds, min(observation) FROM question JOIN answer ON answer.question = question.number "
        "WHERE session = ? AND kind = 'memory' GROUP BY question.number HAVING count(*) = 1"
    )
    return connection.execute(query, (session,)).fetchall()


def last_uses(connection: sqlite3.Connection, observations: Collection[str]) -> dict[str, float]:
    """Return when each of some memories last answered a question or was shown, if ever."""
    latest: dict[str, float] = {}
    for part in in_parts(list(observations)):
        marks = ", ".join("?" * len(part))
        for query in (
            "SELECT observation, max(seconds) FROM answer JOIN question ON question.number = answer.question "
            f"WHERE observation IN ({marks}) GROUP BY observation",
            f"SELECT observation, max(seconds) FROM injection WHERE observation IN ({marks}) GROUP BY observation",
        ):
            for id, seconds in connection.execute(query, part):
                latest[id] = max(seconds, latest.get(id, 0.0))
    return latest


# -- sources -----------------------------------------------------------------------------------------------------------


def hear(connection: sqlite3.Connection, agent: str, event: str, seconds: float) -> None:
    """Record an event from a source."""
    connection.execute(_HEAR, (agent, event, seconds))


def add_time(connection: sqlite3.Connection, agent: str, event: str, milliseconds: float) -> None:
    """Record how long an event from a source took."""
    connection.execute(_TIME, (agent, event, milliseconds))
    connection.execute(_KEEP_TIME, (agent, event, milliseconds))


def sources(connection: sqlite3.Connection) -> list[EventSource]:
    """Return all sources, most recently heard of first."""
    p95 = {(agent, event): ms for agent, event, ms in connection.execute(_P95)}
    query = f"SELECT {', '.join(_SOURCE)} FROM source ORDER BY heard DESC, agent, event"
    found = [EventSource(*row) for row in connection.execute(query)]
    return [source._replace(p95_ms=p95.get((source.agent, source.event), 0.0)) for source in found]


# -- forgetting --------------------------------------------------------------------------------------------------------


def forget_session(connection: sqlite3.Connection, session: str) -> None:
    """Delete what a session and its sub-agents were shown and asked."""
    is_of_session = "session = ?1 OR substr(session, 1, length(?1) + 1) = ?1 || '/'"
    connection.execute(f"DELETE FROM injection WHERE {is_of_session}", (session,))
    asked = "SELECT number FROM question WHERE session = ?"
    for table in ("answer", "shown", "outcome"):
        connection.execute(f"DELETE FROM {table} WHERE question IN ({asked})", (session,))
    connection.execute("DELETE FROM question WHERE session = ?", (session,))


def erase_words(connection: sqlite3.Connection, observation: str, session: str) -> None:
    """Erase what may repeat a memory's words: the questions that it answered, and what was said in its session.

    Args:
        connection: to the memory.
        observation: the id of the memory.
        session: in which it was made; empty for none.
    """
    connection.execute("UPDATE injection SET why = '' WHERE observation = ?", (observation,))
    _erase_questions(connection, "SELECT question FROM answer WHERE observation = ?", observation)
    if session:
        _erase_questions(connection, "SELECT number FROM question WHERE session = ?", session)
        session_db.erase_words(connection, session)


def _erase_questions(connection: sqlite3.Connection, numbers: str, value: str) -> None:
    """Erase the words of questions, and what was shown and done after them, which is as telling."""
    connection.execute(f"UPDATE question SET text = '' WHERE number IN ({numbers})", (value,))
    for table in ("shown", "outcome"):
        connection.execute(f"DELETE FROM {table} WHERE question IN ({numbers})", (value,))
