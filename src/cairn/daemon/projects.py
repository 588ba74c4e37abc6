"""The open projects: opens them on demand, schedules questions and their threads, closes them when idle."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cairn.config import Settings
from cairn.daemon.open_project import STOP_SECONDS, OpenProject
from cairn.daemon.usage import AT_ONCE_THREADS, MAX_OPEN, resident_mb, slow_threads
from cairn.daemon.watching import open_workspace
from cairn.errors import BusyError, resource_error
from cairn.registry import AllowedProject, Registry
from cairn.waiting import Asker, GiveWay

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_T = TypeVar("_T")
_log = logging.getLogger("cairn.daemon")
MAX_WAITING = 128  # waiting questions to one project
MAX_AT_ONCE = 512  # waiting events of all projects


def _start(pool: ThreadPoolExecutor, work: Callable[[], object]) -> None:
    """Start background work that the next answer would start again, so lack of a thread is no error."""
    try:
        pool.submit(work)
    except RuntimeError as error:
        if (shortage := resource_error(error)) is None:
            raise
        _log.warning("work behind the answers does not start: %s", shortage)


class OpenState(NamedTuple):
    """An open project, as shown by `/api/status`."""

    name: str
    root: str
    idle_seconds: float
    waiting: int


class _Job(Generic[_T]):
    """A question or event: who is waiting for it, and its work while that runs in a thread."""

    def __init__(
        self,
        work: Callable[[Workspace], _T],
        *,
        fresh: bool = False,
        build: bool = True,
        slow: bool = False,
        in_haste: bool = True,
    ) -> None:
        self.work = work
        self.fresh = fresh
        self.build = build
        self.slow = slow
        self.asker = Asker(in_haste=in_haste and not slow)
        self.running: asyncio.Future[_T] | None = None

    def take_time(self) -> None:
        """Continue as a slow question: the work is done again without haste."""
        self.asker = Asker()

    def call_after(self, callback: Callable[[], None]) -> None:
        """Schedule a callback in the event loop for when no thread works on this."""
        if self.running is None:
            callback()
        else:
            self.running.add_done_callback(lambda _: callback())

    def note_end(self, done: asyncio.Future[_T]) -> None:
        """Record the end of the work, and retrieve its error, or asyncio would log it."""
        self.running = None
        _ = done.cancelled() or done.exception()


class _Turn:
    """Waits for a slot, and frees it once the job's thread is done, even if nobody is waiting any more."""

    def __init__(self, room: asyncio.Semaphore, job: _Job[Any]) -> None:
        self._room = room
        self._job = job

    async def __aenter__(self) -> None:
        await self._room.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._job.call_after(self._room.release)


