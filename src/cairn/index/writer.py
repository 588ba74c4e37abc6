"""All that writes the index of one project: updates, garbage, repairs. One process at a time does; the others wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack, closing
from functools import partial
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
from cairn.index.store import StateDir
from cairn.index.views import View
from cairn.storage.connection import mapped_errors
from cairn.storage.index import meta_db, view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import holder, write_lock
from cairn.types import IndexReport

if TYPE_CHECKING:
    import sqlite3

    from cairn.embedding.static import StaticModel
    from cairn.index.ahead import Ahead
    from cairn.index.gc import GarbageReport
    from cairn.index.health import Finding
    from cairn.index.limits import Limits, Progress
    from cairn.index.plan import Plan
    from cairn.source.walk import Walk

# How long an answer waits for another process that is writing.
READER_WAIT_SECONDS = 0.05


class Writer:
    """Changes the index in a state folder.

    Args:
        root: the folder it is of.
        load_model: returns the bundled model; called when a file has to be parsed.
    """

    def __init__(self, root: Path, state: StateDir, settings: Settings, load_model: Callable[[], StaticModel]) -> None:
        self._root = root
        self._state = state
        self._settings = settings
        self._load_model = load_model
        self._left_at: dict[str, int] = {}  # the generation in which this left a view, by its name

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
            changed: the files that may have changed since this did it last, relative to the root; None for any.
                All are compared nevertheless where others may be concerned, or somebody else wrote meanwhile.
        """
        try:
            report = None if changed is None else self._run_on(view, changed, background)
            report = report or self._run(view, full, verify, background, wait_seconds, progress)
        except IndexLockedError:  # another run is at work, and says itself when it fails
            raise
        except CairnError as error:
            self._state.record_error(error)
            raise
        self._state.clear_error()
        self._left_at[view.name] = report.generation
        return report

    def _run_on(self, view: View, changed: Collection[str], background: bool) -> IndexReport | None:
        """Bring some files of a view up to date; None if all have to be compared."""
        started = time.perf_counter()
        if view.name not in self._left_at or (found := view.walk_paths(changed)) is None:
            return None
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX):
            todo = self._compare(view, found, started, changed)
            if todo is None or isinstance(todo, IndexReport):
                return todo
            try:
                return self._build(view, found, started, False, background, None, False, todo)
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
        found = view.walk()
        self._state.create()
        timeout_seconds = self._settings.lock_timeout_seconds if wait_seconds is None else wait_seconds
        with write_lock(self._state.lock, timeout_seconds, INDEX):
            todo = None if full or verify else self._compare(view, found, started)
            if isinstance(todo, IndexReport):
                return todo
            build = partial(self._build, view, found, started, full, background, progress)
            try:
                return build(verify, todo)
            except DerivedFileError:  # damage that shows only when all of a file is read
                return build(True, None)
            except IndexDamagedError:  # the same, of a page of the database
                self._state.set_aside()
                return build(verify, None)

    def _compare(
        self, view: View, found: Walk, started: float, changed: Collection[str] | None = None
    ) -> IndexReport | Plan | None:
        """Return the report of a run with nothing to do, else what there is to do, None for an index to be mended.

        Args:
            changed: the only files compared, for which nobody else may have written since the last run.
        """
        from cairn.index import plan  # noqa: PLC0415 - start-up time: searching does not need it

        try:
            with closing(self._state.open_for_reading()) as connection, mapped_errors(self._state.database, INDEX):
                if changed is not None and meta_db.generation(connection) != self._left_at[view.name]:
                    return None
                todo = plan.plan_update(connection, self._state, view, found, bundled_fingerprint(), changed)
                if todo is None or todo.todo or todo.removed:
                    return todo
                self._state.remove_unlisted(plan.listed_files(connection, self._state))  # of a run that was killed
                return plan.make_report(connection, todo, plan.Tally(skipped=list(found.skipped)), started)
        except (IndexMissingError, IndexDamagedError):
            return None  # building makes a new one

    def _build(
        self,
        view: View,
        found: Walk,
        started: float,
        full: bool,
        background: bool,
        progress: Progress | None,
        verify: bool,
        todo: Plan | None,
    ) -> IndexReport:
        from cairn.index.limits import limits_of  # noqa: PLC0415 - start-up time: most runs have nothing to do
        from cairn.index.plan import is_collection_due  # noqa: PLC0415 - as above

        limits = limits_of(self._settings, background=background)
        with ExitStack() as stack:
            connection = stack.enter_context(closing(self._state.open_for_writing(replace_newer=full)))
            ahead = None if todo is None else self._start(view, connection, todo, limits, progress)
            if ahead is not None:
                stack.enter_context(closing(ahead))
            from cairn.index.build import Builder  # noqa: PLC0415 - start-up time: numpy, after the fork was made

            builder = Builder(view, self._state, connection, self._load_model(), self._settings, limits)
            report = builder.run(found, todo, started, full=full, verify=verify, ahead=ahead, progress=progress)
            if is_collection_due(connection, time.time()):
                from cairn.index import gc  # noqa: PLC0415 - start-up time: once a day

                gc.collect(connection, self._state, self._settings, self._root, quiet=True)
            return report

    def _start(
        self, view: View, connection: sqlite3.Connection, todo: Plan, limits: Limits, progress: Progress | None
    ) -> Ahead | None:
        """Have the files parsed beside what is imported next, if that saves time."""
        from cairn.index.ahead import Ahead, is_worthwhile  # noqa: PLC0415 - start-up time, as in _build()
        from cairn.index.limits import usable_cores  # noqa: PLC0415 - as above
        from cairn.index.reading import Reader  # noqa: PLC0415 - as above

        if todo.is_much or not is_worthwhile(limits, cores=usable_cores(), imported="numpy" in sys.modules):
            return None
        with mapped_errors(self._state.database, INDEX):
            return Ahead(Reader(view, connection, todo, progress), limits)

    def preview(self, view: View) -> IndexReport:
        """Say what an update would do, without changing anything; files that their times cannot vouch for are read."""
        from cairn.index import plan  # noqa: PLC0415 - start-up time, as in _compare()
        from cairn.index.reading import count_same  # noqa: PLC0415 - as above

        started = time.perf_counter()
        found = view.walk()
        try:
            with closing(self._state.open_for_reading()) as connection, mapped_errors(self._state.database, INDEX):
                todo = plan.make_plan(connection, found, view_db.find_view(connection, view.name))
                return plan.preview(connection, todo, found, count_same(view, connection, todo), started)
        except IndexMissingError:
            skipped, seconds = tuple(found.skipped), time.perf_counter() - started
            return IndexReport(0, 0, len(found.files), 0, 0, 0, 0, 0, skipped, seconds, 0, dry_run=True)

    def refresh(self, view: View, progress: Progress | None = None) -> str:
        """Bring a view up to date for an answer, and return a note when the answer has to do without that.

        That is so while another process is writing, for an answer waits 50 ms for that at most, and where nothing can
        be written. Without any index there is nothing to answer from, so the first part of one is waited for.
        """
        known = self.is_indexed(view) or self.appears(view)
        try:
            self.update(view, wait_seconds=READER_WAIT_SECONDS if known else None, progress=progress)
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

    def is_indexed(self, view: View) -> bool:
        """Tell whether anything of a view can be answered from; nothing is waited for."""
        try:
            with closing(self._state.open_for_reading()) as connection, mapped_errors(self._state.database, INDEX):
                row = view_db.find_view(connection, view.name)
                return row is not None and row.generation > 0
        except StoreError:
            return False

    def appears(self, view: View) -> bool:
        """Wait while another process writes and shows nothing of a view yet, and tell whether it did then."""
        deadline = time.monotonic() + self._settings.lock_timeout_seconds
        while holder(self._state.lock) is not None and time.monotonic() < deadline:
            if self.is_indexed(view):
                return True
            time.sleep(READER_WAIT_SECONDS)
        return self.is_indexed(view)

    def is_damaged(self) -> bool:
        """Tell whether the rows of the database are not what was written; this reads all of it."""
        from cairn.index import health  # noqa: PLC0415 - start-up time: numpy

        return health.is_damaged(self._state, bundled_fingerprint())

    def set_aside(self) -> None:
        """Move the database out of the way; the next update makes a new one."""
        with write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX):
            self._state.set_aside()

    def collect(self, view: View, *, dry_run: bool) -> GarbageReport:
        """Drop garbage; see `Workspace.collect`. Damaged files are redone first, from the view."""
        try:
            return self._collect(dry_run)
        except DerivedFileError:
            self.update(view, verify=True)
        return self._collect(dry_run)

    def _collect(self, dry_run: bool) -> GarbageReport:
        from cairn.index import gc  # noqa: PLC0415 - start-up time: numpy

        self._state.open_for_reading().close()  # there is an index
        with (
            write_lock(self._state.lock, self._settings.lock_timeout_seconds, INDEX),
            closing(self._state.open_for_writing()) as connection,
        ):
            return gc.collect(connection, self._state, self._settings, self._root, dry_run=dry_run)

    def repair(self, view: View, findings: list[Finding]) -> list[Finding]:
        """Mend what can be, examine again, and return what was mended, marked so, before what is left."""
        from cairn.index import health  # noqa: PLC0415 - start-up time: numpy

        fixed: list[Finding] = []
        for _ in range(3):  # what is in the way hides what is behind
            health.repair(self._state, findings, partial(self.update, view), partial(self.update, view, verify=True))
            left = health.examine(self._state, bundled_fingerprint())
            repairs = {one.repair for one in left}
            fixed += [one._replace(fixed=True) for one in findings if one.repair and one.repair not in repairs]
            findings = left
            if not any(repairs):
                break
        return [*fixed, *findings]
