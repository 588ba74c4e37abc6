"""Keeps what searches of the code showed and what was done with it: local, without secrets, and not for ever.

Nothing is created for it: where there is no memory, nothing is kept, nor of a session that is muted.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from cairn.errors import NotFoundError
from cairn.hints import Hint
from cairn.memory.identity import session_to_keep, without_halves
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.origin import is_edit, is_read
from cairn.memory.redaction import redact
from cairn.memory.sessions import Recorded
from cairn.memory.store import MemoryStore
from cairn.memory.usage import MAX_QUESTION_CHARS
from cairn.memory_settings import MemorySettings
from cairn.storage.connection import Kept, patience, unhurried_disk, version_of
from cairn.storage.memory import feedback_db, session_db, usage_db
from cairn.storage.memory.rows import AskedQuestion, HitUse, Session, ShownHit

MOST_SHOWN = 20  # hits of one answer that are kept
MOST_QUESTIONS = 20_000  # that are kept
REACH = 10  # tools: a file that is read so soon after a question counts, though the answer did not show it
REACH_SECONDS = 2 * 3_600.0  # what comes later has nothing to do with a question
_RECENT = 10  # questions of a session that what is done is compared with
_FETCH_RECENT = 50  # questions of any session that what is fetched is compared with
_ADOPT_SECONDS = 120.0  # between a question and the report of the call that asked it
_ORPHANS = 50  # questions that such a report is compared with
_LEAST_CHARS = 3  # of a question that a command is known by
_DROP_SECONDS = 86_400.0  # between two looks for what is too old
_DROP_EVERY = 500  # questions
_MOST_DROPPED = 5_000  # at once
_DAY_SECONDS = 86_400.0
_MOST_PLAIN = 20_000
_PATIENCE_MS = 200  # nothing waits to be noted
_MAX_NAME_CHARS = 200
_BEFORE_WORD = r"[./\\@+-]{0,100}\w"  # what a longer path goes on with
_REDACTED = "[redacted:"  # in the target of a call that held a secret
_SAYING = ("turn-end", "session-end", "subagent-end")
_ASKING = ("mcp", "shell")
_USES = {"read": "read", "edit": "edited", "write": "edited"}
_PLACE = re.compile(r"(.+?)(?::([0-9]{1,9}))?(?:-[0-9]{1,9})?")
_HINT = Hint("list what was shown lately", "feedback")


class FetchedPlace(NamedTuple):
    """A piece of code that was asked for by its id: the id, its file, and what it defines."""

    id: str
    path: str
    symbol: str = ""


class AnsweredQuestion(NamedTuple):
    """A question with what its answer showed, the best first, and what was done then, the first thing first."""

    question: AskedQuestion
    shown: tuple[ShownHit, ...]
    uses: tuple[HitUse, ...]


class MarkedHit(NamedTuple):
    """What somebody called good or bad: the file and the definition, or the memory, and the question it answered."""

    path: str
    symbol: str
    question: str = ""
    session: str = ""


class FeedbackCounts(NamedTuple):
    """How many questions there were, how many found nothing and how many led to something; how files were used."""

    n_asked: int
    n_empty: int
    n_used: int
    by_use: dict[str, int]


class Feedback:
    """What searches of the code showed, and what was done then. Threads may share this; so may processes.

    Args:
        store: the memory.
        settings: whether anything is kept, and for how long.
        now: the machine's clock, in seconds since the epoch.
        tuning: returns the number of the tuning that answers a question.
    """

    def __init__(
        self,
        store: MemoryStore,
        settings: MemorySettings,
        now: Callable[[], float] = time.time,
        tuning: Callable[[str], int] = lambda text: 0,
    ) -> None:
        self._store, self._settings, self._now, self._tuning = store, settings, now, tuning
        self.keeps = settings.capture and settings.feedback
        self._looked = 0.0  # for what is too old
        self._counts = Kept[FeedbackCounts]()
        self._plain: set[str] = set()  # paths and names that hold no secrets: the same ones are shown again and again

    # -- what is asked ------------------------------------------------------------------------------------------------

    def note_answer(self, asked: AskedQuestion, hits: Sequence[ShownHit], memories: Sequence[str] = ()) -> None:
        """Note a question about the code and what its answer showed, unless that is not wanted.

        Args:
            asked: the question; when, by which words and in which session is made fit to be kept.
            hits: the best first; of these the first 20.
            memories: the ids of those that stood beside.

        Raises:
            StoreLockedError: at once, if another process writes.
            StoreError: if it cannot be written.
        """
        if not self.keeps or not self._store.exists:
            return
        now = self._now()
        text = redact(without_halves(asked.text[: 2 * MAX_QUESTION_CHARS])).text[:MAX_QUESTION_CHARS]
        fit = list(self._fit(hits[:MOST_SHOWN]))
        with self._in_haste() as connection:
            session, place = _whose(connection, session_to_keep(asked.session), now)
            if session is None:
                return
            question = asked._replace(
                session=session, seconds=now, kind="code", text=text, tuning=self._tuning(asked.text), place=place
            )
            number = usage_db.add_question(connection, question, memories)
            feedback_db.add_shown(connection, number, fit)
            if number % _DROP_EVERY == 0 or not 0 <= now - self._looked < _DROP_SECONDS:
                self._looked = now
                self._drop_old(connection, now)

    def _drop_old(self, connection: sqlite3.Connection, now: float) -> None:
        before = now - self._settings.feedback_days * _DAY_SECONDS
        memories_before = now - max(self._settings.feedback_days, self._settings.retention_days) * _DAY_SECONDS
        feedback_db.drop_old(connection, before, MOST_QUESTIONS, memories_before, _MOST_DROPPED)

    def note_fetched(self, session: str, places: Collection[FetchedPlace]) -> None:
        """Note that pieces of code were asked for, at the last question that showed them.

        Args:
            session: in which, empty if nobody says: then it is the last question of any session.
            places: what was fetched.

        Raises:
            StoreError: as `note_answer`.
        """
        if not self.keeps or not self._store.exists or not places:
            return
        now = self._now()
        with self._in_haste() as connection:
            name, _ = _whose(connection, session_to_keep(session), now)
            if name is None:
                return
            since = now - REACH_SECONDS
            asked = feedback_db.newest(connection, session=name or None, since=since, limit=_FETCH_RECENT)
            known = feedback_db.shown(connection, [question.number for question in asked])
            uses = []
            for place in places:
                number = _shown_by_id(asked, known, place) if place.id else None
                if number is None and name:
                    number = _answering(asked, known, place.path, len(asked[:1]))
                if number is not None and _is_fit(place.path):
                    symbol = place.symbol[:_MAX_NAME_CHARS]
                    uses.append(HitUse(number, place.path, redact(symbol).text, "fetched", now))
            feedback_db.add_uses(connection, uses)

    def _fit(self, hits: Sequence[ShownHit]) -> Iterator[ShownHit]:
        """Yield hits without those whose path holds a secret; they keep their ranks."""
        hits = [
            hit._replace(path=without_halves(hit.path), symbol=without_halves(hit.symbol[:_MAX_NAME_CHARS]))
            for hit in hits
        ]
        fresh = {text for hit in hits for text in (hit.path, hit.symbol)} - self._plain
        whole = "\n".join(fresh)
        is_plain = not fresh or redact(whole).text == whole
        if is_plain and len(self._plain) < _MOST_PLAIN:
            self._plain |= fresh
        for hit in hits:
            if is_plain:
                yield hit
            elif _is_fit(hit.path):
                yield hit._replace(symbol=redact(hit.symbol).text)

    @contextmanager
    def _in_haste(self) -> Iterator[sqlite3.Connection]:
        """Write without waiting, neither for another process nor for the disk."""
        with (
            self._store.reading() as connection,
            patience(connection, _PATIENCE_MS),
            unhurried_disk(connection),
            self._store.writing(),
        ):
            yield connection

    # -- what is done -------------------------------------------------------------------------------------------------

    def hear(self, connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        """Note what is done with what a session was shown; a listener of `Sessions`."""
        call = moment.call if moment.event == "after-tool" else None
        says = moment.event in _SAYING and bool(moment.text)
        if not self.keeps or not (says if call is None else call.tool in (*_ASKING, *_USES)):
            return
        if call is not None and call.tool in _ASKING:  # also one that failed, as a search that finds nothing may
            for number in _asked_by(connection, call, moment.seconds):
                feedback_db.adopt(connection, number, moment.session, recorded.session.n_activities)
        if call is not None and (call.is_failure or call.outcome == "denied"):
            return
        if asked := _recent(connection, moment):
            is_touch = call is not None and call.tool in _USES
            find = _touched if is_touch else _named
            feedback_db.add_uses(connection, find(connection, asked, moment, recorded.session))

    def drop_muted(self, connection: sqlite3.Connection, moment: Moment) -> None:
        """Delete what a muted session asked, once it reports that it did: before, nobody knew whose question it is."""
        if moment.event == "after-tool" and moment.call is not None and moment.call.tool in _ASKING:
            feedback_db.delete(connection, _asked_by(connection, moment.call, moment.seconds))

    # -- what is said -------------------------------------------------------------------------------------------------

    def mark(self, name: str, verdict: str, session: str = "") -> MarkedHit:
        """Note that somebody calls a hit good or bad, at the last question whose answer showed it.

        Args:
            name: the id of a hit, or `PATH`, or `PATH:LINE`, from the root of the project.
            verdict: `good` or `bad`.
            session: in which it was shown, empty for any.

        Raises:
            NotFoundError: if no answer that is kept showed it.
            StoreError: if it cannot be written.
        """
        if self._store.exists:
            with self._store.writing() as connection:
                whose = _named_session(connection, session_to_keep(session), self._now()) or None
                asked = feedback_db.newest(connection, session=whose, limit=1_000)
                for question in asked:  # the newest first: nearly always the first few
                    hits = feedback_db.shown(connection, [question.number]).get(question.number, [])
                    if hit := next((hit for hit in hits if _is_named(hit, name)), None):
                        use = HitUse(question.number, hit.path, hit.symbol, verdict, self._now())
                        feedback_db.add_verdict(connection, use)
                        return MarkedHit(hit.path, hit.symbol, question.text, question.session)
        raise NotFoundError(f"no answer that is kept showed {name[:200]!r}", _HINT)

    def mark_memory(self, id: str, verdict: str, session: str = "") -> MarkedHit:
        """Note that somebody calls a memory good or bad, where it was shown last.

        Args:
            id: of the memory, or its handle.
            verdict: `good` or `bad`.
            session: in which it was shown, empty for any.

        Raises:
            NotFoundError: if there is no such memory, or it was shown to nobody unasked.
            StoreError: if it cannot be written.
        """
        memory = self._store.observation(id)
        use = "helpful" if verdict == "good" else "unhelpful"
        with self._store.writing() as connection:
            whose = _named_session(connection, session_to_keep(session), self._now())
            shown_in = usage_db.mark_newest(connection, memory.id, whose, use)
        if shown_in is None:
            raise NotFoundError(f"no session was shown {id[:100]!r} unasked", Hint("see which were", "memories show"))
        return MarkedHit("", "", session=shown_in)

    # -- reading ------------------------------------------------------------------------------------------------------

    def answered(
        self, *, session: str = "", since: float = 0.0, limit: int | None = None, empty_only: bool = False
    ) -> list[AnsweredQuestion]:
        """Return questions with what was shown and done, the newest first.

        Args:
            session: of this session alone, empty for all.
            since: in seconds since the epoch.
            limit: at most so many.
            empty_only: only those that found nothing.
        """
        if not self._store.exists:
            return []
        with self._store.reading() as connection:
            whose = _named_session(connection, session_to_keep(session), self._now()) or None
            asked = feedback_db.newest(connection, session=whose, since=since, limit=limit, empty_only=empty_only)
            numbers = [question.number for question in asked]
            known, uses = feedback_db.shown(connection, numbers), feedback_db.uses(connection, numbers)
        return [
            AnsweredQuestion(question, tuple(known.get(question.number, ())), tuple(uses.get(question.number, ())))
            for question in asked
        ]

    @property
    def version(self) -> object:
        """What differs once anything else was noted; None where nothing can be."""
        if not self._store.exists:
            return None
        with self._store.reading() as connection:
            return version_of(connection)

    def name_of(self, session: str) -> str:
        """Return a session as the memory calls it: hooks report an agent's own id behind the name of the agent."""
        if not self._store.exists:
            return session
        with self._store.reading() as connection:
            return _named_session(connection, session_to_keep(session), self._now())

    def counts(self, since: float = 0.0, session: str = "") -> FeedbackCounts:
        """Return how much there is.

        Args:
            since: in seconds since the epoch.
            session: in which, as the memory calls it; empty for all, which are kept until something changes.
        """
        if not self._store.exists:
            return FeedbackCounts(0, 0, 0, {})
        with self._store.reading() as connection:
            if session:
                return _counts(connection, since, session)
            return self._counts.get(connection, since, lambda: _counts(connection, since, ""))


