"""An open project: its workspace, shared by several threads, and the watcher that keeps its index up to date."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cairn.config import deciding_files, stamp_of
from cairn.daemon.watching import Watch, open_workspace
from cairn.errors import BusyError, CairnError, IndexMissingError, ProjectError
from cairn.hints import Hint
from cairn.registry import AllowedProject
from cairn.sharing import Shared
from cairn.waiting import Asker

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_T = TypeVar("_T")
_log = logging.getLogger("cairn.daemon")
STOP_SECONDS = 8.0  # for running work when the daemon stops


class OpenProject:
    """An open project. Call `watch` only after its first answer, which nothing should delay.

    Args:
        project: the project.
        room: how many quick questions to answer at once. Slow ones run beside them, one at a time.
        before_close: called with each workspace before it is closed.
    """

    def __init__(
        self, project: AllowedProject, room: int, before_close: Callable[[Workspace], object] = lambda _: None
    ) -> None:
        self.project = project
        self._before_close = before_close
        self.quick = asyncio.Semaphore(room)  # waiting takes no thread
        self.slow = asyncio.Semaphore(1)
        self.waiting = self.events = 0  # unfinished questions and events
        self.last_used = time.monotonic()
        self._lock = threading.Lock()  # guards the workspace and the watcher
        self._starting = threading.Lock()  # held while the watcher starts
        self._workspace: Shared[Workspace] | None = None
        self._watch: Watch | None = None
        self._closed = False
        self._deciding = deciding_files(Path(project.root))
        self._git = _git_around(project.root)
        self._stamp: tuple[tuple[int, ...], ...] = ()  # stamps of the settings and the repository
        self._was_indexed = False
        self._behind = Asker()  # on whose behalf incomplete answers are continued
        self.has_more = False  # whether there may be incomplete answers

    @property
    def is_idle(self) -> bool:
        """Tell whether no question or event is waiting or running."""
        return not self.waiting and not self.events

    @property
    def is_watched(self) -> bool:
        """Tell whether a watcher was started, even if it has failed since."""
        return self._watch is not None

    def run(self, work: Callable[[Workspace], _T], asker: Asker, *, fresh: bool, build: bool = True) -> _T:
        """Run a function on the workspace in the calling thread; other threads may do so at the same time.

        Args:
            work: a function of the workspace.
            asker: who is waiting. Once they leave, the work stops, except for an update of the index, which others
                need.
            fresh: whether to bring the index up to date first; work that does this itself can report that it is behind.
            build: whether to build an index if there is none.

        Raises:
            BusyError: if the asker has left, or the project is being closed.
            GiveWay: if the work is slow and the asker in haste.
            IndexMissingError: if there is no index and `build` is false.
        """

        def answer(workspace: Workspace) -> _T:
            asker.check()
            with asker.serve():
                return work(workspace)

        asker.check()
        with self._current_workspace().use() as workspace:
            if not build:
                self._check_indexed(workspace)
            if fresh:
                workspace.refresh()
            try:
                return answer(workspace)
            except IndexMissingError:
                if not fresh or not build:
                    raise
                workspace.refresh()  # another process removed it meanwhile
                return answer(workspace)

    def _check_indexed(self, workspace: Workspace) -> None:
        """Raise an error if there is no index; once there is one, this is not checked again."""
        if not self._was_indexed and not workspace.is_indexed:
            raise IndexMissingError("this project is not indexed yet", Hint.of("index"))
        self._was_indexed = True

    def go_on(self, is_awaited: Callable[[], bool]) -> None:
        """Continue answers of the symbol graph that ran out of time, until somebody asks a question.

        Args:
            is_awaited: tells whether somebody is waiting for an answer.
        """
        asker = self._behind = Asker()
        self.has_more = True  # a question in the meantime causes another call of this
        try:
            with self._current_workspace().use() as workspace, asker.serve():
                self.has_more = workspace.graph.go_on(is_awaited)
        except CairnError as error:  # the project is being closed, or its index is gone
            self.has_more = False
            _log.info("cut answers of %s are not gone on with: %s", self.project.name, error)
        except Exception:  # noqa: BLE001 - the edge of a thread; it is logged
            self.has_more = False
            _log.exception("going on with cut answers of %s failed", self.project.name)

    def watch(self) -> None:
        """Start to watch the project for edits, unless it is watched."""
        with self._starting:
            stamp = self._stamp
            if self._watch is not None or self._workspace is None:
                return
            watch = Watch(self.project.name, open_workspace(Path(self.project.root)))
            with self._lock:
                is_wanted = self._workspace is not None and self._stamp == stamp
                if is_wanted and self._workspace is not None:
                    self._watch = watch
                    self._workspace.thing.upkeep.rely_on(watch)
        if not is_wanted:  # the project was closed meanwhile, or its settings changed
            watch.stop(STOP_SECONDS)

    def _current_workspace(self) -> Shared[Workspace]:
        """Return the workspace for the current settings and repository.

        A workspace with older settings or another repository is closed once nobody uses it.
        """
        stamp = self._current_stamp()
        with self._lock:
            if self._closed:
                raise BusyError(f"{self.project.name} is being closed", "ask again in a moment")
            if stamp == self._stamp and self._workspace is not None and self._is_there():
                return self._workspace
            last = self._take_open()
        self._end(*last, 0.0)
        with self._lock:
            if self._workspace is None:
                self._git = _git_around(self.project.root)
                self._workspace = self._open(self._current_stamp())
            return self._workspace

    def _current_stamp(self) -> tuple[tuple[int, ...], ...]:
        return (*stamp_of(self._deciding), _identity_of(self._git))

    def _is_there(self) -> bool:
        return Path(self.project.root).is_dir()

    def _open(self, stamp: tuple[tuple[int, ...], ...]) -> Shared[Workspace]:
        root = Path(self.project.root)
        if not self._is_there():
            raise ProjectError(
                f"the folder of {self.project.name} is gone: {root}",
                Hint("if it was moved, index it there", "index", project=None),
            )
        workspace = Shared(open_workspace(root), self._close_workspace)
        self._stamp = stamp
        _log.info("opened %s", self.project.name)
        return workspace

    def _close_workspace(self, workspace: Workspace) -> None:
        self._before_close(workspace)
        workspace.close()

    def close(self, timeout_seconds: float = STOP_SECONDS) -> bool:
        """Close the workspace once nobody uses it; return whether all work ended in time."""
        with self._lock:
            self._closed = True
            last = self._take_open()
        return self._end(*last, timeout_seconds)

    def _take_open(self) -> tuple[Shared[Workspace] | None, Watch | None]:
        """Give up the workspace and the watcher, and return them."""
        self._behind.leave()
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


def _git_around(root: str) -> str:
    """Return the nearest `.git` upwards from a folder; if there is none, its would-be path in the folder."""
    places = [os.path.join(folder, ".git") for folder in (root, *map(str, Path(root).parents))]
    return next((place for place in places if os.path.lexists(place)), places[0])


def _identity_of(path: str) -> tuple[int, ...]:
    """Return the identity of a folder or file, by which to notice a replacement; empty if there is none."""
    try:
        facts = os.lstat(path)
    except OSError:
        return ()
    return (facts.st_dev, facts.st_ino)
