"""Compares the files on disk with the manifest; imports nothing heavy, since most runs find no change."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from cairn.index.past_files import past_file
from cairn.index.state_dir import StateDir
from cairn.index.views import View
from cairn.source.walk import Walk
from cairn.storage.index import garbage_db, meta_db, overlay_db, segment_db, view_db
from cairn.storage.index.overlay_db import OverlayRow
from cairn.storage.index.segment_db import SegmentRow
from cairn.storage.index.view_db import FileRow, ViewRow
from cairn.types import FileStat, IndexReport, Skipped

# Bump this when parsing, analysis or a derived format changes what an index holds; older indexes are rebuilt.
ANALYSIS_VERSION = "25"
# Even in a large index, a segment below this share of `Settings.exact_chunks` is compared row by row.
GRAPH_SHARE = 1 / 10
MUCH_BYTES = 200_000
# An update with changes looks for garbage if this long has passed since the last look.
GARBAGE_SECONDS = 86_400.0
_LARGE = 2  # a file with more rows than this many times all others together is not merged
_Row = TypeVar("_Row", SegmentRow, OverlayRow)


@dataclass(slots=True, eq=False, repr=False)
class Plan:
    """What a run has to do. `known` are the files of the view by path, as the manifest has them.

    `unchanged` counts files that are indexed, without those that are skipped for what they hold.
    """

    todo: list[FileStat]
    removed: list[str]
    unchanged: int
    known: dict[str, FileRow]
    view_id: int = -1

    @property
    def is_much(self) -> bool:
        """Whether there is enough to read to make more processes worth starting."""
        return sum(file.size for file in self.todo) >= MUCH_BYTES

    @property
    def n_dropped(self) -> int:
        """How many of the files that went were indexed."""
        return sum(self.blob_of(path) is not None for path in self.removed)

    def blob_of(self, path: str) -> int | None:
        """Return the content that the manifest has for a path; None for one that is new or was skipped."""
        row = self.known.get(path)
        return None if row is None else row.blob_id

    def changes(self) -> list[FileStat]:
        """Return the files that look new or changed; the rest of `todo` is only reread to be sure."""
        rows = ((file, self.known.get(file.path)) for file in self.todo)
        return [file for file, row in rows if row is None or not row.is_stamped(file)]


@dataclass(slots=True, eq=False, repr=False)
class Tally:
    """What a run has done so far: counts of files, and of segments written.

    `touched` says that the view has changed.
    """

    added: int = 0
    changed: int = 0
    renamed: int = 0
    embedded: int = 0
    segments: int = 0
    touched: bool = False
    skipped: list[Skipped] = field(default_factory=list)

    def count(self, rows: Iterable[FileRow], plan: Plan) -> None:
        """Count files whose content has changed; a file that was only touched does not count."""
        for row in rows:
            before = plan.blob_of(row.path)
            if before is None and row.blob_id is None:
                continue  # skipped for what it holds, as it was
            if before == row.blob_id:
                plan.unchanged += 1
                continue
            if before is None:
                self.added += 1
            else:
                self.changed += 1
            self.touched = True


def make_plan(connection: sqlite3.Connection, walk: Walk, view: ViewRow | None) -> Plan:
    """Compare the walk with the manifest by size and time; files that changed very recently are read again."""
    known = {row.path: row for row in view_db.iter_files(connection, view.id)} if view is not None else {}
    return _compare(walk, known, -1 if view is None else view.id)


def plan_paths(connection: sqlite3.Connection, walk: Walk, view: ViewRow, paths: Collection[str]) -> Plan:
    """Compare some files with the manifest; the caller knows that the others have not changed.

    Args:
        walk: the files among them that exist and are eligible.
        paths: all of the files.
    """
    plan = _compare(walk, view_db.find_files(connection, view.id, paths), view.id)
    plan.unchanged += view_db.count_files(connection, view.id) - sum(
        plan.blob_of(path) is not None for path in plan.known
    )
    return plan


def _compare(walk: Walk, known: dict[str, FileRow], view_id: int) -> Plan:
    todo, unchanged = [], 0
    for file in walk.files:
        row = known.get(file.path)
        if row is None or not row.agrees_with(file):
            todo.append(file)
        elif row.blob_id is not None:
            unchanged += 1
    present = {file.path for file in walk.files}
    removed = [path for path in known if path not in present]
    return Plan(todo, removed, unchanged, known, view_id)


def is_usable(connection: sqlite3.Connection, fingerprint: str) -> bool:
    """Tell whether the index was made by this version of the analysis and the model with this fingerprint."""
    meta = meta_db.read_meta(connection)
    return meta.get("analysis") == ANALYSIS_VERSION and meta.get("model") == fingerprint


def lost_segments(connection: sqlite3.Connection, state: StateDir) -> list[int]:
    """Return the ids of segments whose file is missing or has another size than when it was written."""
    return [
        row.id for row in segment_db.read_segments(connection) if not has_size(state.segment(row.name), row.n_bytes)
    ]


def missing_graphs(connection: sqlite3.Connection, state: StateDir, exact_chunks: int) -> list[SegmentRow]:
    """Return the segments that lack a graph and should have one: the larger ones of a large index.

    Args:
        exact_chunks: an index of up to this many chunks is always compared in full; 0: of any size.
    """
    rows = segment_db.read_segments(connection)
    if not exact_chunks or sum(row.n_rows for row in rows) <= exact_chunks:
        return []
    return [row for row in rows if row.n_rows >= GRAPH_SHARE * exact_chunks and not state.neighbours(row.name).exists()]


def is_collection_due(connection: sqlite3.Connection, now: float) -> bool:
    """Tell whether to look for garbage; a last time in the future, from a wrong clock, is ignored."""
    return not 0 <= now - garbage_db.last_collection(connection) < GARBAGE_SECONDS


def is_of(view: ViewRow, shown: View) -> bool:
    """Tell whether a view shows the branch and commit that it should."""
    return (view.branch, view.revision) == (shown.branch, shown.revision)


def is_published(state: StateDir, view: ViewRow | None) -> bool:
    """Tell whether the view's arrays show everything that was committed."""
    if view is None or not view.generation:
        return False
    is_whole = has_size(state.view(view.arrays), view.n_bytes)
    return is_whole and has_size(state.layout(view.layout), view.layout_bytes)


