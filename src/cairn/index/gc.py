"""Drops what no view has shown for a while; what is gone today may be back tomorrow."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from cairn.config import Settings
from cairn.index.aside import remove_set_aside
from cairn.index.plan import files_of_index
from cairn.index.segment import Segment, merge_segments
from cairn.index.state_dir import StateDir, new_name
from cairn.index.state_files import LEARNING_LOCK
from cairn.source.objects import missing_commits
from cairn.storage.connection import store_errors, transaction
from cairn.storage.index import blob_db, garbage_db, overlay_db, segment_db
from cairn.storage.index.schema import INDEX
from cairn.storage.index.segment_db import SegmentRow
from cairn.storage.lock import holder, write_lock

DAY_SECONDS = 86_400.0
# A routine collection rewrites a segment only if at least this share of its rows would go.
QUIET_SHARE = 1 / 8
# The database is compacted when this share of it is free.
FREE_SHARE = 1 / 4


class GarbageReport(NamedTuple):
    """What was or would be dropped: views by name, blobs, their chunks, and bytes on disk (estimated before the fact).

    `waiting` counts blobs that no view shows, but whose grace period is not over.
    """

    views: tuple[str, ...]
    blobs: int
    chunks: int
    freed_bytes: int
    waiting: int
    seconds: float
    dry_run: bool = False


class _Due(NamedTuple):
    """What to drop: views, and blobs with their numbers of chunks; and how many blobs are still waiting."""

    views: list[garbage_db.ViewSize]
    blobs: dict[int, int]
    waiting: int


def find_gone_views(views: Sequence[garbage_db.ViewSize], root: Path) -> set[int]:
    """Return the ids of views whose folder is gone or whose branch or commit git no longer knows.

    A name that is not UTF-8 cannot be checked, so its view is kept.

    Args:
        views: of one index.
        root: a checkout of the repository.
    """
    exact = [view for view in views if "\\x" not in view.name]
    folders = {view.id for view in exact if not view.revision and not os.path.isdir(view.name)}
    names = {view.id: view.name.partition(":")[0] for view in exact if view.revision}
    missing = missing_commits(root, sorted(set(names.values())))
    return folders | {view_id for view_id, name in names.items() if name in missing}


def learning_lock(state: StateDir) -> Path:
    """Return the file that a run locks while it needs temporary views."""
    return state.path / LEARNING_LOCK


def is_passing(state: StateDir, name: str) -> bool:
    """Tell whether a view is temporary, even if left behind by a run that was killed."""
    with closing(state.open_for_reading()) as connection, store_errors(state.database, INDEX):
        return name in garbage_db.passing_views(connection)


def add_passing_view(state: StateDir, name: str, timeout_seconds: float) -> None:
    """Mark a view as temporary before it is indexed, so that it goes away however the run ends.

    Raises:
        IndexLockedError: if another process writes for longer than the seconds given.
        StoreError: if it cannot be written.
    """
    with (
        write_lock(state.lock, timeout_seconds, INDEX),
        closing(state.open_for_writing()) as connection,
        store_errors(state.database, INDEX),
        transaction(connection),
    ):
        garbage_db.add_passing_view(connection, name)


def drop_passing_views(state: StateDir, timeout_seconds: float) -> None:
    """Drop all temporary views; what only they show becomes garbage.

    Raises:
        IndexLockedError, StoreError: as `add_passing_view`.
    """
    with write_lock(state.lock, timeout_seconds, INDEX), closing(state.open_for_writing()) as connection:
        with store_errors(state.database, INDEX), transaction(connection):
            garbage_db.drop_passing_views(connection)
        state.remove_unlisted(files_of_index(connection, state))


class _Undo(Exception):
    """Rolls back a dry run's transaction."""


def collect(
    connection: sqlite3.Connection,
    state: StateDir,
    settings: Settings,
    root: Path,
    *,
    now: float | None = None,
    quiet: bool = False,
    dry_run: bool = False,
) -> GarbageReport:
    """Drop what has been garbage for `Settings.garbage_days` days; the caller holds the write lock.

    Args:
        connection: the database.
        state: the folder it is in.
        settings: how long garbage is kept.
        root: a checkout of the repository, to ask which branches there are.
        now: seconds since the epoch; by default the clock's.
        quiet: skip work that costs more than it frees.
        dry_run: only say what would be dropped.

    Raises:
        DerivedFileError: if a segment is damaged.
    """
    started = time.perf_counter()
    now = time.time() if now is None else now
    grace_seconds = settings.garbage_days * DAY_SECONDS
    sizes = state.sizes()
    due = _Due([], {}, 0)
    with store_errors(state.database, INDEX):
        try:
            with transaction(connection):
                due = _find(connection, state, root, now, grace_seconds)
                if dry_run:
                    raise _Undo
                garbage_db.record_collected(connection, now)
                due = _sweep(connection, state, due, QUIET_SHARE if quiet else 0.0)
        except _Undo:
            freed = sum(view.n_bytes for view in due.views) + _estimate(connection, due)
        else:
            _tidy(connection, state, now - grace_seconds, quiet=quiet)
            after = state.sizes()  # the database's log grows with every deletion until it is truncated
            freed = sum(max(0, size - after[part]) for part, size in sizes.items())
    names = tuple(view.name for view in due.views)
    seconds = time.perf_counter() - started
    return GarbageReport(names, len(due.blobs), sum(due.blobs.values()), freed, due.waiting, seconds, dry_run)


