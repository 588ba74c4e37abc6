"""Keeps what agents were shown of the code when they used tools, and what that stood for: measured, never assumed.

It is kept in the memory, and only where there is one: nothing is created for it, and a session of which the user wants
nothing kept leaves nothing here either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from cairn.memory.identity import without_halves
from cairn.memory.redaction import redact
from cairn.memory.sessions import Sessions
from cairn.memory.store import MemoryStore
from cairn.storage.connection import unhurried_disk
from cairn.storage.memory import served_db, session_db
from cairn.storage.memory.rows import ServedAnswer
from cairn.storage.memory.served_db import ServedTotal

TOKENIZER = "cl100k, estimated"  # what `count_tokens` counts


class ServedSession(NamedTuple):
    """What is kept of a session.

    Attributes:
        answers: what it was shown, the oldest first.
        edited: the files that it edited, relative to the root.
    """

    answers: list[ServedAnswer]
    edited: list[str]


class ServedAnswers:
    """What the agents of a project were shown. Threads may share it; so may processes.

    Args:
        store: the memory.
        sessions: of the agents.
    """

    def __init__(self, store: MemoryStore, sessions: Sessions) -> None:
        self._store, self._sessions = store, sessions

    def keeps(self, session: str) -> bool:
        """Tell whether what a session is shown can be kept.

        Raises:
            StoreError: if the memory cannot be used.
        """
        if not self._sessions.keeps or not self._store.exists:
            return False
        known = self._sessions.find(session)
        return known is None or not known.is_muted

    def add(self, answer: ServedAnswer, is_wanted: Callable[[], bool]) -> bool:
        """Keep what an agent is shown, unless that is no longer wanted once it is written; return whether it is kept.

        Raises:
            StoreError: if it cannot be written.
        """
        with self._in_haste() as connection:
            number = served_db.add(connection, answer._replace(path=_path_to_keep(answer.path)))
        if is_wanted():
            return True
        with self._in_haste() as connection:
            served_db.remove(connection, number)
        return False

    def charge(self, session: str, path: str, hash: str, tokens: int) -> bool:
        """Charge a read of a file to the answer that took its place before; return whether there is one.

        Args:
            session: or `SESSION/SUBAGENT`.
            path: relative to the root.
            hash: of what it holds; another version would have to be read anyway.
            tokens: what was read.

        Raises:
            StoreError: as `add`.
        """
        with self._in_haste() as connection:
            return served_db.charge(connection, session, _path_to_keep(path), hash, tokens)

    @contextmanager
    def _in_haste(self) -> Iterator[sqlite3.Connection]:
        """Write without waiting for the disk, which takes longer than an agent should: a crash of ours loses nothing.

        Only one of the whole machine loses the last rows, and with them no more than what was saved just then.
        """
        with self._store.reading() as connection, unhurried_disk(connection), self._store.writing():
            yield connection

    def known(self, session: str, ledger: str) -> ServedSession:
        """Return what is kept of a session or sub-agent.

        Raises:
            StoreError: if the memory cannot be used.
        """
        if not self._store.exists:
            return ServedSession([], [])
        with self._store.reading() as connection:
            found = session_db.find(connection, session)
            edited = [] if found is None else session_db.edited_in(connection, found)
            return ServedSession(served_db.of_session(connection, ledger), edited)

    def totals(self, since: float) -> list[ServedTotal]:
        """Return what was shown since some time, by day, agent and kind, the newest day first."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            return list(served_db.totals(connection, since))


def _path_to_keep(path: str) -> str:
    """Return a path without secrets; of a file whose name holds one is not known again that it was shown."""
    return redact(without_halves(path)).text
