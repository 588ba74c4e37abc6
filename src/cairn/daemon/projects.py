"""The projects that are open: one workspace each, one question at a time, closed when nobody asks any more."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cairn.config import Settings
from cairn.daemon.usage import MAX_OPEN, resident_mb
from cairn.errors import BusyError, ProjectError
from cairn.registry import Project, Registry

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_T = TypeVar("_T")
_log = logging.getLogger("cairn.daemon")
MAX_WAITING = 64  # of one project


class OpenProject:
    """A project that is open. Whoever uses the workspace holds `in_use`, a lock between threads."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.in_use = threading.Lock()
        self.turn = asyncio.Lock()  # waits without a thread
        self.waiting = 0
        self.last_used = time.monotonic()
        self._workspace: Workspace | None = None

    def run(self, work: Callable[[Workspace], _T]) -> _T:
        """Do some work with the workspace, in the calling thread, alone."""
        with self.in_use:
            return work(self._opened())

    def _opened(self) -> Workspace:
        from cairn.workspace import Workspace  # noqa: PLC0415 - start-up time: nothing is open at first

        if self._workspace is None:
            root = Path(self.project.root)
            if not root.is_dir():
                raise ProjectError(f"the folder of {self.project.name} is gone", "cairn index -C FOLDER")
            self._workspace = Workspace.open(root)
            _log.info("opened %s", self.project.name)
        return self._workspace

    def close(self) -> None:
        """Release what the workspace holds, once nobody uses it."""
        with self.in_use:
            if self._workspace is not None:
                self._workspace.close()
                _log.info("closed %s", self.project.name)
            self._workspace = None


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
        self._pool = ThreadPoolExecutor(settings.daemon_threads, thread_name_prefix="cairn-answer")

    def states(self) -> list[OpenState]:
        """Return what is open."""
        now = time.monotonic()
        return [
            OpenState(one.project.name, one.project.root, round(now - one.last_used, 1), one.waiting)
            for one in self._open.values()
        ]

    async def run(self, wanted: str, work: Callable[[Workspace], _T], timeout_seconds: float | None = None) -> _T:
        """Do some work with the workspace of a project, in a thread, when its turn has come.

        Args:
            wanted: name or folder, see `Registry.find`.
            work: is given the workspace.
            timeout_seconds: how long the answer may take; the work itself goes on, for a thread cannot be ended.

        Raises:
            ProjectError: if the project is not allowed, or its folder is gone.
            BusyError: if too many wait, the time is up, or there is no memory for another project.
        """
        found = self._opened(self.registry.find(wanted))
        if found.waiting >= MAX_WAITING:
            raise BusyError(f"{found.waiting} requests wait for {found.project.name} already", "ask again later")
        found.waiting += 1
        try:
            async with asyncio.timeout(timeout_seconds), found.turn:
                return await asyncio.get_running_loop().run_in_executor(self._pool, found.run, work)
        except TimeoutError as error:
            raise BusyError(f"no answer within {timeout_seconds:g} s", "ask again: the work goes on") from error
        finally:
            found.waiting -= 1
            found.last_used = time.monotonic()

    def _opened(self, project: Project) -> OpenProject:
        found = self._open.get(project.root)
        if found is None or found.project != project:
            self._make_room()
            found = self._open[project.root] = OpenProject(project)
        return found

    def _make_room(self) -> None:
        while len(self._open) >= MAX_OPEN or (self._open and resident_mb() > self._settings.daemon_memory_mb):
            if not self._close_oldest():
                raise BusyError("as many projects are open and in use as the daemon takes", "ask again later")
        if resident_mb() > self._settings.daemon_memory_mb:
            raise BusyError("the daemon's memory is used up", "raise daemon_memory_mb, or: cairn daemon stop")

    def _close_oldest(self) -> bool:
        idle = [one for one in self._open.values() if not one.waiting]
        if not idle:
            return False
        self._forget(min(idle, key=lambda one: one.last_used))
        return True

    def _forget(self, one: OpenProject) -> None:
        del self._open[one.project.root]
        one.close()

    def tidy(self) -> None:
        """Close what nobody asked anything of for long, and what the ceiling on memory has no room for."""
        now = time.monotonic()
        for one in list(self._open.values()):
            if not one.waiting and now - one.last_used > 60 * self._settings.daemon_project_minutes:
                self._forget(one)
        while resident_mb() > self._settings.daemon_memory_mb and self._close_oldest():
            pass

    def close(self) -> None:
        """Wait for what is under way, and close everything."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for one in list(self._open.values()):
            self._forget(one)