def _find(connection: sqlite3.Connection, state: StateDir, root: Path, now: float, grace_seconds: float) -> _Due:
    """Drop views whose grace period or run is over, and return what to collect. Runs inside a transaction."""
    views = garbage_db.read_view_sizes(connection)
    garbage_db.mark(connection, "view", find_gone_views(views, root), now)
    over = garbage_db.ids_due(connection, "view", now - grace_seconds)
    garbage_db.drop_views(connection, over)
    if holder(learning_lock(state)) is None:  # left by a run that was killed
        over |= garbage_db.drop_passing_views(connection)
    dead = garbage_db.dead_blobs(connection)
    garbage_db.mark(connection, "blob", dead.keys(), now)
    blobs = garbage_db.ids_due(connection, "blob", now - grace_seconds)
    due_views = [view for view in views if view.id in over]
    return _Due(due_views, {blob_id: dead[blob_id] for blob_id in blobs}, len(dead) - len(blobs))


def _sweep(connection: sqlite3.Connection, state: StateDir, due: _Due, least_share: float) -> _Due:
    """Drop blobs and rewrite their segments without them; return what was dropped. Runs inside a transaction.

    Args:
        connection: the database.
        state: the folder it is in.
        due: what to drop.
        least_share: leave a segment alone if it would lose less than this share of its rows.
    """
    segments = {row.id: row for row in segment_db.read_segments(connection)}
    parts = garbage_db.by_segment(connection, due.blobs)
    gone: set[int] = set()
    for segment_id, blobs in parts.items():
        row = segments.get(segment_id)
        if row is not None and sum(due.blobs[blob_id] for blob_id in blobs) < least_share * row.n_rows:
            continue
        gone |= blobs
        if row is not None:
            _rewrite(connection, state, row, blobs)
    blob_db.drop_blobs(connection, gone)
    garbage_db.forget(connection, "blob", gone)
    if gone:
        from cairn.index.overlay import OverlayStore  # noqa: PLC0415 - start-up time: most projects need no other model

        for model in overlay_db.read_models(connection):
            store = OverlayStore(connection, state, model)
            store.forget_lost()
            store.collect()
        garbage_db.count_up_generation(connection)
    blobs_gone = {blob_id: count for blob_id, count in due.blobs.items() if blob_id in gone}
    return due._replace(blobs=blobs_gone, waiting=due.waiting + len(due.blobs) - len(gone))


def _rewrite(connection: sqlite3.Connection, state: StateDir, row: SegmentRow, without: set[int]) -> None:
    segment = Segment.load(state.segment(row.name))
    rest = set(segment.blob_ids.tolist()) - without
    new_id = 0
    if segment.count_rows(rest):
        name = new_name()
        new_id = segment_db.put_segment(connection, name, *merge_segments(state.segment(name), [segment], rest))
    segment_db.replace_segments(connection, [row.id], new_id)


def _tidy(connection: sqlite3.Connection, state: StateDir, before: float, *, quiet: bool) -> None:
    """Delete unreferenced files and databases set aside before `before`; give free pages back to the disk."""
    state.remove_unlisted(files_of_index(connection, state))
    remove_set_aside(state, before)
    size, free = garbage_db.page_bytes(connection)
    # Rewriting it takes twice the space, which a full disk does not have.
    if not quiet and free > FREE_SHARE * size and shutil.disk_usage(state.path).free > 2 * (size - free):
        garbage_db.compact(connection)


def _estimate(connection: sqlite3.Connection, due: _Due) -> int:
    """Estimate how many bytes of the segments belong to the blobs' chunks."""
    rows = segment_db.read_segments(connection)
    n_rows = sum(row.n_rows for row in rows)
    return sum(row.n_bytes for row in rows) * sum(due.blobs.values()) // n_rows if n_rows else 0
