"""The projects that are open: one workspace each, a few questions at once, closed when nobody asks any more."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cairn.config import Settings, deciding_files, stamp_of
from cairn.daemon.usage import AT_ONCE_THREADS, MAX_OPEN, resident_mb, slow_threads
from cairn.daemon.watching import Watch, open_workspace
from cairn.errors import BusyError, IndexMissingError, ProjectError
from cairn.hints import Hint
from cairn.registry import Project, Registry
from cairn.sharing import Shared
from cairn.waiting import Asker, GiveWay

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_T = TypeVar("_T")
_log = logging.getLogger("cairn.daemon")
MAX_WAITING = 128  # of one project
MAX_AT_ONCE = 512  # events that are being taken in, of all projects
STOP_SECONDS = 8.0  # that work under way is given when the daemon stops


class OpenProject:
    """A project that is open; `watch` it behind its first answer, which nothing is to delay.

    Args:
        project: which.
        room: how many quick questions are answered at once; slow ones are answered one after the other beside them.
    """

    def __init__(self, project: Project, room: int) -> None:
        self.project = project
        self.quick = asyncio.Semaphore(room)  # waits without a thread
        self.slow = asyncio.Semaphore(1)
        self.waiting = self.events = 0  # questions and events that are not done with
        self.last_used = time.monotonic()
        self._lock = threading.Lock()  # of what is open
        self._starting = threading.Lock()  # of the watch
        self._workspace: Shared[Workspace] | None = None
        self._watch: Watch | None = None
        self._closed = False
        self._deciding = deciding_files(Path(project.root))
        self._settings_stamp: tuple[tuple[int, ...], ...] = ()
        self._was_indexed = False

    @property
    def is_idle(self) -> bool:
        """Tell whether nobody asks anything."""
        return not self.waiting and not self.events

    @property
    def is_watched(self) -> bool:
        """Tell whether somebody follows the edits, or did until he could not any more."""
        return self._watch is not None

    def run(self, work: Callable[[Workspace], _T], asker: Asker, *, fresh: bool, build: bool = True) -> _T:
        """Do some work with the workspace, in the calling thread, while others do theirs.

        Args:
            work: is given the workspace.
            asker: who waits for it. Once they are gone it stops, but for an update of the index, which serves others.
            fresh: whether the index must be up to date, which it is while the project is watched.
            build: whether a first index is built here, if that takes one.

        Raises:
            BusyError: if the asker is gone, or the project is being closed.
            GiveWay: if the work is slow, and the asker in haste.
            IndexMissingError: if there is no index and none is to be built.
        """

        def answer(workspace: Workspace) -> _T:
            asker.check()
            with asker.serve():
                return work(workspace)

        asker.check()
        with self._opened().use() as workspace:
            if fresh and not build:
                self._check_indexed(workspace)
            if fresh and not self._is_followed():
                workspace.refresh()
            try:
                return answer(workspace)
            except IndexMissingError:
                if not fresh or not build:
                    raise
                workspace.refresh()  # who watches has not built the first index yet; this waits for it
                return answer(workspace)

    def _check_indexed(self, workspace: Workspace) -> None:
        """Look whether there is an index, until there was one once."""
        if not self._was_indexed and not workspace.is_indexed:
            raise IndexMissingError("this project is not indexed yet", Hint.of("index"))
        self._was_indexed = True

    def watch(self) -> None:
        """Follow the project's edits from now on, unless that is done already."""
        with self._starting:
            stamp = self._settings_stamp
            if self._watch is not None or self._workspace is None:
                return
            watch = Watch(self.project.name, open_workspace(Path(self.project.root)))
            with self._lock:
                is_wanted = self._workspace is not None and self._settings_stamp == stamp
                if is_wanted:
                    self._watch = watch
        if not is_wanted:  # the project was closed meanwhile, or has other settings
            watch.stop(STOP_SECONDS)

    def _is_followed(self) -> bool:
        return (watch := self._watch) is not None and watch.is_alive()

    def _opened(self) -> Shared[Workspace]:
        """Return the workspace, with the settings of now; one with others is closed once nobody uses it."""
        stamp = stamp_of(self._deciding)
        with self._lock:
            if self._closed:
                raise BusyError(f"{self.project.name} is being closed", "ask again in a moment")
            if stamp == self._settings_stamp and self._workspace is not None and self._is_there():
                return self._workspace
            last = self._taken()
        self._end(*last, 0.0)
        with self._lock:
            if self._workspace is None:
                self._workspace = self._open(stamp)
            return self._workspace

    def _is_there(self) -> bool:
        return Path(self.project.root).is_dir()

    def _open(self, stamp: tuple[tuple[int, ...], ...]) -> Shared[Workspace]:
        root = Path(self.project.root)
        if not self._is_there():
            raise ProjectError(
                f"the folder of {self.project.name} is gone: {root}",
                Hint("if it was moved, index it there", "index", project=None),
            )
        opened = Shared(open_workspace(root), methodcaller("close"))
        self._settings_stamp = stamp
        _log.info("opened %s", self.project.name)
        return opened

    def close(self, timeout_seconds: float = STOP_SECONDS) -> bool:
        """Release what the workspace holds, once nobody uses it, and tell whether all work ended in time."""
        with self._lock:
            self._closed = True
            last = self._taken()
        return self._end(*last, timeout_seconds)

    def _taken(self) -> tuple[Shared[Workspace] | None, Watch | None]:
        """Return what is open, and have nothing open from now on."""
        last = self._workspace, self._watch
        self._workspace = self._watch = None
        return last

    def _end(self, workspace: Shared[Workspace] | None, watch: Watch | None, timeout_seconds: float) -> bool:
        deadline = time.monotonic() + timeout_seconds
        stopped = watch is None or watch.stop(timeout_seconds)
        if workspace is not None:
            stopped &= workspace.retire(max(0.0, deadline - time.monotonic()))
            _log.info("closed %s", self.project.name)
        return stopped


