"""Brings a view's index in line with the files on disk: parses and embeds what is new, drops what is gone."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cairn.config import Settings
from cairn.embedding.static import StaticModel
from cairn.embedding.static import bundled_model as bundled_model
from cairn.errors import DerivedFileError, StoreError
from cairn.index.ahead import Ahead
from cairn.index.analysis import Analyzer
from cairn.index.beside import TEXT_JOB, Task, parse_beside
from cairn.index.limits import Progress, RunLimits
from cairn.index.plan import (
    ANALYSIS_VERSION,
    Plan,
    Tally,
    files_of_index,
    is_of,
    is_published,
    is_usable,
    lost_segments,
    make_plan,
    make_report,
    worth_merging,
)
from cairn.index.reading import Content, PlanReader
from cairn.index.segment import Segment, forms_of, merge_segments
from cairn.index.state_dir import StateDir, new_name
from cairn.index.view import ViewArrays, ViewFile, ViewFiles, build_view, load_view
from cairn.index.views import View
from cairn.index.words import ParsedText
from cairn.source.attributes import GITATTRIBUTES, GitAttributes
from cairn.source.walk import Walk
from cairn.storage.arrays import release
from cairn.storage.connection import store_errors, transaction
from cairn.storage.index import blob_db, meta_db, segment_db, view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.index.view_db import FileRow, ViewRow
from cairn.types import IndexReport

# Segments are merged when there are more than this many, after a long run, or when most rows are dead.
MAX_SEGMENTS = 6
# A batch is published once it adds this share to the view's files: publishing costs time for every file in the view.
SHOWN_SHARE = 1 / 4

_Parsed = tuple[Content, ParsedText]
_Key = tuple[bytes, str]  # a content's hash, and the language it was parsed as


class _SavedSegment(NamedTuple):
    """A segment file that was written but not registered yet."""

    name: str
    n_rows: int
    n_bytes: int


class Builder:
    """Updates one view, holding the write connection throughout the run.

    Args:
        view: the checkout or commit whose files it shows.
        connection: the database, whose write lock the caller holds.
        limits: the sizes of batches and the number of helpers.
    """

    def __init__(
        self,
        view: View,
        state: StateDir,
        connection: sqlite3.Connection,
        model: StaticModel,
        settings: Settings,
        limits: RunLimits,
    ) -> None:
        self._view = view
        self._state = state
        self._connection = connection
        self._model = model
        self._settings = settings
        self._limits = limits
        self._analyzer = Analyzer(model.word_vectors, model.dimensions, limits.vocabulary_share)
        self._beside = False  # whether readers still use the old index
        self._n_unshown = 0  # files committed since the last generation
        self._loaded: tuple[tuple[int, int], ViewArrays] | None = None  # by view and generation
        self._view_files = ViewFiles(state, f"{ANALYSIS_VERSION} {model.fingerprint}")

    def run(
        self,
        walk: Walk,
        plan: Plan | None,
        started: float,
        *,
        full: bool,
        verify: bool,
        ahead: Ahead | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring the view up to date and return what was done.

        Args:
            walk: the files found.
            plan: what to do; None to find out once the index is repaired.
            started: when the run began, by `time.perf_counter`.
            full: replace the whole index once the new one is complete.
            verify: check every derived file to the last byte.
            ahead: a fork that is already parsing the plan's files.
            progress: called for every file.
        """
        with store_errors(self._state.database, INDEX):
            if not full or not self._is_whole():
                return self._run(walk, plan, started, full=full, verify=verify, ahead=ahead, progress=progress)
            # Built beside the old index, which readers use until one transaction switches to the complete new one. If
            # the run ends before that, the old index is untouched.
            self._beside = True
            try:
                with transaction(self._connection):
                    report = self._run(walk, None, started, full=True, verify=False, ahead=None, progress=progress)
            except BaseException:
                with suppress(sqlite3.Error, StoreError):
                    self._tidy()
                raise
            self._tidy()
            return report

    def _run(
        self,
        walk: Walk,
        plan: Plan | None,
        started: float,
        *,
        full: bool,
        verify: bool,
        ahead: Ahead | None,
        progress: Progress | None,
    ) -> IndexReport:
        self._prepare(full)
        view_id = self._view_id()
        self._forget_lost(verify)
        view = view_db.find_view(self._connection, self._view.name)
        if plan is None:
            plan = make_plan(self._connection, walk, view)
        # An interrupted run may have committed files that are not published yet, even if there is nothing else to do.
        unshown = view is not None and view.pending > 0
        tally = Tally(skipped=list(walk.skipped), touched=unshown)
        reader = PlanReader(self._view, self._connection, plan, progress) if ahead is None else ahead.reader
        parsed = self._parse(reader.tasks(), plan) if ahead is None else ahead.results()
        self._update(view_id, plan, tally, reader, parsed)
        self._finish(view_id, plan, tally, verify)
        return make_report(self._connection, plan, tally, started)

    def _is_whole(self) -> bool:
        """Tell whether a complete index exists that readers can use."""
        usable = is_usable(self._connection, self._model.fingerprint)
        return usable and any(view.generation for view in view_db.read_views(self._connection))

    def _transaction(self) -> AbstractContextManager[None]:
        """Return a transaction; a run beside the old index is a single one."""
        return nullcontext() if self._beside else transaction(self._connection)

    def _tidy(self) -> None:
        self._state.remove_unlisted(files_of_index(self._connection, self._state))

    def _prepare(self, full: bool) -> None:
        """Empty the index if asked to, or if another version of the analysis or another model made it."""
        if not full and is_usable(self._connection, self._model.fingerprint):
            return
        with self._transaction():
            meta_db.clear(self._connection)
            meta_db.write_meta(self._connection, {"analysis": ANALYSIS_VERSION, "model": self._model.fingerprint})

    def _view_id(self) -> int:
        if view := view_db.find_view(self._connection, self._view.name):
            return view.id
        with self._transaction():
            if not self._view.revision and (moved := self._view_to_take_over()) is not None:
                view_db.rename_view(self._connection, moved.id, self._view.name)
                return moved.id
            view_id = view_db.ensure_view(self._connection, self._view.name)
            view_db.set_origin(self._connection, view_id, self._view.branch, self._view.revision)
            return view_id

    def _view_to_take_over(self) -> ViewRow | None:
        """Return the newest view of a checkout whose folder is gone, so that this one can reuse it.

        Its files are compared like those of any view, so it does not matter whether the folder was moved or replaced.
        """
        checkouts = (row for row in view_db.read_views(self._connection) if not row.revision)
        return next((row for row in checkouts if not os.path.lexists(row.name)), None)

    def _forget_lost(self, verify: bool) -> None:
        """Forget what lost derived files held, so that it is read again; other views that lack files are hidden.

        Args:
            verify: read every file to its last byte.
        """
        lost = lost_segments(self._connection, self._state)
        if verify:
            rows = segment_db.read_segments(self._connection)
            lost = [row.id for row in rows if row.id in lost or not _loads(self._state.segment(row.name))]
        views = [view for view in view_db.read_views(self._connection) if view.generation]
        hidden = [view.id for view in views if verify and self._load_view(view) is None]
        missing = [view.id for view in views if not is_published(self._state, view)]
        if lost or hidden or missing:
            with self._transaction():
                segment_db.drop_segment_blobs(self._connection, lost)
                view_db.hide_views(self._connection, hidden)
                meta_db.renew_identity(self._connection)

    # -- one run ------------------------------------------------------------------------------------------------------

    def _update(self, view_id: int, plan: Plan, tally: Tally, reader: PlanReader, parsed: Iterator[_Parsed]) -> None:
        """Commit what is read and parsed, batch by batch."""
        batch: list[_Parsed] = []
        n_chunks = n_bytes = 0
        for content, text in parsed:
            reader.done()
            batch.append((content, text))
            n_chunks += len(text.keys)
            n_bytes += content.file.size
            if n_chunks >= self._limits.batch_chunks or n_bytes >= self._limits.batch_bytes:
                self._commit(view_id, batch, reader, plan, tally)
                batch.clear()
                n_chunks = n_bytes = 0
        if batch or reader.rows:
            self._commit(view_id, batch, reader, plan, tally, last=True)
        tally.skipped += reader.skipped

    def _parse(self, tasks: Iterator[Task[Content]], plan: Plan) -> Iterator[_Parsed]:
        n_helpers = self._limits.helpers if plan.is_much else 1
        return parse_beside(tasks, TEXT_JOB, n_helpers=n_helpers, in_flight_bytes=self._limits.in_flight_bytes)

    def _commit(
        self,
        view_id: int,
        batch: Sequence[_Parsed],
        reader: PlanReader,
        plan: Plan,
        tally: Tally,
        *,
        last: bool = False,
    ) -> None:
        """Write one batch: first its derived file, then in one transaction everything that refers to it."""
        blob_ids, new = _number(self._connection, batch)
        saved = _save_segment(self._analyzer, self._state, {blob_ids[key]: text for key, (_, text) in new.items()})
        for content, text in batch:
            blob_id = blob_ids[_key(content, text)]
            if content.origin is not None:
                reader.origins[content.origin] = blob_id
            reader.rows.append(FileRow.of(content.file, blob_id, racy=content.racy))
        with self._transaction():
            _put_blobs(self._connection, {blob_ids[key]: parsed for key, parsed in new.items()}, saved, tally)
            view_db.put_files(self._connection, view_id, reader.rows)
            view_db.put_origins(self._connection, reader.origins)
            tally.count(reader.rows, plan)
            self._n_unshown += len(reader.rows)
            self._show(view_id, reader, tally, last=last)
        reader.rows.clear()
        reader.origins.clear()

    def _show(self, view_id: int, reader: PlanReader, tally: Tally, *, last: bool) -> None:
        """Publish what was committed, unless more is worth waiting for, and record how many files are to come."""
        waits = _may_wait(self._last_view(), self._n_unshown, last=last, is_only=tally.segments <= 1)
        if tally.touched and not waits and not self._beside:
            self._publish(view_id)
            self._n_unshown = 0
        view_db.set_pending(self._connection, view_id, reader.left + (self._n_unshown if tally.touched else 0))

    def _finish(self, view_id: int, plan: Plan, tally: Tally, verify: bool) -> None:
        """Drop what is gone, merge segments, and publish a generation if anything changed."""
        self._analyzer.forget()  # frees memory for merging
        view = view_db.find_view(self._connection, self._view.name)
        tally.touched = tally.touched or bool(plan.removed) or view is None or not is_of(view, self._view)
        shown = is_published(self._state, view)
        if shown and verify:
            shown = self._last_view() is not None
        if shown and not tally.touched:
            self._tidy()  # left by a run that was killed
            return
        tally.renamed = _count_renamed(self._connection, view_id, plan)
        with self._transaction():  # a single one, so that an interruption never leaves a view that shows deleted files
            view_db.drop_files(self._connection, view_id, plan.removed)
            view_db.set_origin(self._connection, view_id, self._view.branch, self._view.revision)
            view_db.set_pending(self._connection, view_id, 0)
            self._merge_segments(several=tally.segments > 1)
            self._publish(view_id)
        if not self._beside:
            self._tidy()

    def _merge_segments(self, *, several: bool) -> None:
        """Merge segments if there are many, or if most rows belong to blobs that no view shows.

        Runs inside a transaction.

        Args:
            several: whether this run wrote more than one. Each one slows queries by 4 %, and merging takes 1 %
                of the time of a run that wrote several.
        """
        rows = segment_db.read_segments(self._connection)
        n_live = blob_db.count_live_chunks(self._connection)
        collect = sum(row.n_rows for row in rows) - n_live > max(n_live, self._settings.batch_chunks)
        if not collect and not several and len(rows) <= MAX_SEGMENTS:
            return
        chosen = rows if collect else worth_merging(rows)
        segments = [_load_unread(self._state.segment(row.name)) for row in chosen]
        stored = {int(blob) for segment in segments for blob in segment.blob_ids}
        keep = stored & view_db.live_blob_ids(self._connection) if collect else stored
        name = new_name()
        n_rows, n_bytes = merge_segments(self._state.segment(name), segments, keep)
        if collect:
            blob_db.drop_blobs(self._connection, stored - keep)
        new_id = segment_db.put_segment(self._connection, name, n_rows, n_bytes)
        segment_db.replace_segments(self._connection, [row.id for row in chosen], new_id)

    def _publish(self, view_id: int) -> None:
        """Write the view's arrays for a new generation, then increment it. Runs inside a transaction."""
        generation = meta_db.generation(self._connection) + 1
        files = [ViewFile(*file) for file in view_db.files_in_view(self._connection, view_id)]
        last = self._last_view() or self._other_view()
        arrays = build_view(
            files, self._model.word_vectors, self._model.dimensions, last, partial(_read_attributes, self._view, files)
        )
        published = self._view_files.save(arrays)
        view_db.publish_view(self._connection, view_id, generation, published)

    def _last_view(self) -> ViewArrays | None:
        """Return the arrays that readers see now, None if they are missing or damaged."""
        view = view_db.find_view(self._connection, self._view.name)
        return None if view is None else self._load_view(view)

    def _other_view(self) -> ViewArrays | None:
        """Return the arrays of the most recently changed view: another branch or worktree shares many paths."""
        return next((arrays for row in view_db.read_views(self._connection) if (arrays := self._load_view(row))), None)

    def _load_view(self, view: ViewRow) -> ViewArrays | None:
        if not view.generation:
            return None
        if self._loaded is not None and self._loaded[0] == (view.id, view.generation):
            return self._loaded[1]
        try:
            arrays = load_view(self._state, view)
        except DerivedFileError:
            return None
        self._loaded = (view.id, view.generation), arrays
        return arrays


