"""What was used of the memory: what was shown and whether it helped, what was asked, and who reports events."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from cairn.errors import RequestError
from cairn.memory.identity import session_to_keep, without_halves
from cairn.memory.moments import Moment
from cairn.memory.redaction import redact
from cairn.memory.sessions import Recorded
from cairn.memory.store import MemoryStore
from cairn.storage.connection import Kept, patience
from cairn.storage.memory import candidate_db, session_db, usage_db
from cairn.storage.memory.rows import AskedQuestion, EventSource, InjectedMemory, Observation
from cairn.storage.memory.usage_db import ShownCounts

USES = ("fetched", "cited", "edited", "helpful", "unhelpful")
MAX_QUESTION_CHARS = 500
_PATIENCE_MS = 200  # an answer does not wait to be noted


class MemoryPrecision(NamedTuple):
    """What became of the memories that were shown unasked at one kind of event: how many were used in which way.

    The empty use is none: nobody did anything with them, which is not the same as `unhelpful`.
    """

    event: str
    n_by_use: Mapping[str, int]

    @property
    def n_shown(self) -> int:
        """How many were shown."""
        return sum(self.n_by_use.values())

    @property
    def n_used(self) -> int:
        """How many were used, or called helpful."""
        return sum(number for use, number in self.n_by_use.items() if use not in ("", "unhelpful"))

    @property
    def precision(self) -> float:
        """The share of those that were used."""
        return self.n_used / self.n_shown if self.n_shown else 0.0


class MemoryUsage:
    """How the memory of a project is used. Threads may share this; so may processes.

    Args:
        store: the memory.
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(self, store: MemoryStore, now: Callable[[], float] = time.time) -> None:
        self._store, self._now = store, now
        self._in_vain = Kept[dict[str, ShownCounts]]()
        self._precision = Kept[list[MemoryPrecision]]()
        self._times: list[tuple[str, str, float]] = []  # how long events took, which the next one writes

    # -- what is shown ------------------------------------------------------------------------------------------------

    def ids_shown(self, session: str) -> set[str]:
        """Return the ids of the memories that a session was shown."""
        if not self._store.exists:
            return set()
        with self._store.reading() as connection:
            return usage_db.ids_shown(connection, session)

    def tokens_shown(self, session: str) -> int:
        """Return how many tokens of memories a session was shown."""
        if not self._store.exists:
            return 0
        with self._store.reading() as connection:
            return usage_db.tokens_shown(connection, session)

    def note_use(self, session: str, observations: Collection[str], use: str) -> int:
        """Note that memories which a session was shown were used, and return how many of them it was shown.

        Args:
            session: the agent's id of the session.
            observations: ids.
            use: one of `USES`.

        Raises:
            RequestError: if it is not.
        """
        if use not in USES:
            raise RequestError(f"`use` must be one of {', '.join(USES)}", "see docs/http-api.md")
        if not self._store.exists:
            return 0
        with self._store.writing() as connection:
            return usage_db.mark_used(connection, session_to_keep(session), observations, use)

    def shown_counts(self, observations: Collection[str]) -> dict[str, ShownCounts]:
        """Return how often each of some memories was shown and used, by its id; those never shown are left out."""
        if not self._store.exists:
            return {}
        with self._store.reading() as connection:
            return usage_db.shown_counts(connection, observations)

    def shown_in_vain(self, least_times: int) -> dict[str, ShownCounts]:
        """Return the same of the memories that were shown so often and never used, or are said to be of no help."""
        if not self._store.exists:
            return {}
        with self._store.reading() as connection:
            return self._in_vain.get(connection, least_times, lambda: usage_db.shown_in_vain(connection, least_times))

    def injections(self, session: str = "", observation: str = "", limit: int | None = None) -> list[InjectedMemory]:
        """Return what was shown, the newest first."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            return usage_db.injections(connection, session, observation, limit)

    def precision(self, since: float = 0.0, session: str = "") -> list[MemoryPrecision]:
        """Return what became of the memories that were shown unasked since some time, by the event they were shown at.

        Args:
            since: in seconds since the epoch.
            session: to which, as the memory calls it; empty for all, which are kept until something changes.
        """
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            if session:
                return _precision(usage_db.use_counts(connection, since, session))
            return self._precision.get(connection, since, lambda: _precision(usage_db.use_counts(connection, since)))

    # -- what is asked ------------------------------------------------------------------------------------------------

    def note_question(
        self, kind: str, text: str, n_found: int, *, session: str = "", relevance: float = 0.0, ids: Sequence[str] = ()
    ) -> None:
        """Note a question and what it found, unless its session is muted or there is no memory.

        Args:
            kind: `memory` or `code`.
            text: the question.
            n_found: how many hits there were.
            session: in which session it was asked.
            relevance: of the best hit, 0 to 1.
            ids: of the memories among the hits.

        Raises:
            StoreLockedError: at once, if another process writes.
            StoreError: if it cannot be written.
        """
        if self._store.exists:
            text = redact(without_halves(text[: 2 * MAX_QUESTION_CHARS])).text[:MAX_QUESTION_CHARS]
            question = AskedQuestion(session_to_keep(session), self._now(), kind, text, n_found, relevance)
            with self._store.reading() as waiting, patience(waiting, _PATIENCE_MS), self._store.writing() as connection:
                asker = session_db.find(connection, question.session)
                if asker is None or not asker.is_muted:
                    usage_db.add_question(connection, question, ids)

    def questions(self, kind: str = "", limit: int | None = None) -> list[AskedQuestion]:
        """Return questions, the newest first."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            return usage_db.questions(connection, kind, limit)

    def last_uses(self, observations: Collection[str]) -> dict[str, float]:
        """Return when each of some memories last answered a question or was shown, in seconds since the epoch."""
        if not self._store.exists:
            return {}
        with self._store.reading() as connection:
            return usage_db.last_uses(connection, observations)

    # -- who reports --------------------------------------------------------------------------------------------------

    def hear(self, connection: sqlite3.Connection, moment: Moment, _: Recorded) -> None:
        """Note where a moment came from; a listener of `Sessions`."""
        times, self._times = self._times, []
        for time_taken in times:
            usage_db.add_time(connection, *time_taken)
        usage_db.hear(connection, moment.agent, moment.event, moment.seconds)

    def note_time(self, moment: Moment, milliseconds: float) -> None:
        """Note how long it took to take in a moment; the next one writes it."""
        self._times.append((moment.agent, moment.event, milliseconds))

    def sources(self) -> list[EventSource]:
        """Return who reported events, the last heard of first."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            return usage_db.sources(connection)


def erase_words(connection: sqlite3.Connection, erased: Sequence[Observation]) -> None:
    """Erase what may repeat the words of memories that are being erased, as they were before."""
    for observation in erased:
        usage_db.erase_words(connection, observation.id, observation.session)
        candidate_db.erase_words(connection, observation.id, observation.session)


def _precision(counts: Sequence[tuple[str, str, int]]) -> list[MemoryPrecision]:
    """Return how often memories were put to each use, by event, from triples of both and a number."""
    events = dict.fromkeys(event for event, _, _ in counts)
    return [MemoryPrecision(event, {use: times for name, use, times in counts if name == event}) for event in events]