def worth_merging(rows: Sequence[_Row]) -> list[_Row]:
    """Return the derived files worth merging: all but the largest if copying it would be most of the work."""
    ordered = sorted(rows, key=lambda row: row.n_rows)
    is_large = ordered[-1].n_rows > _LARGE * sum(row.n_rows for row in ordered[:-1])
    return ordered[:-1] if is_large else ordered


def has_size(path: Path, n_bytes: int) -> bool:
    """Tell whether a derived file exists and has the size it was written with."""
    try:
        return path.stat().st_size == n_bytes
    except OSError:
        return False


def files_of_index(connection: sqlite3.Connection, state: StateDir) -> set[Path]:
    """Return the derived files that the index refers to; all others are litter."""
    segments = segment_db.read_segments(connection)
    keep = {state.segment(row.name) for row in segments} | {state.neighbours(row.name) for row in segments}
    for view in view_db.read_views(connection):
        keep |= {state.graph(view.id), past_file(state, view.name)}
        if view.generation:
            keep |= {state.view(view.arrays), state.layout(view.layout)}
    return keep | {state.overlay(name) for name in overlay_db.overlay_names(connection)}


def plan_update(
    connection: sqlite3.Connection,
    state: StateDir,
    shown: View,
    walk: Walk,
    fingerprint: str,
    paths: Collection[str] | None = None,
) -> Plan | None:
    """Return what to do for an intact index, None if it must be repaired or rebuilt first.

    Args:
        paths: as for `plan_paths`; None if the walk is of all files.
    """
    view = view_db.find_view(connection, shown.name)
    if view is None or view.pending or not is_of(view, shown) or not is_usable(connection, fingerprint):
        return None
    if lost_segments(connection, state) or not is_published(state, view):
        return None
    return make_plan(connection, walk, view) if paths is None else plan_paths(connection, walk, view, paths)


def preview(
    connection: sqlite3.Connection, plan: Plan, walk: Walk, same: Collection[str], started: float
) -> IndexReport:
    """Say what a run would do, without writing anything.

    Args:
        plan: what it would look at.
        walk: what it would find.
        same: those of the files to look at that are as the index has them.
        started: when the run began.
    """
    known = sum(plan.blob_of(file.path) is not None for file in plan.todo)
    kept = sum(plan.blob_of(path) is not None for path in same)
    added = len(plan.todo) - known - (len(same) - kept)
    tally = Tally(added=added, changed=known - kept, skipped=list(walk.skipped))
    plan.unchanged += kept
    return make_report(connection, plan, tally, started, dry_run=True)


def make_report(
    connection: sqlite3.Connection, plan: Plan, tally: Tally, started: float, *, dry_run: bool = False
) -> IndexReport:
    """Return the report of a run."""
    view_id = plan.view_id
    files, chunks, languages = view_db.count_totals(connection, view_id)
    seen = {skip.path for skip in tally.skipped}
    stored = [skip for skip in view_db.read_skipped(connection, view_id) if skip.path not in seen]
    return IndexReport(
        files=files,
        chunks=chunks,
        added=tally.added - tally.renamed,
        changed=tally.changed,
        removed=plan.n_dropped - tally.renamed,
        renamed=tally.renamed,
        unchanged=plan.unchanged,
        embedded_chunks=tally.embedded,
        skipped=(*tally.skipped, *stored),
        seconds=time.perf_counter() - started,
        generation=meta_db.generation(connection),
        dry_run=dry_run,
        languages=languages,
    )