def _counts(connection: sqlite3.Connection, since: float, session: str) -> FeedbackCounts:
    by_use = feedback_db.counts_by_use(connection, since, session)
    return FeedbackCounts(*feedback_db.counts(connection, since, session), by_use)


# -- whose question it is ----------------------------------------------------------------------------------------------


def _whose(connection: sqlite3.Connection, session: str, now: float) -> tuple[str | None, int]:
    """Return the session as the memory calls it, None if it is muted, and how many tools it has used."""
    if not session:
        return "", 0
    name = _named_session(connection, session, now)
    known = session_db.find(connection, name)
    if known is not None and known.is_muted:
        return None, 0
    return name, 0 if known is None else known.n_activities


def _named_session(connection: sqlite3.Connection, session: str, now: float) -> str:
    """Return a session as the memory calls it: hooks report an agent's own id behind the name of the agent."""
    if not session or ":" in session or session_db.find(connection, session) is not None:
        return session
    since = now - 100 * REACH_SECONDS
    return feedback_db.session_ending(connection, session, since) or session


def _asked_by(connection: sqlite3.Connection, call: ToolCall, seconds: float) -> list[int]:
    """Return the numbers of questions that nobody is known to have asked and that this call of a tool did ask."""
    if call.tool == "shell" and "cairn" not in call.target:
        return []
    found = feedback_db.orphans(connection, seconds - _ADOPT_SECONDS, _ORPHANS)
    numbers = []
    for number, text in found:
        is_same = call.target.startswith(text) if call.tool == "mcp" else text in call.target
        if len(text) >= _LEAST_CHARS and is_same:
            numbers.append(number)
    return numbers


