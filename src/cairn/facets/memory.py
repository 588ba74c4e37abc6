"""What earlier sessions learned of a project: kept, recalled, and put in order."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from cairn.facets.memory_answers import MemoryAnswers
from cairn.facets.project_index import ProjectIndex
from cairn.facets.showing import make_injector, text_to_show
from cairn.loading import load
from cairn.memory.actors import find_actor
from cairn.memory.capture import Capture
from cairn.memory.damage import note_of_loss
from cairn.memory.derived import derive
from cairn.memory.digest import Digests
from cairn.memory.events import ACTORS
from cairn.memory.exchange import Exchange
from cairn.memory.feedback import Feedback
from cairn.memory.identity import actor_to_keep, name_to_keep, session_to_keep
from cairn.memory.inbox import Inbox, Taken
from cairn.memory.injection import Injector
from cairn.memory.lifecycle import Lifecycle, NewMemory, Remembered, one_line
from cairn.memory.links import link_to
from cairn.memory.moments import Moment
from cairn.memory.recall import Recall
from cairn.memory.retention import prune
from cairn.memory.sessions import Sessions
from cairn.memory.shared_memories import SharedMemories
from cairn.memory.spool import Spool
from cairn.memory.store import By, MemoryStore
from cairn.memory.summaries import SYSTEM, Summaries
from cairn.memory.supersede import Supersession
from cairn.memory.usage import MemoryUsage, erase_words
from cairn.memory.uses import note_uses
from cairn.memory.visibility import Birthplace
from cairn.memory_settings import MemorySettings
from cairn.source.git import Repository, current_branch, head_revision, printable_name
from cairn.storage.memory.rows import Observation
from cairn.storage.memory.session_db import SessionConditions
from cairn.types import MemoryType

_SESSION_SECONDS = 600.0  # after which nobody knows whether an agent is still in its session


class Rebuilt(NamedTuple):
    """How many memories were derived again, and how many of them were not what their events say."""

    memories: int
    mended: int


class MemoryFacet:
    """The memory of a project; get it as `Workspace.memory`. Nothing is on disk until something is kept."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    @cached_property
    def store(self) -> MemoryStore:
        """Events, and what they say now."""
        if loss := note_of_loss(self._index.state):
            self._index.state.tell(loss)
        shared = SharedMemories(self._index.root, self._index.state.tell)
        return MemoryStore(self._index.state, derive, forget=self._forget, shared=shared)

    def _forget(self, connection: sqlite3.Connection, erased: Sequence[Observation]) -> None:
        """Erase what may repeat the words of memories that are being erased."""
        erase_words(connection, erased)
        self.digests.erase(erased)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """What can be done with a memory."""
        supersession = Supersession(self.store, self.recall.nearest, self._index.settings.memory)

        def replace(new: Observation) -> Sequence[Observation]:
            replaced = supersession.apply(new)
            self.digests.take_out(replaced)
            return replaced

        return Lifecycle(self.store, after_created=replace)

    @cached_property
    def recall(self) -> Recall:
        """Finds memories by what they say."""
        return Recall(self.store, self._index.root, self._index.repository, self._index.settings.chain)

    @cached_property
    def answers(self) -> MemoryAnswers:
        """Answers questions with memories."""
        return MemoryAnswers(self.store, self.recall)

    @cached_property
    def sessions(self) -> Sessions:
        """What agents did. Whatever reacts to that is a listener here."""
        listeners = [self.usage.hear, note_uses, self.feedback.hear, self.capture.hear, self.digests.hear]
        if self.summaries is not None:
            listeners.append(self.summaries.hear)
        settings = self._index.settings.memory or MemorySettings()
        unheard = self.feedback.drop_muted
        return Sessions(self.store, self._index.root, listeners, keeps=settings.capture, unheard=unheard)

    @cached_property
    def digests(self) -> Digests:
        """Writes what became of each session."""
        return Digests(self.store, self._index.root)

    @cached_property
    def summaries(self) -> Summaries | None:
        """Lets the user's chat model write summaries; None if they configured none, and then no model is ever asked."""
        settings = self._index.settings.memory
        if settings is None or not settings.chat_provider:
            return None
        ask = load("cairn.memory.chat:ChatClient")(settings).ask
        return Summaries(
            self.store, self.digests, settings, ask, self.capture, system=partial(_summary_prompt, self._index)
        )

    @cached_property
    def capture(self) -> Capture:
        """Makes memories of what happens in sessions."""
        return Capture(self.store, self.lifecycle, self._index.root)

    @cached_property
    def usage(self) -> MemoryUsage:
        """What was shown and asked, and who reports events."""
        return MemoryUsage(self.store)

    @cached_property
    def feedback(self) -> Feedback:
        """What searches of the code showed, and what was done then."""
        return Feedback(
            self.store, self._index.settings.memory or MemorySettings(), tuning=partial(_tuning, self._index)
        )

    @cached_property
    def exchange(self) -> Exchange:
        """Exports and imports."""
        return Exchange(self.store)

    @cached_property
    def inbox(self) -> Inbox:
        """Takes in what agents report."""
        return Inbox(self.sessions, self.store, Spool(self._index.root), self._index.repository)

    def take(self, moment: Moment, *, shows: bool = True) -> Taken:
        """Take in what an agent reports, and return what to show it.

        Args:
            moment: what it reports.
            shows: whether it can be shown anything now. If not, it may be later.

        Raises:
            StoreError: if it can neither be taken in nor wait on disk.
        """
        begun = time.perf_counter()
        names = session_to_keep(moment.session), name_to_keep(moment.agent)
        moment = self.inbox.locate(moment)._replace(session=names[0], agent=names[1])
        is_captured = self.inbox.take_in(moment)
        if moment.event in ("session-start", "session-end") and self.summaries is not None:
            self.summaries.begin()
        context = self.inbox.answer(lambda: text_to_show(self.injection, moment)) if shows else ""
        self.usage.note_time(moment, 1000 * (time.perf_counter() - begun))
        return Taken(is_captured, context)

    @cached_property
    def injection(self) -> Injector:
        """Composes what agents are shown unasked."""
        return make_injector(self._index, self.store, self.sessions, self.recall)

    def prune(self, *, dry_run: bool = False) -> list[Observation]:
        """Archive memories of little importance that nobody has recalled for `retention_days`, and return them.

        Args:
            dry_run: only return what would be archived.
        """
        settings = self._index.settings.memory or MemorySettings()
        return prune(self.store, settings.retention_days, time.time(), dry_run=dry_run)

    def close(self) -> None:
        """Release the database; it reopens by itself."""
        if "recall" in self.__dict__:
            self.recall.models.close()
        if self.__dict__.get("summaries") is not None:
            self.__dict__["summaries"].close()
        if "store" in self.__dict__:
            self.store.close()

    def remember(
        self,
        text: str,
        *,
        type: MemoryType = "discovery",
        files: Sequence[str] = (),
        importance: int = 5,
        tags: Sequence[str] = (),
        shared: bool = False,
        session: str = "",
        actor: str = "",
    ) -> Remembered:
        """Keep something for later sessions, with the branch and commit that are checked out.

        Args:
            text: secrets in it are taken out.
            type: what kind of memory it is.
            files: what it is about: paths, or `PATH::NAME` for definitions, as they are on disk now.
            importance: 1 to 10.
            tags: words to find it by.
            shared: whether it goes to everybody who works on the project.
            session: in which it was learned; by default the one that the agent was last heard of in, if it reports any.
            actor: who remembers, `person:NAME` or `agent:NAME`; by default whoever runs this process.

        Raises:
            RequestError: if there is nothing to remember.
            NotFoundError, AmbiguousError, PathError: if one of the files or definitions cannot be linked.
            StoreError: if it cannot be written.
        """
        by, born = by_whom(actor or find_actor().actor), _birthplace(self._index.repository)
        draft = NewMemory(
            text=text,
            type=type,
            importance=importance,
            tags=tuple(tags),
            links=tuple(link_to(self._index.root, file) for file in dict.fromkeys(files)),
            origin=by.authority,
            session=one_line(session_to_keep(session)) or _session_of(self.sessions, by),
            branch=born.branch,
            revision=born.revision,
            is_shared=shared,
        )
        return self.lifecycle.remember(draft, by)

    def rebuild(self) -> Rebuilt:
        """Fold all events again, and derive what recall searches.

        Raises:
            StoreDamagedError: if an event is not what its id says; then nothing is changed.
        """
        if not self.store.exists:
            return Rebuilt(0, 0)
        n_mended = len(self.store.refold())
        n_memories = self.recall.rebuild()
        self.recall.models.complete()
        return Rebuilt(n_memories, n_mended)


