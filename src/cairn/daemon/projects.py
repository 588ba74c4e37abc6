"""The projects that are open: one workspace each, one question at a time, closed when nobody asks any more."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cairn.config import Settings, deciding_files, stamp_of
from cairn.daemon.usage import MAX_OPEN, resident_mb
from cairn.daemon.watching import Watch, open_workspace
from cairn.errors import BusyError, IndexMissingError, ProjectError
from cairn.hints import Hint
from cairn.registry import Project, Registry
from cairn.waiting import Asker

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_T = TypeVar("_T")
_log = logging.getLogger("cairn.daemon")
MAX_WAITING = 128  # of one project
STOP_SECONDS = 8.0  # that work under way is given when the daemon stops


class OpenProject:
    """A project that is open; `watch` it behind its first answer, which nothing is to delay."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.turn = asyncio.Lock()  # waits without a thread
        self.waiting = 0
        self.last_used = time.monotonic()
        self._in_use = threading.Lock()
        self._workspace: Workspace | None = None
        self._watch: Watch | None = None
        self._deciding = deciding_files(Path(project.root))
        self._settings_stamp: tuple[tuple[int, ...], ...] = ()

    @property
    def is_watched(self) -> bool:
        """Tell whether somebody follows the edits, or did until he could not any more."""
        return self._watch is not None

    def run(self, work: Callable[[Workspace], _T], asker: Asker, *, fresh: bool) -> _T:
        """Do some work with the workspace, in the calling thread, alone.

        Args:
            work: is given the workspace.
            asker: who waits for it. Once they are gone it stops, but for an update of the index, which serves others.
            fresh: whether the index must be up to date, which it is while the project is watched.

        Raises:
            BusyError: if the asker is gone.
        """

        def answer(workspace: Workspace) -> _T:
            asker.check()
            with asker.served():
                return work(workspace)

        with self._in_use:
            asker.check()
            workspace = self._opened()
            if fresh and not (self._watch is not None and self._watch.is_alive()):
                workspace.refresh()
            try:
                return answer(workspace)
            except IndexMissingError:
                if not fresh:
                    raise
                workspace.refresh()  # who watches has not built the first index yet; this waits for it
                return answer(workspace)

    def watch(self) -> None:
        """Follow the project's edits from now on, unless that is done already."""
        with self._in_use:
            if self._watch is None and self._workspace is not None:
                self._watch = Watch(self.project.name, open_workspace(Path(self.project.root)))

    def _opened(self) -> Workspace:
        stamp = stamp_of(self._deciding)
        if self._workspace is not None and stamp != self._settings_stamp:
            self._close(STOP_SECONDS)
        root = Path(self.project.root)
        if not root.is_dir():
            self._close(STOP_SECONDS)
            raise ProjectError(
                f"the folder of {self.project.name} is gone: {root}",
                Hint("if it was moved, index it there", "index", project=None),
            )
        if self._workspace is None:
            self._workspace = open_workspace(root)
            self._settings_stamp = stamp
            _log.info("opened %s", self.project.name)
        return self._workspace

    def close(self, timeout_seconds: float = STOP_SECONDS) -> bool:
        """Release what the workspace holds, and tell whether all work ended in time."""
        if not self._in_use.acquire(timeout=timeout_seconds):
            return False
        try:
            return self._close(timeout_seconds)
        finally:
            self._in_use.release()

    def _close(self, timeout_seconds: float) -> bool:
        stopped = self._watch is None or self._watch.stop(timeout_seconds)
        if self._workspace is not None:
            self._workspace.close()
            _log.info("closed %s", self.project.name)
        self._workspace = self._watch = None
        return stopped


class OpenState(NamedTuple):
    """An open project as others see it."""

    name: str
    root: str
    idle_seconds: float
    waiting: int


