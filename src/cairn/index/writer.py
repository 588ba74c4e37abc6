"""Updates the index of one project. One process does at a time; the others wait."""

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
from cairn.index.state_dir import StateDir
from cairn.index.views import View
from cairn.loading import load
from cairn.storage.connection import store_errors
from cairn.storage.index import view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import count_turns, holder, write_lock
from cairn.types import IndexReport

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.index.plan import Plan
    from cairn.index.run import Run

# What comparing, reading and searching need.
_WHAT_FOLLOWS = ("cairn.index.run", "cairn.index.words", "cairn.source.languages")
# How long an answer waits for another process that is writing.
READER_WAIT_SECONDS = 0.05
# The same for another thread of this process, such as a watch that is just taking in the edit that is asked about.
OWN_WAIT_SECONDS = 1.0


class Writer:
    """Changes the index in a state folder.

    Args:
        root: the folder it is of.
    """

    def __init__(self, root: Path, state: StateDir, settings: Settings) -> None:
        self._root = root
        self._state = state
        self._settings = settings
        self._left_at: dict[str, int] = {}  # the generation in which this left a view, by its name
        self._outwaited = -1  # the run that answers no longer wait for, by its turn of the lock

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
        """Bring a view up to date; see `Workspace.index`. Why it failed is kept for `cairn status`.

        Args:
            changed: the files that may have changed since the last update by this writer, relative to the root; None
                for any. All are compared nevertheless if others may be affected, or another writer was at work.
        """
        try:
            report = None if changed is None else self._run_on(view, changed, background)
            report = report or self._run(view, full, verify, background, wait_seconds, progress)
        except IndexLockedError:  # another run is at work, and records its own failures
            raise
        except CairnError as error:
            record_error(self._state, error)
            raise
        clear_error(self._state)
        self._left_at[view.name] = report.generation
        return report

    def _run_on(self, view: View, changed: Collection[str], background: bool) -> IndexReport | None:
        """Bring some files of a view up to date; return None if all have to be compared."""
        started = time.perf_counter()
        if view.name not in self._left_at or (found := view.walk_paths(changed)) is None:
            return None
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX):
            todo = self._steps.compare(view, found, started, changed, self._left_at[view.name])
            if todo is None or isinstance(todo, IndexReport):
                return todo
            try:
                return self._steps.build(view, found, started, False, background, None, False, todo)
            except (DerivedFileError, IndexDamagedError):  # mended by a whole run
                return None

    def _run(
        self,
        view: View,
        full: bool,
        verify: bool,
        background: bool,
        wait_seconds: float | None,
        progress: Progress | None,
    ) -> IndexReport:
        started = time.perf_counter()
        n_turns = count_turns(self._state.lock)
        found = view.walk()
        self._state.create()
        timeout_seconds = self._settings.lock_timeout_seconds if wait_seconds is None else wait_seconds
        with write_lock(self._state.lock, timeout_seconds, INDEX) as n_turns_by_now:
            todo = None if full or verify else self._steps.compare(view, found, started)
            if n_turns_by_now != n_turns and _depends_on_listing(todo):
                # Another run may have written since the files were listed, and known of files that came after that.
                found = view.walk()
                todo = None if full or verify else self._steps.compare(view, found, started)
            if isinstance(todo, IndexReport):
                return todo
            build = partial(self._steps.build, view, found, started, full, background, progress)
            try:
                return build(verify, todo)
            except DerivedFileError:  # damage that shows only when a whole file is read
                return build(True, None)
            except IndexDamagedError:  # the same, of a page of the database
                self._state.set_aside()
                return build(verify, None)

    @cached_property
    def _steps(self) -> Run:
        from cairn.index.run import Run  # noqa: PLC0415 - start-up time: imported while git is waited for, see below

        return Run(self._root, self._state, self._settings)

    def preview(self, view: View) -> IndexReport:
        """Say what an update would do, without changing anything; files whose times cannot vouch for them are read."""
        return self._steps.preview(view)

    def refresh(self, view: View, progress: Progress | None = None) -> str:
        """Bring a view up to date for an answer, and return a note when the answer has to do without that.

        That is so while another process is writing, for an answer waits 50 ms for that at most, and where nothing can
        be written. For a run of this process one answer waits a second. Without any index there is nothing to answer
        from, so the first part of one is waited for.
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
        """Bring a view up to date unless a run is at it that takes long.

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
        """Tell whether there is anything of a view to answer from, without waiting."""
        try:
            with closing(self._state.open_for_reading()) as connection, store_errors(self._state.database, INDEX):
                row = view_db.find_view(connection, view.name)
                return row is not None and row.generation > 0
        except StoreError:
            return False

    def appears(self, view: View) -> bool:
        """Wait while another process writes and shows nothing of a view yet; tell whether there is something now."""
        deadline = time.monotonic() + self._settings.lock_timeout_seconds
        while self._is_held() and time.monotonic() < deadline:
            if self.is_indexed(view):
                return True
            time.sleep(READER_WAIT_SECONDS)
        return self.is_indexed(view)

    def _is_held(self) -> bool:
        """Tell whether anybody writes; where that cannot be told, an update says why the folder cannot be used."""
        try:
            return holder(self._state.lock) is not None
        except StoreError:
            return False

    def is_damaged(self) -> bool:
        """Tell whether the rows of the database differ from what was written; this reads all of it."""
        return bool(load("cairn.index.health:is_damaged")(self._state, bundled_fingerprint()))

    def set_aside(self) -> None:
        """Move the database out of the way; the next update makes a new one."""
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX):
            self._state.set_aside()


def _depends_on_listing(todo: IndexReport | Plan | None) -> bool:
    """Tell whether a run would add or drop files by its list of them, not only read some again to be sure."""
    if isinstance(todo, IndexReport):
        return False
    return todo is None or bool(todo.removed or todo.changes())


def import_what_follows() -> None:
    """Import what a run needs next, while there is nothing to do but to wait for git; so this takes no time."""
    for name in _WHAT_FOLLOWS:
        import_module(name)
