"""All SQL of questions to a chat model: which sessions wait for a summary, and what each question cost."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class ChatCall(NamedTuple):
    """One question to a chat model.

    Attributes:
        session: the agent's id of the session in question.
        due: since when the session has waited, in seconds since the epoch.
        state: `due`, `asked` (the outcome is unknown), `done`, `failed`, or `skipped`.
        asked: when, in seconds since the epoch; 0 before that.
        model: such as `ollama:qwen3`.
        input_tokens, output_tokens: as counted by the model; before it answers, upper bounds.
        cost: in US dollars, at the price that the user set.
        note: why it failed or was skipped, empty otherwise.
        number: of its row.
    """

    session: str
    due: float
    state: str = "due"
    asked: float = 0.0
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    note: str = ""
    number: int = 0


class ChatMeter(NamedTuple):
    """Usage of a chat model since some time: questions, failed ones among them, tokens, US dollars."""

    n_calls: int
    n_failed: int
    input_tokens: int
    output_tokens: int
    cost: float


class ChatCost(NamedTuple):
    """The cost of one agent's sessions on one day (UTC) with one model."""

    day: str
    agent: str
    model: str
    n_calls: int
    input_tokens: int
    output_tokens: int
    cost: float


_COLUMNS = ChatCall._fields[:-1]


def add_due(connection: sqlite3.Connection, session: str, seconds: float) -> None:
    """Queue a session for a summary, unless it is queued."""
    connection.execute("DELETE FROM chat_call WHERE session = ? AND state = 'due'", (session,))
    add(connection, ChatCall(session, seconds))


def add(connection: sqlite3.Connection, call: ChatCall) -> None:
    """Add a question."""
    marks = ", ".join("?" * len(_COLUMNS))
    connection.execute(f"INSERT INTO chat_call ({', '.join(_COLUMNS)}) VALUES ({marks})", call[:-1])


def next_due(connection: sqlite3.Connection) -> ChatCall | None:
    """Return the question that has waited longest, None if none is waiting."""
    query = f"SELECT {', '.join(ChatCall._fields)} FROM chat_call WHERE state = 'due' ORDER BY number LIMIT 1"
    row = connection.execute(query).fetchone()
    return None if row is None else ChatCall(*row)


def save(connection: sqlite3.Connection, call: ChatCall) -> None:
    """Save a question's state."""
    marks = ", ".join(f"{name} = ?" for name in _COLUMNS)
    connection.execute(f"UPDATE chat_call SET {marks} WHERE number = ?", call)


def calls(connection: sqlite3.Connection, session: str = "", limit: int = -1) -> list[ChatCall]:
    """Return questions, of one session or of all, newest first."""
    query = (
        f"SELECT {', '.join(ChatCall._fields)} FROM chat_call WHERE ?1 IN ('', session) ORDER BY number DESC LIMIT ?2"
    )
    return [ChatCall(*row) for row in connection.execute(query, (session, limit))]


def costs(connection: sqlite3.Connection, since: float) -> list[ChatCost]:
    """Return costs since a time in seconds since the epoch, newest day first."""
    query = (
        "SELECT strftime('%Y-%m-%d', asked, 'unixepoch') AS day, coalesce(agent, ''), model, count(*), "
        "sum(input_tokens), sum(output_tokens), sum(cost) "
        "FROM chat_call LEFT JOIN session ON session.id = chat_call.session "
        "WHERE asked >= ? AND asked > 0 GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3"
    )
    return [ChatCost(*row) for row in connection.execute(query, (since,))]


def meter(connection: sqlite3.Connection, since: float) -> ChatMeter:
    """Return total usage since a time in seconds since the epoch."""
    query = (
        "SELECT count(*), coalesce(sum(state = 'failed'), 0), coalesce(sum(input_tokens), 0), "
        "coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0) FROM chat_call WHERE asked >= ? AND asked > 0"
    )
    return ChatMeter(*connection.execute(query, (since,)).fetchone())
