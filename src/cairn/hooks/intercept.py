"""Answers uses of tools: collects what an agent may be shown, in time or not at all.

Parts, such as `cairn.hooks.reads`, know what to say. This module decides whether the agent gets it: if it is ready in
time, if the session has room for it, and if it was not said before. Whatever is shown is recorded first. Nothing is
ever raised: an agent without an answer just works on as it would without Cairn.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Condition, Lock
from typing import TYPE_CHECKING

from cairn.hooks.adapter import Ability
from cairn.hooks.occasion import Occasion, Offer, Part, id_of, ledger_of, occasion_of, session_of
from cairn.hooks.report import SILENCE, Happening, Reply, ToolUse
from cairn.hooks.session_state import SessionState, SessionStates
from cairn.hooks_settings import HooksSettings
from cairn.index.isolation import warm
from cairn.loading import load
from cairn.memory.served import ServedAnswers
from cairn.source.text import count_tokens
from cairn.storage.memory.rows import ServedAnswer
from cairn.waiting import Asker

if TYPE_CHECKING:
    from cairn.workspace import Workspace

ANSWER_SECONDS = 0.05
READ_SECONDS = 0.15  # there is more to gain if that saves the reading of a whole file
LATE_SECONDS = 60.0  # how long a late answer is still worth giving
TWIN_SECONDS = 2.0  # within which a repeated use is the same question
_THREADS = 4
_MOST_WAITING = 8  # uses; if more are waiting, an agent is not kept waiting
_TOOLS = ("read", "edit", "write", "search", "list", "shell", "mcp")
# The parts, each called with the workspace and the settings; `searches` comes before `reads`, which it helps.
_PARTS = (
    "cairn.hooks.searches:Searches",
    "cairn.hooks.followups:FollowUps",
    "cairn.hooks.reads:Reads",
    "cairn.hooks.edits:Edits",
)
_log = logging.getLogger("cairn.hooks")


class _PendingReply:
    """An answer in progress, for which somebody waits for a limited time.

    Args:
        asked: when it was requested, in seconds since the epoch.
    """

    def __init__(self, asked: float) -> None:
        self.asked = asked
        self._changed = Condition()
        self._reply: Reply | None = None
        self._is_late = False
        self.asker = Asker(in_haste=True)

    @property
    def is_wanted(self) -> bool:
        """Whether somebody is still waiting."""
        return not self._is_late

    def settle(self, reply: Reply, note: Callable[[], None] | None = None) -> bool:
        """Set the answer, unless there is one; return whether anybody gets it.

        Args:
            reply: the answer.
            note: called before the answer is handed out, if somebody gets it.
        """
        with self._changed:
            if self._reply is None and not self._is_late:
                if note is not None:
                    note()
                self._reply = reply
                self._changed.notify_all()
            return not self._is_late

    def wait(self, seconds: float) -> Reply:
        """Wait for the answer; after a timeout return silence, now and later."""
        with self._changed:
            self._changed.wait_for(lambda: self._reply is not None or self._is_late, seconds)
            if self._reply is None:
                self._is_late = True
                self.asker.leave()
                return SILENCE
            return self._reply


class Interceptor:
    """Answers uses of tools in one project. Threads may share it; close it before the workspace.

    Args:
        workspace: the project, open.
        settings: by default those of the workspace.
        now: the machine's clock, in seconds since the epoch.
        parts: the parts in order; by default all of them.
        seconds: how long an agent waits; by default 50 ms, and 150 ms for a read that may be replaced.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: HooksSettings | None = None,
        now: Callable[[], float] = time.time,
        parts: Sequence[Part] | None = None,
        seconds: float | None = None,
    ) -> None:
        self._settings = settings or workspace.settings.hooks or HooksSettings()
        self._root, self._now, self._seconds = str(workspace.root), now, seconds
        self._parts = [load(place)(workspace, self._settings) for place in _PARTS] if parts is None else list(parts)
        self._served = ServedAnswers(workspace.memory.store, workspace.memory.sessions)
        self._states = SessionStates()
        self._threads = ThreadPoolExecutor(_THREADS, "cairn-hooks")
        self._n_waiting = 0
        self._counting = Lock()

    def close(self) -> None:
        """Stop all work; nothing is answered afterwards."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def before(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
        """Return what to answer before a tool runs.

        Args:
            happening: a `before-tool`.
            abilities: what the agent accepts in answer to it.
        """
        return self._ask(happening, abilities, is_over=False)

    def after(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
        """Return what to answer after a tool ran, without repeating what was answered before it ran.

        Args:
            happening: an `after-tool`.
            abilities: as for `before`.
        """
        return self._ask(happening, abilities, is_over=True)

    def hear(self, happening: Happening) -> None:
        """Forget what an agent no longer has, or sessions that have ended.

        Args:
            happening: any other event.
        """
        ledger = ledger_of(happening)
        source = happening.moments[0].details.get("source", "") if happening.moments else ""
        if happening.event in ("session-end", "subagent-end"):
            self._states.drop(session_of(happening), ledger)
        elif happening.event == "before-compaction" or (happening.event == "session-start" and source != "resume"):
            self._states.forget(ledger)
        if happening.event in ("session-start", "prompt"):
            self._warm()

    def _warm(self) -> None:
        """Start a parser process while the agent is still thinking, since that takes longer than an agent waits."""
        with suppress(RuntimeError):  # closed
            self._threads.submit(warm)

    # -- asking -------------------------------------------------------------------------------------------------------

    def _ask(self, happening: Happening, abilities: Collection[Ability], *, is_over: bool) -> Reply:
        if happening.use is None or happening.use.tool not in _TOOLS or self._n_waiting >= _MOST_WAITING:
            return SILENCE
        try:
            reply = self._answer_of(happening, happening.use, abilities, is_over=is_over).wait(
                self._patience(happening, abilities)
            )
        except Exception as error:  # noqa: BLE001 - the edge: no agent is kept from its work by what we do not say
            _log.warning("nothing is said to %s of %s: %r", happening.use.name[:50], session_of(happening)[:100], error)
            return SILENCE
        if is_over:
            self._warm()
        return reply

    def _patience(self, happening: Happening, abilities: Collection[Ability]) -> float:
        """Return how many seconds an agent may have to wait."""
        if self._seconds is not None:
            return self._seconds
        may_read = happening.use is not None and happening.use.tool in ("read", "shell")
        may_replace = self._settings.reads_by(happening.session.partition(":")[0]) in ("auto", "replace")
        return READ_SECONDS if may_read and may_replace and "denial" in abilities else ANSWER_SECONDS

    def _answer_of(
        self, happening: Happening, use: ToolUse, abilities: Collection[Ability], *, is_over: bool
    ) -> _PendingReply:
        """Return the pending answer to a use, the same one if it is asked for twice."""
        state = self._states.of(session_of(happening), ledger_of(happening))
        name = id_of(use)
        answer = _PendingReply(self._now())
        if use.id:  # some agents ask twice at once, and some models reuse an id for a later use
            known: _PendingReply = state.replies.put_new(f"{name}\0{is_over}", answer)
            if known is not answer and abs(answer.asked - known.asked) <= TWIN_SECONDS:
                return known
            state.replies.put(f"{name}\0{is_over}", answer)
        was_asked = is_over and name in state.asked
        if not is_over and "context" in abilities:
            state.asked.put(name, value=True)

        def occasion() -> Occasion:
            found = occasion_of(happening, use, abilities, self._root, now=self._now(), is_over=is_over)
            return found._replace(was_asked=was_asked)

        with self._counting:
            self._n_waiting += 1
        self._threads.submit(self._work, occasion, state, answer)
        return answer

    def _work(self, occasion: Callable[[], Occasion], state: SessionState, answer: _PendingReply) -> None:
        """Produce an answer; this runs in our own thread."""
        try:
            with answer.asker.serve():
                answer.asker.check()
                self._make(occasion(), state, answer)
        except Exception as error:  # noqa: BLE001 - as in `_ask`
            if answer.is_wanted:
                _log.warning("nothing is said in time or at all: %s: %s", type(error).__name__, error)
        finally:
            with self._counting:
                self._n_waiting -= 1
            answer.settle(SILENCE)  # unless it was settled

    def _make(self, occasion: Occasion, state: SessionState, answer: _PendingReply) -> None:
        keeps = self._served.keeps(occasion.session)
        if not state.is_restored:
            self._restore(occasion, state)
        occasion = occasion._replace(can_deny=occasion.can_deny and keeps)
        late = _take_late(occasion, state)
        offers = [offer for part in self._parts if (offer := part.answer(occasion, state)) is not None]
        offers = self._affordable([*offers, *late], state)
        if not offers:
            return
        if not answer.is_wanted:
            state.late.extend(offer for offer in offers if offer.is_lasting)
            return
        reply = _joined([offer.reply for offer in offers])
        for offer in offers:
            if keeps and offer.row is not None and not self._keep(offer.row, offer.reply, answer):
                return

        def note() -> None:
            for offer in offers:
                state.tokens += 0 if offer.reply.denial else count_tokens(offer.reply.context)
                if offer.settle is not None:
                    offer.settle()

        if answer.settle(reply, note) and keeps:
            _note_all(offers)

    def _affordable(self, offers: Sequence[Offer], state: SessionState) -> list[Offer]:
        """Drop what the session has no more room for; replacements cost nothing extra."""
        left = self._settings.session_tokens - state.tokens
        kept = []
        for offer in offers:
            tokens = 0 if offer.reply.denial else count_tokens(offer.reply.context)
            if tokens <= left:
                kept.append(offer)
                left -= tokens
        return kept

    def _keep(self, row: ServedAnswer, reply: Reply, answer: _PendingReply) -> bool:
        """Record what is shown, in time; return whether that succeeded."""
        tokens = count_tokens(reply.denial or reply.context)
        return self._served.add(row._replace(tokens=tokens), lambda: answer.is_wanted)

    def _restore(self, occasion: Occasion, state: SessionState) -> None:
        """Restore a session's state from the ledger, since the daemon may have been restarted."""
        state.is_restored = True
        known = self._served.known(occasion.session, occasion.ledger)
        for path in known.edited:
            state.edited.put(path, value=True)
        for answer in known.answers:
            if answer.path and answer.hash:
                state.shown.put(answer.path, answer.hash)
            if answer.is_replacing:
                state.replaced.put(answer.path, answer.hash)
                state.waiting.put(answer.path, value=not answer.n_followups)
            else:
                state.tokens += answer.tokens


def _take_late(occasion: Occasion, state: SessionState) -> list[Offer]:
    """Return earlier late answers to give now; those that are too old are dropped."""
    if not occasion.can_see:
        return []
    late: list[Offer] = []
    while state.late:
        offer: Offer = state.late.popleft()
        if offer.row is None or occasion.seconds - offer.row.seconds <= LATE_SECONDS:
            late.append(offer)
    return late


def _note_all(offers: Sequence[Offer]) -> None:
    """Record what does not have to be recorded before the agent has its answer."""
    for offer in offers:
        if offer.note is not None:
            offer.note()


def _joined(replies: Sequence[Reply]) -> Reply:
    """Combine replies; if one of them denies, the others are appended to its reason."""
    context = "\n\n".join(reply.context for reply in replies if reply.context)
    denial = next((reply.denial for reply in replies if reply.denial), "")
    return Reply(denial="\n\n".join(filter(None, (denial, context)))) if denial else Reply(context)