def _number(connection: sqlite3.Connection, batch: Sequence[_Parsed]) -> tuple[dict[_Key, int], dict[_Key, _Parsed]]:
    """Return the blob ids of a batch's contents, and the contents that are new to the index."""
    blob_ids: dict[_Key, int] = {}
    new: dict[_Key, _Parsed] = {}
    next_id = blob_db.next_blob_id(connection)
    for content, text in batch:
        key = _key(content, text)
        # The same content may have been committed while this file was waiting to be parsed.
        if key not in blob_ids and (stored := blob_db.find_blob(connection, *key)) is not None:
            blob_ids[key] = stored
        elif key not in blob_ids:
            blob_ids[key] = next_id + len(new)
            new[key] = content, text
    return blob_ids, new


def _key(content: Content, text: ParsedText) -> _Key:
    return content.content_hash, text.parsed.language


def _save_segment(analyzer: Analyzer, state: StateDir, texts: Mapping[int, ParsedText]) -> _SavedSegment | None:
    """Write the derived file of new blobs, given by id; None if they have no chunks."""
    if not any(text.keys for text in texts.values()):
        return None
    segment = _segment_of(analyzer, list(texts.values()), list(texts))
    name = new_name()
    return _SavedSegment(name, len(segment), segment.save(state.segment(name)))