def _recent(connection: sqlite3.Connection, moment: Moment) -> list[AskedQuestion]:
    since = moment.seconds - REACH_SECONDS
    asked = feedback_db.newest(connection, session=moment.session, since=since, limit=_RECENT)
    # A moment may have waited on disk: what was asked after it was not asked before it.
    return [question for question in asked if question.seconds <= moment.seconds + 1.0]


# -- what is done with what was shown ----------------------------------------------------------------------------------


def _answering(
    asked: Sequence[AskedQuestion], known: dict[int, list[ShownHit]], path: str, n_reached: int
) -> int | None:
    """Return the last question that showed a file; if none did, the last one, if it is among the first `n_reached`."""
    for question in asked:
        if any(hit.path == path for hit in known.get(question.number, ())):
            return question.number
    return asked[0].number if n_reached else None


def _shown_by_id(asked: Sequence[AskedQuestion], known: dict[int, list[ShownHit]], place: FetchedPlace) -> int | None:
    for question in asked:
        if any(hit.id == place.id for hit in known.get(question.number, ())):
            return question.number
    return None


def _touched(
    connection: sqlite3.Connection, asked: Sequence[AskedQuestion], moment: Moment, session: Session
) -> list[HitUse]:
    """Return what a tool that reads or edits one file did with it: at the last question that showed it, or the last."""
    target, tool = ("", "") if moment.call is None else (moment.call.target, moment.call.tool)
    path = os.path.normpath(target).replace(os.sep, "/") if target else ""
    if not path or path.startswith(("/", "..", "~")) or _REDACTED in path:
        return []
    use = _USES[tool]
    number = feedback_db.last_showing(connection, [question.number for question in asked], path)
    if number is None and (use == "edited" or session.n_activities - asked[0].place <= REACH):
        number = asked[0].number
    return [] if number is None else [HitUse(number, path, "", use, moment.seconds)]


