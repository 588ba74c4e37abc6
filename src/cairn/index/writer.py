"""Updates the index of one project, one process at a time; others wait."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from contextlib import closing
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.config import Settings
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import (
    CairnError,
    DerivedFileError,
    IndexDamagedError,
    IndexLockedError,
    IndexMissingError,
    IndexVersionError,
    StoreError,
)
from cairn.index.last_error import clear_error, record_error
from cairn.index.limits import Progress, RunOptions
from cairn.index.state_dir import StateDir
from cairn.index.views import View
from cairn.loading import load
from cairn.storage.connection import store_errors
from cairn.storage.index import view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import count_turns, holder, write_lock
from cairn.types import IndexReport

if TYPE_CHECKING:
    from cairn.index.plan import Plan
    from cairn.index.run import Run

# What comparing, reading and searching need.
_WHAT_FOLLOWS = ("cairn.index.run", "cairn.index.words", "cairn.source.languages")
# How long an answer waits for another process that is writing.
READER_WAIT_SECONDS = 0.05
# The same for another thread of this process, such as a watcher that is just indexing the edit in question.
OWN_WAIT_SECONDS = 1.0


class Writer:
    """Updates the index in a state folder.

    Args:
        root: the indexed folder.
    """

    def __init__(self, root: Path, state: StateDir, settings: Settings) -> None:
        self._root = root
        self._state = state
        self._settings = settings
        self._left_at: dict[str, int] = {}  # by view name, its generation after this writer's last run
        self._outwaited = -1  # the run, by its turn of the lock, that answers no longer wait for

    def update(
        self,
        view: View,
        *,
        full: bool = False,
        verify: bool = False,
        background: bool = False,
        wait_seconds: float | None = None,
        changed: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring a view up to date; see `Workspace.index`. A failure is recorded for `cairn status`.

        Args:
            changed: the files that may have changed since this writer's last update, relative to the root; None for
                any. All are compared anyway if others may be affected or another writer was at work.
        """
        try:
            report = None if changed is None else self._run_on(view, changed, RunOptions(background=background))
            report = report or self._run(view, RunOptions(full, verify, background, progress), wait_seconds)
        except IndexLockedError:  # another run is at work and records its own failures
            raise
        except CairnError as error:
            record_error(self._state, error)
            raise
        clear_error(self._state)
        self._left_at[view.name] = report.generation
        return report

    def _run_on(self, view: View, changed: Collection[str], options: RunOptions) -> IndexReport | None:
        """Bring some files of a view up to date; return None if all must be compared."""
        started = time.perf_counter()
        if view.name not in self._left_at or (found := view.walk_paths(changed)) is None:
            return None
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX):
            todo = self._steps.compare(view, found, started, changed, self._left_at[view.name])
            if todo is None or isinstance(todo, IndexReport):
                return todo
            try:
                return self._steps.build(view, found, started, todo, options)
            except (DerivedFileError, IndexDamagedError):  # a full run repairs it
                return None

    def _run(self, view: View, options: RunOptions, wait_seconds: float | None) -> IndexReport:
        started = time.perf_counter()
        rebuilds = options.full or options.verify
        n_turns = count_turns(self._state.lock)
        found = view.walk()
        self._state.create()
        timeout_seconds = self._settings.lock_timeout_seconds if wait_seconds is None else wait_seconds
        with write_lock(self._state.lock, timeout_seconds, INDEX) as n_turns_by_now:
            todo = None if rebuilds else self._steps.compare(view, found, started)
            if n_turns_by_now != n_turns and _depends_on_listing(todo):
                # Another run may have written since these files were listed, with knowledge of newer ones.
                found = view.walk()
                todo = None if rebuilds else self._steps.compare(view, found, started)
            if isinstance(todo, IndexReport):
                return todo
            build = partial(self._steps.build, view, found, started)
            try:
                return build(todo, options)
            except DerivedFileError:  # damage that only shows when a whole file is read
                return build(None, options._replace(verify=True))
            except IndexDamagedError:  # the same for a page of the database
                self._state.set_aside()
                return build(None, options)

    @cached_property
    def _steps(self) -> Run:
        from cairn.index.run import Run  # noqa: PLC0415 - start-up time: imported while git is waited for, see below

        return Run(self._root, self._state, self._settings)

    def preview(self, view: View) -> IndexReport:
        """Report what an update would do, without changing anything; files whose times prove nothing are read."""
        return self._steps.preview(view)

    def refresh(self, view: View, progress: Progress | None = None) -> str:
        """Bring a view up to date for an answer; return a note if the answer has to do without.

        An answer waits at most 50 ms for another process that is writing, and the first one up to a second for a run of
        this process. It also does without if nothing can be written. If there is no index at all, it waits for the
        first part of one.
        """
        known = self.is_indexed(view) or self.appears(view)
        try:
            if known:
                self._update_soon(view, progress)
            else:
                self.update(view, progress=progress)
        except (IndexMissingError, IndexVersionError, IndexDamagedError):
            raise
        except IndexLockedError:
            if not known:
                raise
            return "another process is updating the index: this is what it holds so far"
        except StoreError as error:
            if not known:
                raise
            return error.hint.after(f"the index could not be updated, so this is from before: {error}")
        return ""

    def _update_soon(self, view: View, progress: Progress | None) -> None:
        """Bring a view up to date unless a long run is already at work.

        Raises:
            StoreError: as `update`.
        """
        try:
            self.update(view, wait_seconds=READER_WAIT_SECONDS, progress=progress)
        except IndexLockedError:
            turn = count_turns(self._state.lock)
            if turn == self._outwaited or holder(self._state.lock) != os.getpid():
                raise
            self._outwaited = turn
            self.update(view, wait_seconds=OWN_WAIT_SECONDS, progress=progress)

    def is_indexed(self, view: View) -> bool:
        """Tell, without waiting, whether any part of a view is indexed."""
        try:
            with closing(self._state.open_for_reading()) as connection, store_errors(self._state.database, INDEX):
                row = view_db.find_view(connection, view.name)
                return row is not None and row.generation > 0
        except StoreError:
            return False

    def appears(self, view: View) -> bool:
        """Wait while another process writes and has published nothing of a view; tell whether it has now."""
        deadline = time.monotonic() + self._settings.lock_timeout_seconds
        while self._is_held() and time.monotonic() < deadline:
            if self.is_indexed(view):
                return True
            time.sleep(READER_WAIT_SECONDS)
        return self.is_indexed(view)

    def _is_held(self) -> bool:
        """Tell whether anybody is writing; if that cannot be told, an update reports why the folder is unusable."""
        try:
            return holder(self._state.lock) is not None
        except StoreError:
            return False

    def is_damaged(self) -> bool:
        """Read the whole database and tell whether its rows differ from what was written."""
        return bool(load("cairn.index.health:is_damaged")(self._state, bundled_fingerprint()))

    def set_aside(self) -> None:
        """Move the database aside; the next update creates a new one."""
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX):
            self._state.set_aside()


def _depends_on_listing(todo: IndexReport | Plan | None) -> bool:
    """Tell whether a run's list of files would add or drop any, rather than just have some reread."""
    if isinstance(todo, IndexReport):
        return False
    return todo is None or bool(todo.removed or todo.changes())


def import_what_follows() -> None:
    """Import what a run needs next while it waits for git, at no cost in time."""
    for name in _WHAT_FOLLOWS:
        import_module(name)
