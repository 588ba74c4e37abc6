"""Takes in what agents report, so that nothing is lost once it was acknowledged, and nothing counts twice."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cairn.config import load_settings
from cairn.errors import CairnError, StoreError
from cairn.memory.ids import new_id
from cairn.memory.moments import Moment
from cairn.memory.sessions import Sessions
from cairn.memory.spool import Spool, SpooledMoment
from cairn.memory.store import MemoryStore
from cairn.memory_settings import MemorySettings
from cairn.source.git import Repository, current_branch, head_revision, printable_name
from cairn.storage.connection import patience

_log = logging.getLogger("cairn.memory")
_PATIENCE_MS = 1_000
_RETRY_SECONDS = _HEAD_SECONDS = 1.0
_MOST_AT_ONCE = 200  # moments that waited and are taken in before a new one


class Taken(NamedTuple):
    """What became of a moment.

    Attributes:
        is_captured: it is kept, or waits on disk to be.
        context: what to show the agent, empty for nothing.
    """

    is_captured: bool
    context: str = ""


class Head(NamedTuple):
    """What is checked out, and when that was read."""

    branch: str
    revision: str
    read_at: float


class Inbox:
    """Takes in the moments of a project; those that cannot be taken in now wait in the spool.

    Args:
        sessions: what takes them in.
        store: the memory.
        spool: where they wait.
        repository: of the project, None outside git.
        now: a clock that never runs backwards, in seconds.
    """

    def __init__(
        self,
        sessions: Sessions,
        store: MemoryStore,
        spool: Spool,
        repository: Repository | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions, self._store, self._spool, self._repository = sessions, store, spool, repository
        self._now = now
        self._head: Head | None = None
        self._retry_at = 0.0  # until then the memory cannot be written, and nobody waits for it

    def take_in(self, moment: Moment) -> bool:
        """Take in a moment after those that wait, or let it wait; return whether it is on disk now.

        It is not where the user wants nothing kept.

        Raises:
            StoreError: if it can neither be taken in nor wait.
        """
        if not self._sessions.keeps:
            self._spool.remove(self._spool.waiting(_MOST_AT_ONCE))
            return False
        moment = moment._replace(id=moment.id or new_id(time.time()))  # so that it counts once, whatever happens below
        try:
            with self._in_haste():
                if self._now() >= self._retry_at:
                    self._take_in_what_waits()
                    self._sessions.end_stale()
                    return self._sessions.record(moment) is not None
        except StoreError as error:
            self._retry_at = self._now() + _RETRY_SECONDS
            _log.warning("an event waits: %s", error)
        self._spool.add(moment)
        return True

    def answer(self, compose: Callable[[], str]) -> str:
        """Return what to show an agent that has reported, empty while the memory cannot be written.

        Args:
            compose: returns it; it must not keep the agent waiting.
        """
        if self._now() < self._retry_at:
            return ""
        if not self._store.exists:
            return compose()
        with self._in_haste():
            return compose()

    def catch_up(self, *, ends_stale: bool = True) -> int:
        """Take in what waits, and return how many moments that were.

        Args:
            ends_stale: whether to end sessions of which nothing was heard for long, too.

        Raises:
            StoreError: if the memory cannot be written; then everything waits on.
        """
        if not self._sessions.keeps or not (self._store.exists or self._spool.count()):
            return 0
        with self._in_haste():
            n_taken = self._take_in_what_waits()
            if ends_stale:
                self._sessions.end_stale()
            return n_taken

    @contextmanager
    def _in_haste(self) -> Iterator[None]:
        """Wait for another process that writes no longer than an agent should."""
        with self._store.reading() as connection, patience(connection, _PATIENCE_MS):
            yield

    def _take_in_what_waits(self) -> int:
        waiting = self._spool.waiting(_MOST_AT_ONCE)
        if waiting:
            try:
                with self._store.writing():
                    for _, moment in waiting:
                        self._sessions.record(moment)
                self._spool.remove(waiting)
            except StoreError:
                self._take_in_each(waiting)
        return len(waiting)

    def _take_in_each(self, waiting: list[SpooledMoment]) -> None:
        """Take in what can be; if only some can, it is not the store that is unfit, but the others, which are kept."""
        errors = {}
        for number, (_, moment) in enumerate(waiting):
            try:
                self._sessions.record(moment)
            except StoreError as error:
                errors[number] = error
        if len(errors) == len(waiting):
            raise errors[0]
        self._spool.put_aside([waiting[number] for number in errors])
        self._spool.remove(waiting)

    def locate(self, moment: Moment) -> Moment:
        """Return a moment with what is checked out, unless the agent says so itself."""
        if self._repository is None or moment.branch:
            return moment
        branch = ""
        with suppress(CairnError):
            branch = printable_name(current_branch(self._repository) or "")
        return moment._replace(branch=branch, revision=moment.revision or self._revision(branch, self._repository))

    def _revision(self, branch: str, repository: Repository) -> str:
        """Return the commit that is checked out, as of a second ago at most: git may have to be asked."""
        now = self._now()
        if self._head is None or self._head.branch != branch or now - self._head.read_at > _HEAD_SECONDS:
            revision = ""
            with suppress(CairnError):  # git that is stuck is no reason to lose what an agent did
                revision = head_revision(repository) or ""
            self._head = Head(branch, revision, now)
        return self._head.revision


def let_wait(root: Path, moment: Moment) -> Taken:
    """Let a moment wait without opening its project, unless the user wants nothing kept of it.

    Raises:
        ConfigError: if the settings of the project cannot be read.
        StoreError: if it cannot be written.
    """
    keeps = (load_settings(root).memory or MemorySettings()).capture
    if keeps:
        Spool(root).add(moment)
    return Taken(keeps)