def _put_blobs(
    connection: sqlite3.Connection, new: Mapping[int, _Parsed], saved: _SavedSegment | None, tally: Tally
) -> None:
    """Register new blobs, given by id, and the segment that holds them. Runs inside a transaction."""
    segment_id = 0
    if saved is not None:
        segment_id = segment_db.put_segment(connection, *saved)
        tally.embedded += saved.n_rows
        tally.segments += 1
    for blob_id, (content, text) in new.items():
        blob_db.put_blob(
            connection,
            blob_id,
            content.content_hash,
            text.parsed,
            text.keys,
            segment_id,
            is_generated=content.is_generated,
        )


def _segment_of(analyzer: Analyzer, items: Sequence[ParsedText], blob_ids: Sequence[int]) -> Segment:
    postings, vectors = analyzer.analyze([item.words for item in items])
    counts = [len(item.keys) for item in items]
    return Segment(
        blob_ids=np.array(blob_ids, dtype=np.int64),
        blob_start=np.r_[0, np.cumsum(counts)].astype(np.int64),
        forms=np.array([form for item in items for form in forms_of(item.parsed)], dtype=np.uint8),
        vectors=vectors,
        postings=postings,
    )


def _may_wait(shown: ViewArrays | None, n_unshown: int, *, last: bool, is_only: bool) -> bool:
    """Tell whether publishing can wait: too little was committed, or the end of the run is near.

    The end is near in the last batch; if nothing is published at all, only when that batch is the only one, since then
    there is nothing to merge.
    """
    if shown is None:
        return last and is_only
    return last or n_unshown < SHOWN_SHARE * len(shown.paths)


def _read_attributes(view: View, files: Sequence[ViewFile]) -> GitAttributes:
    texts = []
    for file in files:
        if file.path.endswith(GITATTRIBUTES):
            with suppress(OSError):  # deleted meanwhile; the next run notices
                texts.append((file.path, view.read(file.path)))
    return GitAttributes(texts)


def _count_renamed(connection: sqlite3.Connection, view_id: int, plan: Plan) -> int:
    """Count new paths that show the blob of a path that is gone: the file was renamed."""
    gone = {blob_id for path in plan.removed if (blob_id := plan.known[path].blob_id) is not None}
    if not gone:
        return 0
    new = {file.path for file in plan.todo} - plan.known.keys()
    return sum(row.path in new and row.blob_id in gone for row in view_db.iter_files(connection, view_id))


def _load_unread(path: Path) -> Segment:
    """Return a segment with none of its pages in memory."""
    segment = Segment.load(path)
    release([segment.vectors])
    return segment


def _loads(path: Path) -> bool:
    """Read a segment file to its last byte; return whether it is intact."""
    try:
        Segment.load(path)
    except DerivedFileError:
        return False
    return True
