"""Sessions of agents: what was asked and done in each, each moment taken in once."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.digest import blake2b
from cairn.errors import NotFoundError, StoreError
from cairn.hints import Hint
from cairn.memory.identity import session_to_keep
from cairn.memory.intake import fit_to_keep
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.origin import INVESTIGATION, MOST_IMPORTANT, PLANNING, is_edit, is_plan, is_read, origin_of
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.storage.connection import Kept
from cairn.storage.memory import candidate_db, observation_db, served_db, session_db, usage_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Activity, FailedCall, PromptBatch, Session
from cairn.storage.memory.session_db import SessionConditions, SessionPage

STALE = "stale"  # why a session ended of which nothing was heard for long
STALE_SECONDS = 3_600.0
MAX_PROMPT_CHARS = 2_000
MAX_TARGET_CHARS = 1_000
_SEEN_SECONDS = 90 * 86_400.0
_LOOK_SECONDS = 60.0  # between two looks for stale sessions
_MOST_AT_ONCE = 5  # stale sessions that are ended at once
_NOTICES = ("<task-notification>", "<system-", "<local-command", "<command-")  # prompts that no person wrote
_DIGEST = "session_summary"  # the type of the memory that says what was asked and done in a session
_RULE, _MUTE, _FORGET = By("rule:origin", "rule"), By("rule:mute", "rule"), By("rule:forget", "rule")
_log = logging.getLogger("cairn.memory")


class Recorded(NamedTuple):
    """What became of a moment.

    Attributes:
        session: as it is now.
        batch: the one that the moment belongs to, None before the first.
        activity: of `after-tool`.
        is_new: whether the moment was taken in now; else it was already.
    """

    session: Session
    batch: PromptBatch | None
    activity: Activity | None
    is_new: bool


# Reacts to a moment, in the transaction that takes it in. The moment has its bodies, which are kept nowhere.
Listener = Callable[[sqlite3.Connection, Moment, Recorded], None]


class Sessions:
    """The sessions of a project, in its memory. Threads may share this; so may processes.

    Args:
        store: the memory.
        root: of the project.
        listeners: are called with each new moment, in their order. One that fails undoes what it did, and no more.
        keeps: whether the user wants sessions kept; else every moment is dropped.
        unheard: is called with each moment of a session that is muted, of which nothing is kept.
        now: the machine's clock, in seconds since the epoch.

    Attributes:
        keeps: as above.
    """

    def __init__(
        self,
        store: MemoryStore,
        root: Path,
        listeners: Iterable[Listener] = (),
        *,
        keeps: bool = True,
        unheard: Callable[[sqlite3.Connection, Moment], None] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._root, self.keeps, self._now = store, root, keeps, now
        self._listeners, self._unheard = list(listeners), unheard
        self._looked = 0.0
        self._failures = Kept[list[FailedCall]]()

    # -- taking in ----------------------------------------------------------------------------------------------------

    def record(self, moment: Moment) -> Recorded | None:
        """Take in a moment, once, and let the listeners react to it, all in one transaction.

        Returns:
            None if the user wants nothing kept of the session or the project.

        Raises:
            StoreError: if it cannot be written; then nothing of it is.
        """
        if not self.keeps:
            return None
        moment = fit_to_keep(moment, self._root, self._now())
        with self._store.writing() as connection:
            session = session_db.find(connection, moment.session) or Session(moment.session, started=moment.seconds)
            if session.is_muted:
                if self._unheard is not None:
                    self._unheard(connection, moment)
                return None
            if not session_db.see(connection, _digest(moment), self._now()):
                return Recorded(session, session_db.last_batch(connection, session), None, is_new=False)
            return self._take(connection, session, moment)

    def _take(self, connection: sqlite3.Connection, session: Session, moment: Moment) -> Recorded:
        is_over = bool(session.ended)
        session = session_db.save(connection, _hear(session, moment))
        batch = session_db.last_batch(connection, session)
        activity = None
        if moment.event == "prompt":
            batch = _begin_batch(connection, session, batch, moment)
            session = session_db.save(connection, session._replace(n_prompts=session.n_prompts + 1))
        elif moment.event == "after-tool" and moment.call is not None:
            batch = batch or session_db.save_batch(connection, PromptBatch(session.number, 0, started=moment.seconds))
            activity = session_db.add_activity(connection, _activity(batch, moment, moment.call))
            session = session_db.save(connection, _count(session, moment.call))
        elif moment.event in ("turn-end", "session-end"):
            batch = _end_batch(connection, batch, moment)
        recorded = Recorded(session, batch, activity, is_new=True)
        if not (is_over and moment.event == "session-end"):
            self._tell(connection, moment, recorded)
            if moment.event == "session-end":
                self._cap(session)
        return recorded

    def _tell(self, connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        for listener in self._listeners:
            connection.execute("SAVEPOINT listener")
            try:
                listener(connection, moment, recorded)
            except (StoreError, sqlite3.Error):
                raise
            except Exception:  # noqa: BLE001 - the edge of what reacts to a moment, which must not be lost for it
                _log.exception("a listener failed at %s", moment.event)
                connection.execute("ROLLBACK TO listener")
            connection.execute("RELEASE listener")

    def _cap(self, session: Session) -> None:
        """Bound the importance of what was learned where nothing was tried out, except what a person says."""
        if session.origin not in (PLANNING, INVESTIGATION):
            return
        important = [
            observation.id
            for observation in self._store.select(Conditions(session=session.id))
            if observation.importance > MOST_IMPORTANT and not observation.actor.startswith("person:")
        ]
        self._store.record([MemoryChange(id, "set", {"importance": MOST_IMPORTANT}) for id in important], _RULE)

    def end_stale(self) -> list[Session]:
        """End sessions of which nothing was heard for an hour, and return them; once a minute this looks for them."""
        now = self._now()
        if not self.keeps or not self._store.exists or abs(now - self._looked) < _LOOK_SECONDS:
            return []
        self._looked = now
        with self._store.reading() as connection:
            if not session_db.stale_sessions(connection, now - STALE_SECONDS, 1):
                return []
        with self._store.writing() as connection:
            session_db.forget_seen(connection, now - _SEEN_SECONDS)
            stale = session_db.stale_sessions(connection, now - STALE_SECONDS, _MOST_AT_ONCE)
            return [self._take(connection, session, _end_of(session)).session for session in stale]

    # -- what the user wants ------------------------------------------------------------------------------------------

    def mute(self, id: str, *, is_muted: bool = True) -> None:
        """Keep nothing of a session from now on, and delete what was kept of it; or keep it again.

        What somebody remembered in it by themselves stays.
        """
        id = session_to_keep(id)
        with self._store.writing() as connection:
            session = self._find_or_begin(connection, id)
            if is_muted:
                self._erase_captured(Conditions(session=id, origins=("captured",)), _MUTE)
                session_db.delete_content(connection, session)
                usage_db.forget_session(connection, id)
                served_db.forget_session(connection, id)
                candidate_db.forget_session(connection, id)
                self._store.erase_soon(connection)
                session = Session(id, is_fresh=session.is_fresh, number=session.number)
            session_db.save(connection, session._replace(is_muted=is_muted))

    def freshen(self, id: str, *, is_fresh: bool = True) -> None:
        """Show nothing of earlier sessions in a session, or show it again."""
        with self._store.writing() as connection:
            session = self._find_or_begin(connection, session_to_keep(id))
            session_db.save(connection, session._replace(is_fresh=is_fresh))

    def _find_or_begin(self, connection: sqlite3.Connection, id: str) -> Session:
        now = self._now()
        return session_db.find(connection, id) or Session(id, started=now, heard=now)

    def forget(self, id: str) -> None:
        """Delete a session, its digest and what was used in it; what was learned in it stays.

        Raises:
            NotFoundError: if it is unknown.
        """
        session = self.session(id)
        with self._store.writing() as connection:
            self._erase_captured(Conditions(session=session.id, origins=("captured",), types=(_DIGEST,)), _FORGET)
            session_db.delete(connection, session)
            usage_db.forget_session(connection, session.id)
            served_db.forget_session(connection, session.id)
            candidate_db.forget_session(connection, session.id)
            self._store.erase_soon(connection)

    def _erase_captured(self, wanted: Conditions, by: By) -> None:
        captured = self._store.select(wanted)
        self._store.record([MemoryChange(observation.id, "redact", {}) for observation in captured], by)

    # -- reading ------------------------------------------------------------------------------------------------------

    def session(self, id: str) -> Session:
        """Return a session by the agent's own id.

        Raises:
            NotFoundError: if it is unknown.
        """
        if (session := self.find(id)) is None:
            raise NotFoundError(f"no session has the id {session_to_keep(id)[:100]!r}", Hint("list them", "sessions"))
        return session

    def find(self, id: str) -> Session | None:
        """Return a session by the agent's own id, None if it is unknown."""
        if not self._store.exists:
            return None
        with self._store.reading() as connection:
            return session_db.find(connection, session_to_keep(id))

    def select(self, conditions: SessionConditions, limit: int | None = None, offset: int = 0) -> list[Session]:
        """Return the sessions that meet all conditions, the last heard of first."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            return session_db.select(connection, conditions, limit, offset)

    def page(self, conditions: SessionConditions, limit: int | None = None, offset: int = 0) -> SessionPage:
        """Return the same with how many sessions meet all conditions, and their agents."""
        if not self._store.exists:
            return SessionPage([], 0, [])
        with self._store.reading() as connection:
            return session_db.page(connection, conditions, limit, offset)

    def failures(self, agent: str = "", since: float = 0.0) -> list[FailedCall]:
        """Return the tool calls that failed since some time, the last one first; of one agent, if it is named."""
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            asked = agent, since
            return self._failures.get(connection, asked, lambda: session_db.failures(connection, agent, since))

    def count_memories(self, sessions: Sequence[Session]) -> dict[str, int]:
        """Return how many memories were made in each of some sessions, by their ids; those with none are left out."""
        if not sessions:
            return {}
        with self._store.reading() as connection:
            return observation_db.count_by_session(connection, [session.id for session in sessions])

    def batches(self, session: Session) -> list[PromptBatch]:
        """Return the batches of a session, in their order."""
        with self._store.reading() as connection:
            return session_db.batches(connection, session)

    def activities(self, session: Session) -> list[Activity]:
        """Return what was done in a session, in the order in which it was heard of."""
        with self._store.reading() as connection:
            return session_db.activities(connection, session)


def _digest(moment: Moment) -> bytes:
    text = "\0".join((moment.session, moment.event, moment.id))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _hear(session: Session, moment: Moment) -> Session:
    """Return a session after a moment: it may begin, go on, or end."""
    session = session._replace(
        agent=session.agent or moment.agent,
        branch=moment.branch or session.branch,
        revision=moment.revision or session.revision,
        heard=max(session.heard, moment.seconds),
    )
    if moment.event == "session-end":
        reason = moment.details.get("reason", "")
        return session if session.ended else session._replace(ended=session.heard, end_reason=reason)
    if moment.event == "session-start":
        session = session._replace(
            source=moment.details.get("source", ""), parent=moment.details.get("parent", "") or session.parent
        )
    # What trickles in after the end does not begin it again.
    if moment.event in ("session-start", "prompt") or session.end_reason == STALE:
        return session._replace(ended=0.0, end_reason="")
    return session


def _count(session: Session, call: ToolCall) -> Session:
    session = session._replace(
        n_activities=session.n_activities + 1,
        n_reads=session.n_reads + is_read(call),
        n_edits=session.n_edits + is_edit(call),
        n_failures=session.n_failures + call.is_failure,
        has_plan=session.has_plan or is_plan(call),
    )
    return session._replace(origin=origin_of(session))


def _begin_batch(
    connection: sqlite3.Connection, session: Session, last: PromptBatch | None, moment: Moment
) -> PromptBatch:
    _end_batch(connection, last, moment)
    kind = "notice" if moment.text.lstrip().startswith(_NOTICES) else "prompt"
    place = 1 if last is None else last.place + 1
    prompt = moment.text[:MAX_PROMPT_CHARS]
    return session_db.save_batch(connection, PromptBatch(session.number, place, kind, prompt, moment.seconds))


def _end_batch(connection: sqlite3.Connection, batch: PromptBatch | None, moment: Moment) -> PromptBatch | None:
    if batch is None or batch.ended:
        return batch
    return session_db.save_batch(connection, batch._replace(ended=max(batch.started, moment.seconds)))


def _activity(batch: PromptBatch, moment: Moment, call: ToolCall) -> Activity:
    return Activity(
        batch.number,
        moment.seconds,
        call.tool,
        call.name,
        call.target[:MAX_TARGET_CHARS],
        call.outcome,
        call.exit_code,
        call.duration_ms,
        call.input_bytes,
        call.output_bytes,
        call.is_failure,
    )


def _end_of(session: Session) -> Moment:
    id = f"{STALE}:{session.heard}"
    return Moment(id, "session-end", session.id, session.agent, session.heard, details={"reason": STALE})