class Projects:
    """Opens projects on demand, and closes them again.

    Args:
        registry: the projects that may be opened.
        settings: the limits.
        before_close: called with each workspace that is about to be closed.
    """

    def __init__(
        self, registry: Registry, settings: Settings, before_close: Callable[[Workspace], object] = lambda _: None
    ) -> None:
        self.registry = registry
        self._before_close = before_close
        self._settings = settings
        self._open: dict[str, OpenProject] = {}
        self._closed = False
        self._apart: set[Future[Any]] = set()
        self._turns_apart: dict[str, asyncio.Lock] = {}  # by root
        # No single project may use all answering threads, and slow work uses none of them.
        threads = settings.daemon_threads
        self._room = max(1, threads - 1)  # of one project
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cairn-answer")
        n_slow = slow_threads(settings)
        self._room_slow, self._room_apart = asyncio.Semaphore(n_slow), asyncio.Semaphore(n_slow)
        self._slow_pool = ThreadPoolExecutor(2 * n_slow, thread_name_prefix="cairn-slow")
        self._at_once_pool = ThreadPoolExecutor(AT_ONCE_THREADS, thread_name_prefix="cairn-event")
        self._behind_pool = ThreadPoolExecutor(1, thread_name_prefix="cairn-behind")
        self._n_asking = self._n_at_once = 0

    def states(self) -> list[OpenState]:
        """Return the open projects."""
        now = time.monotonic()
        return [
            OpenState(opened.project.name, opened.project.root, round(now - opened.last_used, 1), opened.waiting)
            for opened in self._open.values()
        ]

    async def run(
        self,
        name: str,
        work: Callable[[Workspace], _T],
        *,
        fresh: bool = False,
        build: bool = True,
        slow: bool = False,
        timeout_seconds: float | None = None,
    ) -> _T:
        """Run a function on a project's workspace in a thread, when its turn comes.

        Several questions to a project are answered at once. Slow ones only wait for each other, and quick ones never
        wait for slow ones. A question that turns out to be slow is stopped, and restarted as a slow one.

        Args:
            name: name or folder, see `Registry.find`.
            work: a function of the workspace; it may be called twice, see `cairn.waiting.give_way`.
            fresh: whether the index must be up to date.
            build: whether to build a first index if there is none.
            slow: whether the work is known to be slow.
            timeout_seconds: how long the answer may take. Then, or if this is cancelled, the work stops: a thread
                cannot be killed, but it regularly checks whether anybody is waiting (`cairn.waiting`).

        Raises:
            ProjectError: if the project is not allowed, or its folder is gone.
            BusyError: if too many are waiting, time is up, or there is no memory for another project.
            IndexMissingError: if there is no index and none may be built.
        """
        opened = await self._open_project(self.registry.find(name))
        if opened.waiting >= MAX_WAITING:
            raise BusyError(
                f"{opened.waiting} questions to {opened.project.name} are waiting already", "ask again later"
            )
        opened.waiting += 1
        self._n_asking += 1
        job = _Job(work, fresh=fresh, build=build, slow=slow)
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._answer(opened, job)
        except TimeoutError as error:
            raise BusyError(
                f"no answer within {timeout_seconds:g} s", "narrow the question, or ask again: what was indexed is kept"
            ) from error
        finally:
            job.asker.leave()
            # Its thread may continue for a while though nobody is waiting.
            job.call_after(partial(self._leave, opened, used_graph=not job.asker.in_haste))

    async def _answer(self, opened: OpenProject, job: _Job[_T]) -> _T:
        """Answer as a quick question, or else as a slow one."""
        if not job.slow:
            try:
                async with _Turn(opened.quick, job):
                    return await self._work_in(opened, job, self._pool)
            except GiveWay:
                job.take_time()
        async with _Turn(opened.slow, job), _Turn(self._room_slow, job):
            return await self._work_in(opened, job, self._slow_pool)

    async def _work_in(self, opened: OpenProject, job: _Job[_T], pool: ThreadPoolExecutor) -> _T:
        loop = asyncio.get_running_loop()
        asker = job.asker
        running = loop.run_in_executor(pool, lambda: opened.run(job.work, asker, fresh=job.fresh, build=job.build))
        job.running = running
        running.add_done_callback(job.note_end)
        return await asyncio.shield(running)

    def _leave(self, opened: OpenProject, *, used_graph: bool) -> None:
        opened.waiting -= 1
        self._n_asking -= 1
        opened.has_more = opened.has_more or used_graph
        self._go_on_behind()
        opened.last_used = time.monotonic()
        if not opened.waiting and not opened.is_watched and not self._closed:
            _start(self._pool, opened.watch)  # only after the answer, which nothing should delay

    def _go_on_behind(self) -> None:
        """Continue incomplete answers, those of other projects too, unless somebody is asking."""
        if not self._is_asked():
            for opened in self._open.values():
                if opened.has_more:
                    _start(self._behind_pool, partial(opened.go_on, self._is_asked))

    def _is_asked(self) -> bool:
        """Tell whether anybody is asking, and would have to share the interpreter with other work."""
        return self._n_asking > 0 or self._n_at_once > 0 or self._closed

    async def run_at_once(
        self, name: str, work: Callable[[Workspace], _T], *, timeout_seconds: float | None = None
    ) -> _T:
        """Do work that must never wait for questions, such as processing an event.

        It has its own threads and takes the index as it is. The work must be short: a few milliseconds.

        Args:
            name: name or folder, see `Registry.find`.
            work: a function of the workspace.
            timeout_seconds: as for `run`.

        Raises:
            ProjectError: as `run`.
            BusyError: if too many events are waiting, time is up, or there is no memory for another project.
        """
        opened = await self._open_project(self.registry.find(name))
        if self._n_at_once >= MAX_AT_ONCE:
            raise BusyError(f"{self._n_at_once} events are waiting already", "ask again later")
        job = _Job(work, in_haste=False)
        opened.events += 1
        self._n_at_once += 1
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._work_in(opened, job, self._at_once_pool)
        except TimeoutError as error:
            raise BusyError(f"the event was not taken within {timeout_seconds:g} s", "ask again later") from error
        finally:
            job.asker.leave()
            job.call_after(partial(self._leave_at_once, opened))

    def _leave_at_once(self, opened: OpenProject) -> None:
        self._n_at_once -= 1
        opened.events -= 1
        opened.last_used = time.monotonic()
        self._go_on_behind()

    async def run_apart(self, name: str, work: Callable[[Workspace], _T]) -> _T:
        """Do long work, such as a build, with a workspace of its own, so that no question waits for it.

        Such work is done one at a time for each project, and uses at most half of the threads in all.

        Raises:
            ProjectError: as `run`.
            BusyError: if the daemon stops before its turn comes.
        """
        root = Path(self.registry.find(name).root)

        def run() -> _T:
            with open_workspace(root) as workspace:
                return work(workspace)

        async with self._turns_apart.setdefault(str(root), asyncio.Lock()), self._room_apart:
            if self._closed:
                raise BusyError("the daemon is stopping", "ask again in a moment")
            future = self._slow_pool.submit(run)
            self._apart.add(future)
            future.add_done_callback(self._apart.discard)
            return await asyncio.wrap_future(future)

    async def _open_project(self, project: AllowedProject) -> OpenProject:
        while True:
            opened = self._open.get(project.root)
            if opened is not None:
                return opened
            full = resident_mb() > self._settings.daemon_memory_mb
            if len(self._open) < MAX_OPEN and not full:
                opened = self._open[project.root] = OpenProject(project, self._room, self._before_close)
                return opened
            if not await self._close_oldest():
                raise BusyError(
                    "the daemon has no room for another project",
                    "ask again later, or raise daemon_memory_mb, see docs/configuration.md",
                )

    async def _close_oldest(self) -> bool:
        idle = [opened for opened in self._open.values() if opened.is_idle]
        if idle:
            await self._close_project(min(idle, key=lambda opened: opened.last_used))
        return bool(idle)

    async def _close_project(self, opened: OpenProject) -> None:
        del self._open[opened.project.root]
        await asyncio.to_thread(opened.close)

    async def tidy(self) -> None:
        """Close projects that have been idle for long, and more while the daemon exceeds its memory limit."""
        now = time.monotonic()
        for opened in list(self._open.values()):
            if opened.is_idle and now - opened.last_used > 60 * self._settings.daemon_project_minutes:
                await self._close_project(opened)
        while resident_mb() > self._settings.daemon_memory_mb and await self._close_oldest():
            pass

    def close(self) -> bool:
        """Close everything; return whether all work ended in time."""
        self._closed = True
        for pool in (self._pool, self._slow_pool, self._at_once_pool, self._behind_pool):
            pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + STOP_SECONDS
        ended = [opened.close(max(0.0, deadline - time.monotonic())) for opened in self._open.values()]
        self._open.clear()
        _, unfinished = wait(list(self._apart), max(0.0, deadline - time.monotonic()))
        return all(ended) and not unfinished