class OpenState(NamedTuple):
    """An open project as others see it."""

    name: str
    root: str
    idle_seconds: float
    waiting: int


class _Question(Generic[_T]):
    """A question on its way: who asks it, and the work on it in a thread, if any is under way."""

    def __init__(
        self,
        work: Callable[[Workspace], _T],
        *,
        fresh: bool = False,
        build: bool = False,
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
        """Be asked again among the slow."""
        self.asker = Asker()

    def afterwards(self, work: Callable[[], None]) -> None:
        """Do some work in the event loop once none of this question's is under way."""
        if self.running is None:
            work()
        else:
            self.running.add_done_callback(lambda _: work())

    def note_end(self, done: asyncio.Future[_T]) -> None:
        """Take note that the work has ended; its error has been noticed, though nobody may be there for it."""
        self.running = None
        _ = done.cancelled() or done.exception()


class _Turn:
    """Waits for room, and gives it back once the question's work in a thread has ended, whoever left before."""

    def __init__(self, room: asyncio.Semaphore, question: _Question[Any]) -> None:
        self._room = room
        self._question = question

    async def __aenter__(self) -> None:
        await self._room.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._question.afterwards(self._room.release)


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
        self._apart: set[Future[Any]] = set()
        self._turns_apart: dict[str, asyncio.Lock] = {}  # by root
        # No project takes all threads that answer, and no slow work those of the quick.
        threads = settings.daemon_threads
        self._room = max(1, threads - 1)  # of one project
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cairn-answer")
        n_slow = slow_threads(settings)
        self._room_slow, self._room_apart = asyncio.Semaphore(n_slow), asyncio.Semaphore(n_slow)
        self._slow_pool = ThreadPoolExecutor(2 * n_slow, thread_name_prefix="cairn-slow")
        self._at_once_pool = ThreadPoolExecutor(AT_ONCE_THREADS, thread_name_prefix="cairn-event")
        self._n_at_once = 0

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
        build: bool = True,
        slow: bool = False,
        timeout_seconds: float | None = None,
    ) -> _T:
        """Do some work with the workspace of a project, in a thread, when its turn has come.

        Several questions of a project are answered at once. Those that are slow wait for each other, not for others
        and not others for them; one that turns out to be slow stops and is asked again among those.

        Args:
            wanted: name or folder, see `Registry.find`.
            work: is given the workspace; it may be done twice, see `cairn.waiting.give_way`.
            fresh: whether the index must be up to date.
            build: whether a first index is built for that.
            slow: whether the work is known to be slow.
            timeout_seconds: how long the answer may take. The work stops then, as it does when this is cancelled: a
                thread cannot be ended, but looks now and then whether anybody waits (`cairn.waiting`).

        Raises:
            ProjectError: if the project is not allowed, or its folder is gone.
            BusyError: if too many wait, the time is up, or there is no memory for another project.
            IndexMissingError: if there is no index and none is to be built.
        """
        found = await self._opened(self.registry.find(wanted))
        if found.waiting >= MAX_WAITING:
            raise BusyError(f"{found.waiting} requests wait for {found.project.name} already", "ask again later")
        found.waiting += 1
        question = _Question(work, fresh=fresh, build=build, slow=slow)
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._answer(found, question)
        except TimeoutError as error:
            raise BusyError(
                f"no answer within {timeout_seconds:g} s", "narrow the question, or ask again: what is indexed is kept"
            ) from error
        finally:
            question.asker.leave()
            # It goes on for a while though nobody may be there for its outcome any more.
            question.afterwards(partial(self._leave, found))

    async def _answer(self, found: OpenProject, question: _Question[_T]) -> _T:
        """Answer a question in the turn of the quick, or else in that of the slow."""
        if not question.slow:
            try:
                async with _Turn(found.quick, question):
                    return await self._done(found, question, self._pool)
            except GiveWay:
                question.take_time()
        async with _Turn(found.slow, question), _Turn(self._room_slow, question):
            return await self._done(found, question, self._slow_pool)

    async def _done(self, found: OpenProject, question: _Question[_T], pool: ThreadPoolExecutor) -> _T:
        loop = asyncio.get_running_loop()
        asker = question.asker
        running = loop.run_in_executor(
            pool, lambda: found.run(question.work, asker, fresh=question.fresh, build=question.build)
        )
        question.running = running
        running.add_done_callback(question.note_end)
        return await asyncio.shield(running)

    def _leave(self, found: OpenProject) -> None:
        found.waiting -= 1
        found.last_used = time.monotonic()
        if not found.waiting and not found.is_watched and not self._closed:
            self._pool.submit(found.watch)  # behind the answer, which nothing is to delay

    async def run_at_once(
        self, wanted: str, work: Callable[[Workspace], _T], *, timeout_seconds: float | None = None
    ) -> _T:
        """Do what must never wait, such as taking in an event: no question and no slow work is before it.

        It has threads of its own, and takes the index as it is. The work is short, a few milliseconds.

        Args:
            wanted: name or folder, see `Registry.find`.
            work: is given the workspace.
            timeout_seconds: as for `run`.

        Raises:
            ProjectError: as `run`.
            BusyError: if too much of this kind is under way, the time is up, or there is no memory for another project.
        """
        found = await self._opened(self.registry.find(wanted))
        if self._n_at_once >= MAX_AT_ONCE:
            raise BusyError(f"{self._n_at_once} events are under way already", "ask again later")
        question = _Question(work, in_haste=False)
        found.events += 1
        self._n_at_once += 1
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._done(found, question, self._at_once_pool)
        except TimeoutError as error:
            raise BusyError(f"not taken within {timeout_seconds:g} s", "ask again later") from error
        finally:
            question.asker.leave()
            question.afterwards(partial(self._leave_at_once, found))

    def _leave_at_once(self, found: OpenProject) -> None:
        self._n_at_once -= 1
        found.events -= 1
        found.last_used = time.monotonic()

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
            future = self._slow_pool.submit(run)
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
                found = self._open[project.root] = OpenProject(project, self._room)
                return found
            if not await self._close_oldest():
                raise BusyError(
                    "the daemon has no room for another project",
                    "ask again later, or raise daemon_memory_mb, see docs/configuration.md",
                )

    async def _close_oldest(self) -> bool:
        idle = [one for one in self._open.values() if one.is_idle]
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
            if one.is_idle and now - one.last_used > 60 * self._settings.daemon_project_minutes:
                await self._forget(one)
        while resident_mb() > self._settings.daemon_memory_mb and await self._close_oldest():
            pass

    def close(self) -> bool:
        """Close everything, and tell whether all work ended in time."""
        self._closed = True
        for pool in (self._pool, self._slow_pool, self._at_once_pool):
            pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + STOP_SECONDS
        ended = [one.close(max(0.0, deadline - time.monotonic())) for one in self._open.values()]
        self._open.clear()
        _, unfinished = wait(list(self._apart), max(0.0, deadline - time.monotonic()))
        return all(ended) and not unfinished
