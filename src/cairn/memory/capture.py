"""Makes memories of what happens in sessions, by rule and at once: failures that were fixed, and what was stated."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from cairn.errors import CairnError
from cairn.memory.actors import SAID_BY_USER
from cairn.memory.choosing import IMPORTANT
from cairn.memory.lifecycle import Lifecycle, NewMemory, clean
from cairn.memory.links import link_to
from cairn.memory.moments import MAX_TEXT_CHARS, Moment
from cairn.memory.objections import objections
from cairn.memory.origin import INVESTIGATION, MOST_IMPORTANT, PLANNING
from cairn.memory.sessions import Recorded
from cairn.memory.statements import AGENT, USER, Statement, find_cause, find_statements, whole
from cairn.memory.store import By, MemoryStore
from cairn.memory.summaries import UnsureMemory
from cairn.memory.targets import MARK, parse_target
from cairn.memory.trail import OPEN, Proposal, Trail, key_of
from cairn.source.walk import read_file
from cairn.storage.memory import candidate_db, session_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CapturedCandidate, CodeLink, Observation, Session

CONFIDENT = 0.7  # from here on it is a memory
BY = By("rule:capture", "rule")
BY_WORD = By(SAID_BY_USER, "rule")

_AGAIN = 0.75  # how sure it is that a failure matters that two sessions left open
_KEPT_SECONDS = 90 * 86_400.0  # candidates; two sessions may be that far apart
_MAX_LINKS = 5
_MAX_PROMPT_CHARS = 2_000
_MAX_CAUSE_CHARS = 300
_ALIKE = 0.7  # share of words from which two statements say the same
_IMPORTANCE = {"decision": 6, "trade_off": 5, "gotcha": 6, "discovery": 5}
_PATH = re.compile(r"[\w@.+-]+(?:/[\w@.+-]+)+|[\w-]+\.[a-z]{1,5}\b")
_WORD = re.compile(r"\w{3,}|\d+")
_LABEL = re.compile(r"^(?:the )?(?:root |actual |real )?cause: ", re.IGNORECASE)  # ours stands there
# How people begin what they put right, or say by the way; a later reader is told neither yes nor no.
_LEAD = re.compile(
    r"^(?:(?:no|no no|nope|wrong|that['\u2019]?s (?:wrong|incorrect|not right|not true)"
    r"|also|oh|ok|okay|hey|hi|great|thanks|btw|by the way|fyi|and)[,:] "
    r"|(?:also|oh|ok|okay|hey|btw|by the way) (?=\w+ \w))+",
    re.IGNORECASE,
)
# What a statement names is looked for in the files that its session edited or read.
_NAME = re.compile(r"`([A-Za-z_]\w*(?:(?:\.|::|#)\w+[?!]?)*)(?:\(\))?`")
_NAME_PARTS = re.compile(r"\.|::|#")
_MOST_NAMES, _MOST_FILES, _MOST_PARSED, _MAX_BYTES = 3, 8, 4, 500_000


class Capture:
    """Listens to sessions, and remembers what they learn.

    Args:
        store: the memory.
        lifecycle: makes the memories.
        root: of the project, so that memories are tied to its files.
    """

    def __init__(self, store: MemoryStore, lifecycle: Lifecycle, root: Path) -> None:
        self._store, self._lifecycle, self._root = store, lifecycle, root

    def hear(self, connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        """React to a moment that a session took in, in its transaction."""
        if moment.event in ("before-tool", "session-start", "before-compaction", "subagent-start"):
            return
        body = candidate_db.read_trail(connection, moment.session)
        trail = Trail.from_json(body) if body else Trail()
        for proposal in self._react(trail, moment, recorded):
            id = self._keep(connection, proposal, moment, recorded)
            if id and proposal.type == "bug_fix":
                trail.fixes.append(id)
        if moment.event == "session-end":
            self._look_back(connection, trail, moment, recorded)
        now = "" if moment.event == "session-end" else trail.to_json()
        if now != body:
            candidate_db.write_trail(connection, moment.session, now, moment.seconds)

    def _react(self, trail: Trail, moment: Moment, recorded: Recorded) -> list[Proposal]:
        if moment.event == "after-tool" and moment.call is not None:
            return trail.take(moment.call, str(self._root))
        if moment.event == "prompt":
            if recorded.batch is not None and recorded.batch.kind == "notice":
                return []
            trail.ask(moment.text)
            said = whole(moment.text, _MAX_PROMPT_CHARS)
            return [_proposal(statement, USER) for statement in find_statements(said, USER)]
        cause = self._explain(trail, moment.text)
        statements = find_statements(whole(moment.text, MAX_TEXT_CHARS), AGENT)
        return [_proposal(statement, AGENT) for statement in statements if not cause or cause not in statement.text]

    def _explain(self, trail: Trail, text: str) -> str:
        """Add to the memory of a fix why it was needed, where the agent says so; return what was added."""
        fixes, trail.fixes = trail.fixes, []
        cause = find_cause(text) if len(fixes) == 1 else ""
        if cause:
            said = _LABEL.sub("", cause)
            observation = self._store.observation(fixes[0])
            if " Cause: " in observation.text or observation.is_redacted:
                return ""
            self._lifecycle.edit(observation.id, BY, text=f"{observation.text} Cause: {said[:_MAX_CAUSE_CHARS]}")
        return cause

    # -- what somebody else decides on --------------------------------------------------------------------------------

    def of_session(self, session: str) -> list[UnsureMemory]:
        """Return the candidates of a session that nobody decided on, the surest first."""
        with self._store.reading() as connection:
            rows = candidate_db.of_session(connection, session)
        rows.sort(key=lambda row: -row.confidence)
        return [UnsureMemory(row.number, row.type, row.text) for row in rows]

    def settle(self, session: str, id: int, type: str | None, by: By) -> None:
        """Make a memory of a type of a candidate of a session; None drops it.

        Raises:
            StoreError: if it cannot be written.
        """
        with self._store.writing() as connection:
            rows = [row for row in candidate_db.of_session(connection, session) if row.number == id]
            for row in rows:
                candidate_db.delete(connection, [row.number])
                known = session_db.find(connection, session) or Session(session)
                if type is not None and not known.is_muted:
                    proposal = Proposal(row.outcome, type, row.text, row.confidence, row.importance, row.paths, row.key)
                    made, _ = self._remember(proposal, known, by)
                    candidate_db.save(connection, row._replace(type=type, text="", paths=(), observation=made))

    # -- what is kept -------------------------------------------------------------------------------------------------

    def _keep(self, connection: sqlite3.Connection, proposal: Proposal, moment: Moment, recorded: Recorded) -> str:
        """Keep a proposal as a memory or as a candidate; return the id of a memory that was made."""
        before = candidate_db.of_key(connection, proposal.key)
        made, is_new = "", False
        if proposal.confidence >= CONFIDENT:
            if (same := self._same(before, proposal, moment.session)) is not None:
                self._tie(same, proposal.paths)
                return ""
            is_said = moment.event == "prompt" and not proposal.outcome
            made, is_new = self._remember(proposal, recorded.session, BY_WORD if is_said else BY)
            is_over = [row.number for row in before if not row.observation]
            candidate_db.delete(connection, is_over)
        elif any(row.session == moment.session and row.confidence > proposal.confidence for row in before):
            return ""
        text = "" if made else clean(proposal.text)
        paths = () if made else proposal.paths
        candidate_db.save(
            connection,
            CapturedCandidate(
                proposal.key, moment.session, proposal.outcome, proposal.type, text, proposal.confidence,
                proposal.importance, paths, moment.seconds, made,
            ),
        )  # fmt: skip
        return made if is_new else ""

    def _remember(self, proposal: Proposal, session: Session, by: By) -> tuple[str, bool]:
        is_capped = session.origin in (PLANNING, INVESTIGATION)
        links = self._links([*proposal.paths, *_PATH.findall(proposal.text)])
        if not proposal.outcome:
            definitions = self._definitions(proposal.text, session, [link.path for link in links])
            known = {link.path for link in definitions}
            links = [*definitions, *(link for link in links if link.path not in known)]
        is_for_all = by == BY_WORD and proposal.type == "decision" and not links
        draft = NewMemory(
            text=proposal.text,
            type=proposal.type,
            importance=min(proposal.importance, MOST_IMPORTANT) if is_capped else proposal.importance,
            links=tuple(links),
            origin="captured",
            session=session.id,
            branch="" if is_for_all else session.branch,  # what the user wants of all work holds wherever it was said
            revision="" if is_for_all else session.revision,
        )
        remembered = self._lifecycle.remember(draft, by)
        return remembered.observation.id, remembered.is_new

    def _links(self, paths: Iterable[str]) -> list[CodeLink]:
        links: list[CodeLink] = []
        for path in dict.fromkeys(paths):
            if len(links) < _MAX_LINKS and (self._root / path).is_file():
                try:
                    links.append(link_to(self._root, path))
                except CairnError:  # out of the project, no text, too large
                    continue
        return links

    def _definitions(self, text: str, session: Session, paths: Sequence[str]) -> list[CodeLink]:
        """Return links to the definitions that a text names, of its files, or of those that its session looked at."""
        names = list(dict.fromkeys(_NAME.findall(text)))[:_MOST_NAMES]
        if not names:
            return []
        if not paths:
            with self._store.reading() as connection:
                targets = session_db.looked_at(connection, session, _MOST_FILES)
            paths = [parse_target(target)[0] for target in targets]
        contents: dict[str, bytes] = {}
        for path in dict.fromkeys(paths[:_MOST_FILES]):
            with suppress(OSError):  # it is not there, or not to be read
                contents[path] = read_file(self._root, path, _MAX_BYTES)
        places = [
            f"{path}{MARK}{name}"
            for name in names
            for path, content in contents.items()
            if _NAME_PARTS.split(name)[-1].encode() in content
        ]
        links: list[CodeLink] = []
        for place in places[:_MOST_PARSED]:
            with suppress(CairnError):  # it is not defined there, or several times
                links.append(link_to(self._root, place))
        return links

    def _tie(self, observation: Observation, paths: Iterable[str]) -> None:
        known = {link.path for link in observation.links}
        for link in self._links(path for path in paths if path not in known):
            self._lifecycle.link(observation.id, link, BY)

    def _same(self, before: list[CapturedCandidate], proposal: Proposal, session: str) -> Observation | None:
        """Return the active memory that says what a proposal does."""
        for row in before:
            if row.observation:
                (observation,) = self._store.observations([row.observation])
                if observation.status == "active" and observation.type == proposal.type and not observation.is_redacted:
                    return observation
        if proposal.outcome:
            return None
        words = _words(proposal.text)
        active = Conditions(statuses=("active",), types=(proposal.type,), session=session)
        for observation in self._store.select(active):
            theirs = _words(observation.text)
            is_alike = len(words & theirs) >= _ALIKE * len(words | theirs) and _numbers(words) == _numbers(theirs)
            if is_alike and not objections(proposal.text, observation.text):
                return observation
        return None

    def _look_back(self, connection: sqlite3.Connection, trail: Trail, moment: Moment, recorded: Recorded) -> None:
        """At the end of a session, remember failures that it left open, as an earlier one did."""
        candidate_db.trim(connection, moment.seconds - _KEPT_SECONDS)
        left = {broken.key for broken in trail.failures}
        rows = candidate_db.of_session(connection, moment.session)
        candidate_db.delete(connection, [row.number for row in rows if row.outcome == OPEN and row.key not in left])
        for row in rows:
            others = [other for other in candidate_db.of_key(connection, row.key) if other.session != row.session]
            if row.outcome == OPEN and row.key in left and any(other.outcome == OPEN for other in others):
                text = f"{row.text} Two sessions met this and left it open."
                again = Proposal("", "gotcha", text, _AGAIN, row.importance, row.paths, row.key)
                self._keep(connection, again, moment, recorded)


def _proposal(statement: Statement, by: str) -> Proposal:
    if by == USER:
        statement = statement._replace(text=_LEAD.sub("", statement.text))
    importance = _IMPORTANCE[statement.type] + (by == USER)
    if by == USER and statement.type == "decision":
        importance = IMPORTANT  # what the user wants of all work is shown to the next session
    key = key_of(statement.type, " ".join(sorted(_words(statement.text))), keeps_numbers=True)
    return Proposal("", statement.type, statement.text, statement.confidence, importance, (), key)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _numbers(words: set[str]) -> set[str]:
    """Return the words that say a number: by another one, a statement says something else."""
    return {word for word in words if any(letter.isdigit() for letter in word)}
