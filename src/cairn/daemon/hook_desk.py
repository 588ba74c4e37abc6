"""Receives agents' events: each is processed by its project, in a lane that never waits for questions."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.daemon.interceptors import Interceptors
from cairn.daemon.projects import Projects
from cairn.daemon.sessions import Ledgers
from cairn.errors import BusyError, CairnError, ProjectError, RequestError, UnsafeStateError
from cairn.hooks.dispatch import Asked, Case, open_case, owe, repeat, take_in
from cairn.hooks.duplicates import SeenEvents
from cairn.hooks.raw_spool import RawSpool
from cairn.loading import load
from cairn.runtime import StateFolder

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_EVENT_SECONDS = 3.0  # after which an event is spooled to disk instead
_ORDER_SECONDS = 0.2  # how long an event waits for earlier ones; after that it joins them
_RETRY_SECONDS = 5.0
_INTERCEPTOR_SECONDS = 0.2  # how long a tool waits for its project's interceptor
_LARGE_BYTES = 100_000  # size from which an event is parsed in a thread
_FORGETTING = ("session-start", "before-compaction")  # events after which an agent no longer has what it was sent
_log = logging.getLogger("cairn.hooks")


class HookDesk:
    """Processes events from the hook program, and those it had to leave on disk.

    Args:
        projects: the open projects.
        sessions: the ledgers of what sessions were sent.
        folder: the user's state folder.
        interceptors: answer uses of tools beyond what the memory says.
    """

    def __init__(self, projects: Projects, sessions: Ledgers, folder: StateFolder, interceptors: Interceptors) -> None:
        self._projects, self._sessions, self._interceptors = projects, sessions, interceptors
        self._spool = RawSpool(folder.path)
        self._seen = SeenEvents()
        self._catching_up: asyncio.Task[None] | None = None
        self._retry_at = 0.0

    async def answer(self, content: bytes) -> str:
        """Process an event and return the agent's answer; an event of a project is on disk by then.

        Args:
            content: an envelope, see `cairn.hooks.envelope`.

        Raises:
            CairnError: if it could not be processed, and has to be sent again.
        """
        await self.catch_up(_ORDER_SECONDS)
        try:
            case = await self._open(content)
        except RequestError as error:
            _log.warning("an event is dropped: %s", error)
            return ""
        if isinstance(case, str):
            return case
        if self._is_waiting():  # for earlier events, or for the disk
            await asyncio.to_thread(self._spool.add, content)
            return case.silence
        answer = await self._take(case)
        if answer is None:
            raise BusyError("the event is being taken in already", "report it again in a moment")
        return answer

    def begin_catching_up(self) -> None:
        """Start to process the events that wait on disk, if there are any."""
        if self._is_waiting() and not self._is_catching_up:
            self._catching_up = asyncio.create_task(self._take_what_waits())

    async def catch_up(self, seconds: float | None = None) -> None:
        """Process the events that wait on disk.

        Args:
            seconds: how long to wait for this; it continues afterwards.
        """
        self.begin_catching_up()
        if self._catching_up is not None and self._is_catching_up:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._catching_up), seconds)

    def stop(self) -> None:
        """Stop processing the events that wait on disk."""
        if self._catching_up is not None:
            self._catching_up.cancel()

    @property
    def _is_catching_up(self) -> bool:
        return self._catching_up is not None and not self._catching_up.done()

    def _is_waiting(self) -> bool:
        return time.monotonic() >= self._retry_at and self._spool.is_waiting()

    # -- one event ----------------------------------------------------------------------------------------------------

    async def _open(self, content: bytes) -> Case | str:
        roots = frozenset(project.root for project in self._projects.registry.projects())
        if len(content) > _LARGE_BYTES:
            return await asyncio.to_thread(open_case, content, roots)
        return open_case(content, roots)

    async def _take(self, case: Case, *, is_late: bool = False) -> str | None:
        """Have a project process an event, and return the agent's answer; None if it is already being processed.

        Raises:
            CairnError: if it can be neither processed nor spooled.
        """
        standing = "new" if case.is_test else self._seen.see(case.key, case.report, has_id=case.has_id)
        if standing == "in work":
            return None
        if standing == "done":
            if is_late and self._seen.is_of(case.key, case.report):  # the agent did not wait for the answer
                await self._projects.run_at_once(case.root, partial(owe, case), timeout_seconds=_EVENT_SECONDS)
            return await self._repeat(case) if case.has_id and not is_late else case.silence
        is_done = False
        try:
            work = partial(self._take_in, case, is_late=is_late)
            answer = await self._projects.run_at_once(case.root, work, timeout_seconds=_EVENT_SECONDS)
            is_done = True
        except BusyError:
            answer = case.silence
            for moment in case.happening.moments:
                await asyncio.to_thread(load("cairn.memory.inbox:let_wait"), Path(case.root), moment)
            is_done = True
        except ProjectError as error:  # its folder is gone
            _log.warning("an event is dropped: %s", error)
            answer = case.silence
            is_done = True
        finally:
            self._seen.settle(case.key, is_done=is_done)
        self._note_session(case)
        return answer

    def _take_in(self, case: Case, workspace: Workspace, *, is_late: bool) -> str:
        answer = take_in(case, workspace, self._asked(case, workspace), is_late=is_late)
        self._interceptors.begin(workspace)
        return answer

    def _asked(self, case: Case, workspace: Workspace) -> Asked | None:
        """Return the project's interceptor. The first tools wait for it; it is created after the first event."""
        if case.happening.use is None:
            return self._interceptors.made(workspace)
        return self._interceptors.of(workspace, _INTERCEPTOR_SECONDS)

    async def _repeat(self, case: Case) -> str:
        """Return the answer to a duplicate event: a denial is repeated, since the agent may read either answer."""
        if "denial" not in case.abilities:
            return case.silence
        try:
            return await self._projects.run_at_once(
                case.root,
                lambda workspace: repeat(case, self._asked(case, workspace)),
                timeout_seconds=_EVENT_SECONDS,
            )
        except (BusyError, ProjectError):
            return case.silence

    def _note_session(self, case: Case) -> None:
        if case.happening.event in _FORGETTING and not case.happening.subagent:
            self._sessions.start(case.happening.session)
        elif case.happening.event == "session-end":
            self._sessions.end(case.happening.session)

    # -- what waits ---------------------------------------------------------------------------------------------------

    async def _take_what_waits(self) -> None:
        """Process all waiting events in order; if one fails, its project's events continue to wait."""
        stuck: set[str] = set()
        n_taken = 0
        while names := [name for name in self._spool.names() if name not in stuck]:
            for name in names:
                try:
                    is_settled = await self._take_waiting(name)
                except CairnError as error:
                    _log.warning("an event waits on: %s", error)
                    is_settled = False
                except Exception:  # noqa: BLE001 - the edge of a task; it is logged
                    _log.exception("an event waits on")
                    is_settled = False
                n_taken += is_settled
                if not is_settled:
                    stuck.add(name)
        if stuck:
            self._retry_at = time.monotonic() + _RETRY_SECONDS
        if n_taken:
            _log.info("%d events that waited were taken in", n_taken)

    async def _take_waiting(self, name: str) -> bool:
        """Process and remove a waiting event; return False if it has to continue to wait.

        Raises:
            CairnError: if it cannot be processed.
        """
        try:
            case = await self._open(await asyncio.to_thread(self._spool.read, name))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        except (RequestError, UnsafeStateError) as error:
            _log.warning("%s is put aside: %s", name, error)
            self._spool.put_aside(name)
            return True
        if not isinstance(case, str) and await self._take(case, is_late=True) is None:
            return False
        self._spool.remove(name)
        return True
