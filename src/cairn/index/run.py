"""The steps of a run: compare with the index, build what is missing, or only report what there is to do."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.config import Settings
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import IndexDamagedError, IndexMissingError
from cairn.garbage_collection import collect_rarely
from cairn.index import plan
from cairn.index.limits import RunOptions, limits_of
from cairn.index.plan import Plan
from cairn.index.state_dir import StateDir
from cairn.index.views import View
from cairn.source.walk import Walk
from cairn.storage.connection import store_errors
from cairn.storage.index import meta_db, view_db
from cairn.storage.index.schema import INDEX
from cairn.types import IndexReport

if TYPE_CHECKING:
    from cairn.index.contents import Contents


class Run:
    """Carries out the steps of a run; a caller that changes anything holds the write lock.

    Args:
        root, state, settings: as for `cairn.index.writer.Writer`.
    """

    def __init__(self, root: Path, state: StateDir, settings: Settings) -> None:
        self._root = root
        self._state = state
        self._settings = settings

    def compare(
        self, view: View, found: Walk, started: float, changed: Collection[str] | None = None, generation: int = 0
    ) -> IndexReport | Plan | None:
        """Return the report if there is nothing to do, else the plan; None if the index must be repaired first.

        Args:
            changed: compare only these files; the caller knows that nobody else has written since `generation`.
        """
        try:
            with closing(self._state.open_for_reading()) as connection, store_errors(self._state.database, INDEX):
                if changed is not None and meta_db.generation(connection) != generation:
                    return None
                todo = plan.plan_update(connection, self._state, view, found, bundled_fingerprint(), changed)
                if todo is None or todo.todo or todo.removed:
                    return todo
                self._state.remove_unlisted(plan.files_of_index(connection, self._state))  # of a killed run
                return plan.make_report(connection, todo, plan.Tally(skipped=list(found.skipped)), started)
        except (IndexMissingError, IndexDamagedError):
            return None  # building creates a new one

    def build(self, view: View, found: Walk, started: float, todo: Plan | None, options: RunOptions) -> IndexReport:
        """Build what is missing.

        Args:
            view: the view to update.
            found: its eligible files.
            started: when the run began, by `time.perf_counter`.
            todo: what to do; None to find out once the index is repaired.
            options: how to do it.
        """
        full, verify, background, progress = options
        limits = limits_of(self._settings, background=background)
        with ExitStack() as stack:
            stack.enter_context(collect_rarely())
            connection = stack.enter_context(closing(self._state.open_for_writing(replace_newer=full)))
            ahead = None
            if todo is not None:
                with store_errors(self._state.database, INDEX):
                    ahead = _contents(view, connection, todo).start(limits, progress)
            if ahead is not None:
                stack.enter_context(closing(ahead))
            from cairn.index import build, gc  # noqa: PLC0415 - start-up time: numpy, after the fork was made

            builder = build.Builder(view, self._state, connection, build.bundled_model(), self._settings, limits)
            report = builder.run(found, todo, started, full=full, verify=verify, ahead=ahead, progress=progress)
            if plan.is_collection_due(connection, time.time()):
                gc.collect(connection, self._state, self._settings, self._root, quiet=True)
            return report

    def preview(self, view: View) -> IndexReport:
        """Report what an update would do; see `Writer.preview`."""
        started = time.perf_counter()
        found = view.walk()
        try:
            with closing(self._state.open_for_reading()) as connection, store_errors(self._state.database, INDEX):
                todo = plan.make_plan(connection, found, view_db.find_view(connection, view.name))
                return plan.preview(connection, todo, found, _contents(view, connection, todo).find_same(), started)
        except IndexMissingError:
            skipped, seconds = tuple(found.skipped), time.perf_counter() - started
            return IndexReport(0, 0, len(found.files), 0, 0, 0, 0, 0, skipped, seconds, 0, dry_run=True)


def _contents(view: View, connection: sqlite3.Connection, todo: Plan) -> Contents:
    from cairn.index.contents import Contents  # noqa: PLC0415 - start-up time: 10 ms, and most runs have nothing to do

    return Contents(view, connection, todo)