def _named(connection: sqlite3.Connection, asked: Sequence[AskedQuestion], moment: Moment, _: Session) -> list[HitUse]:
    """Return what was done with files that were shown by a command or a tool of ours, or said of them."""
    numbers = [question.number for question in asked]
    paths = feedback_db.paths_shown(connection, numbers)
    call, use = moment.call, ""
    if call is None:
        use, found = "cited", _named_in(moment.text, paths)
    elif call.tool == "mcp":
        use, found = "fetched", _fetched_by(call.target, feedback_db.shown(connection, numbers))
    else:
        use, found = "edited" if is_edit(call) else "read" if is_read(call) else "", _named_in(call.target, paths)
    return [HitUse(paths[path], path, "", use, moment.seconds) for path in found if use]


def _fetched_by(target: str, known: dict[int, list[ShownHit]]) -> list[str]:
    """Return the files of the hits that a tool of ours is handed, if it is handed nothing but hits."""
    names = target.split()
    found = [
        next((hit.path for hits in known.values() for hit in hits if _is_named(hit, name)), None) for name in names
    ]
    paths = [path for path in found if path is not None]
    return list(dict.fromkeys(paths)) if len(paths) == len(names) else []


def _named_in(text: str, paths: Iterable[str]) -> list[str]:
    """Return the files that a text names."""
    return [path for path in paths if path in text and _stands_alone(path, text)]


def _stands_alone(path: str, text: str) -> bool:
    """Tell whether a text has a path as a whole, maybe behind `./` or a folder above, and a line or a stop after it."""
    return re.search(rf"(?<![\w@+-]){re.escape(path)}(?!{_BEFORE_WORD})", text) is not None


def _is_named(hit: ShownHit, name: str) -> bool:
    """Tell whether a hit is meant by its id, its path, or a line in it."""
    if hit.id and hit.id == name:
        return True
    match = _PLACE.fullmatch(name)
    if match is None or (hit.path != match[1] and hit.path != name):
        return False
    return match[2] is None or hit.path == name or hit.first_line <= int(match[2]) <= hit.last_line


# -- what is fit to be kept --------------------------------------------------------------------------------------------


def _is_fit(path: str) -> bool:
    return redact(without_halves(path)).text == path