class Projects:
    """Opens projects when they are asked for, and closes them again.

    Args:
        registry: which there may be.
        settings: the limits.
    """

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self.registry = registry
        self._settings = settings
        self._open: dict[str, OpenProject] = {}
        self._closed = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self._apart: set[Future[Any]] = set()
        self._turns_apart: dict[str, asyncio.Lock] = {}  # by root
        self._room_apart = asyncio.Semaphore(max(1, settings.daemon_threads // 2))
        self._pool = ThreadPoolExecutor(settings.daemon_threads, thread_name_prefix="cairn-answer")

    def states(self) -> list[OpenState]:
        """Return what is open."""
        now = time.monotonic()
        return [
            OpenState(one.project.name, one.project.root, round(now - one.last_used, 1), one.waiting)
            for one in self._open.values()
        ]

    async def run(
        self,
        wanted: str,
        work: Callable[[Workspace], _T],
        *,
        fresh: bool = False,
        timeout_seconds: float | None = None,
    ) -> _T:
        """Do some work with the workspace of a project, in a thread, when its turn has come.

        Args:
            wanted: name or folder, see `Registry.find`.
            work: is given the workspace.
            fresh: whether the index must be up to date.
            timeout_seconds: how long the answer may take. The work stops then, as it does when this is cancelled: a
                thread cannot be ended, but looks now and then whether anybody waits (`cairn.waiting`).

        Raises:
            ProjectError: if the project is not allowed, or its folder is gone.
            BusyError: if too many wait, the time is up, or there is no memory for another project.
        """
        found = await self._opened(self.registry.find(wanted))
        if found.waiting >= MAX_WAITING:
            raise BusyError(f"{found.waiting} requests wait for {found.project.name} already", "ask again later")
        found.waiting += 1
        begun: asyncio.Task[_T] | None = None
        asker = Asker()
        try:
            async with asyncio.timeout(timeout_seconds):
                await found.turn.acquire()
                begun = asyncio.create_task(self._work(found, work, asker, fresh=fresh))
                return await asyncio.shield(begun)
        except TimeoutError as error:
            raise BusyError(
                f"no answer within {timeout_seconds:g} s", "narrow the question, or ask again: what is indexed is kept"
            ) from error
        finally:
            asker.leave()
            if begun is None:
                found.waiting -= 1
            else:  # it goes on for a while though nobody may be there for its outcome any more
                self._under_way.add(begun)
                begun.add_done_callback(self._under_way.discard)
                begun.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _work(self, found: OpenProject, work: Callable[[Workspace], _T], asker: Asker, *, fresh: bool) -> _T:
        """Do some work in a thread, and then let the next one have its turn."""
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, lambda: found.run(work, asker, fresh=fresh))
        finally:
            found.turn.release()
            found.waiting -= 1
            found.last_used = time.monotonic()
            if not found.waiting and not found.is_watched and not self._closed:
                self._pool.submit(found.watch)  # behind the answer, which nothing is to delay

    async def run_apart(self, wanted: str, work: Callable[[Workspace], _T]) -> _T:
        """Do some work that takes long, with a workspace of its own, so that it keeps no question waiting.

        Of one project it is done one after the other, and of all by half of the threads at most.

        Raises:
            ProjectError: as `run`.
            BusyError: if the daemon stops before its turn has come.
        """
        root = Path(self.registry.find(wanted).root)

        def run() -> _T:
            with open_workspace(root) as workspace:
                return work(workspace)

        async with self._turns_apart.setdefault(str(root), asyncio.Lock()), self._room_apart:
            if self._closed:
                raise BusyError("the daemon is stopping", "ask again in a moment")
            future = self._pool.submit(run)
            self._apart.add(future)
            future.add_done_callback(self._apart.discard)
            return await asyncio.wrap_future(future)

    async def _opened(self, project: Project) -> OpenProject:
        while True:
            found = self._open.get(project.root)
            if found is not None:
                return found
            full = resident_mb() > self._settings.daemon_memory_mb
            if len(self._open) < MAX_OPEN and not full:
                found = self._open[project.root] = OpenProject(project)
                return found
            if not await self._close_oldest():
                raise BusyError(
                    "the daemon has no room for another project",
                    "ask again later, or raise daemon_memory_mb, see docs/configuration.md",
                )

    async def _close_oldest(self) -> bool:
        idle = [one for one in self._open.values() if not one.waiting]
        if idle:
            await self._forget(min(idle, key=lambda one: one.last_used))
        return bool(idle)

    async def _forget(self, one: OpenProject) -> None:
        del self._open[one.project.root]
        await asyncio.to_thread(one.close)

    async def tidy(self) -> None:
        """Close what nobody asked anything of for long, and what the ceiling on memory has no room for."""
        now = time.monotonic()
        for one in list(self._open.values()):
            if not one.waiting and now - one.last_used > 60 * self._settings.daemon_project_minutes:
                await self._forget(one)
        while resident_mb() > self._settings.daemon_memory_mb and await self._close_oldest():
            pass

    def close(self) -> bool:
        """Close everything, and tell whether all work ended in time."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + STOP_SECONDS
        ended = [one.close(max(0.0, deadline - time.monotonic())) for one in self._open.values()]
        self._open.clear()
        _, unfinished = wait(list(self._apart), max(0.0, deadline - time.monotonic()))
        return all(ended) and not unfinished