def _tuning(index: ProjectIndex, text: str) -> int:
    """Return the number of the tuning that answers a question, 0 for the shipped values."""
    return 0 if index.opened is None else index.opened.tuning_number(text)


def _summary_prompt(index: ProjectIndex) -> str:
    """Return the instructions for summaries: those of the tuning, or the shipped ones."""
    texts: Mapping[str, str] = load("cairn.search.tuning:texts_of")(index.state.path)
    return texts.get("summary", SYSTEM)


def _session_of(sessions: Sessions, by: By) -> str:
    """Return the session that an agent is in, empty where that is not known: it has just reported the call."""
    kind, _, agent = by.actor.partition(":")
    if kind != "agent":
        return ""
    recent = SessionConditions(agents=(agent,), is_open=True, since=time.time() - _SESSION_SECONDS)
    return next((session.id for session in sessions.select(recent, 1) if not session.is_muted), "")


def _birthplace(repository: Repository | None) -> Birthplace:
    """Return what is checked out now."""
    if repository is None:
        return Birthplace("", "")
    return Birthplace(printable_name(current_branch(repository) or ""), head_revision(repository) or "")


def by_whom(actor: str) -> By:
    """Return who changes something, with the authority that persons and agents have."""
    kind = actor.partition(":")[0]
    return By(actor_to_keep(actor), kind if kind in ACTORS and kind != "machine" else "rule")
