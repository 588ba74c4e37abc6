"""Brings a view's index in line with the files on disk: what is new is parsed and embedded, what is gone is dropped."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from cairn.config import Settings
from cairn.embedding.static import StaticModel
from cairn.errors import DerivedFileError
from cairn.index.analysis import Analyzer
from cairn.index.limits import limits_of
from cairn.index.parsing import TEXT_JOB, ParsedText, Task, parse_beside, parse_here
from cairn.index.plan import (
    ANALYSIS_VERSION,
    Plan,
    Tally,
    is_of,
    is_published,
    is_usable,
    listed_files,
    lost_segments,
    make_plan,
    make_report,
)
from cairn.index.segment import Segment, form_of, merge_segments
from cairn.index.store import StateDir
from cairn.index.view import ViewArrays, ViewFile, ViewFiles, build_view, load_view
from cairn.index.views import View
from cairn.source.content import check_content, normalize
from cairn.source.languages import detect_language
from cairn.source.objects import is_content_of
from cairn.source.walk import Walk
from cairn.storage import index_db
from cairn.storage.connection import mapped_errors, transaction
from cairn.storage.index_db import FileRow, Origin, SegmentRow, ViewRow
from cairn.types import FileStat, IndexReport, Skipped

HASH_BYTES = 16
HEAD_BYTES = 8_192
# From this much source on, other processes are worth starting.
BESIDE_BYTES = 1_000_000
# Segments are merged when there are more than this many, or when more rows are dead than alive.
MAX_SEGMENTS = 6
LARGE_SEGMENT = 2  # times all others together
# A batch waits to be shown until this share of the view's files is new: showing costs time for every file there is.
SHOWN_SHARE = 1 / 16

Progress = Callable[[int, int], None]


class _Content(NamedTuple):
    """A file that was read: its hash, whether it may be changing this moment, and what git calls it if it told."""

    file: FileStat
    content_hash: bytes
    racy: bool
    origin: Origin | None


class _Steps:
    """Counts the files that are done, and tells whoever wants to know."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress
        self._tell()

    @property
    def left(self) -> int:
        return self._total - self._done

    def take(self) -> None:
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)


class Builder:
    """Updates one view; holds the write connection for the length of a run.

    Args:
        view: the checkout or commit whose files it shows.
        connection: the database, whose write lock the caller holds.
        background: whether nobody waits for it, so that it takes some of the cores only.
    """

    def __init__(
        self,
        view: View,
        state: StateDir,
        connection: sqlite3.Connection,
        model: StaticModel,
        settings: Settings,
        *,
        background: bool = False,
    ) -> None:
        self._view = view
        self._state = state
        self._connection = connection
        self._model = model
        self._settings = settings
        self._limits = limits_of(settings, background=background)
        self._analyzer = Analyzer(model.word_vectors, model.dimensions)
        self._n_unshown = 0  # files committed since the last generation
        self._objects: dict[str, bytes] = {}  # what git calls the content of paths
        self._origins: dict[Origin, int] = {}  # what the next batch tells of that
        self._view_files = ViewFiles(state, f"{ANALYSIS_VERSION} {model.fingerprint}")

    def run(
        self,
        walk: Walk,
        plan: Plan | None,
        started: float,
        *,
        full: bool,
        verify: bool,
        progress: Progress | None,
    ) -> IndexReport:
        """Bring the view up to date and return what was done.

        Args:
            walk: the files there are.
            plan: what is to do, None to find out once the index is mended.
            started: when the run began, by `time.perf_counter`.
            full: forget what is there.
            verify: check every derived file to the last byte.
            progress: is told of every file.
        """
        with mapped_errors(self._state.database):
            self._prepare(full)
            view_id = self._view_id()
            self._forget_lost_segments(verify)
            view = index_db.find_view(self._connection, self._view.name)
            if plan is None:
                plan = make_plan(self._connection, walk, view)
            # What an interrupted run committed may not be shown yet, even where this one finds no more to do.
            unshown = view is not None and view.pending > 0
            tally = Tally(skipped=list(walk.skipped), touched=unshown)
            self._update(view_id, plan, tally, progress)
            self._finish(view_id, plan, tally, verify)
            return make_report(self._connection, plan, tally, started)

    def _prepare(self, full: bool) -> None:
        """Empty the index when asked to, or when it was made by another analysis or model."""
        if not full and is_usable(self._connection, self._model.fingerprint):
            return
        with transaction(self._connection):
            index_db.clear(self._connection)
            index_db.write_meta(self._connection, {"analysis": ANALYSIS_VERSION, "model": self._model.fingerprint})

    def _view_id(self) -> int:
        if view := index_db.find_view(self._connection, self._view.name):
            return view.id
        with transaction(self._connection):
            if not self._view.revision and (moved := self._moved_view()) is not None:
                index_db.rename_view(self._connection, moved.id, self._view.name)
                return moved.id
            view_id = index_db.ensure_view(self._connection, self._view.name)
            index_db.set_origin(self._connection, view_id, self._view.branch, self._view.revision)
            return view_id

    def _moved_view(self) -> ViewRow | None:
        """Return the newest view of a checkout whose folder is gone: that folder was moved here, or another takes over.

        Its files are compared as those of any view, so it need not be the same folder.
        """
        checkouts = (row for row in index_db.read_views(self._connection) if not row.revision)
        return next((row for row in checkouts if not os.path.lexists(row.name)), None)

    def _forget_lost_segments(self, verify: bool) -> None:
        lost = lost_segments(self._connection, self._state)
        if verify:
            rows = index_db.read_segments(self._connection)
            lost = [row.id for row in rows if row.id in lost or not _loads(self._state.segment(row.name))]
        if lost:
            with transaction(self._connection):
                index_db.drop_segment_blobs(self._connection, lost)

    # -- one run ------------------------------------------------------------------------------------------------------

    def _update(self, view_id: int, plan: Plan, tally: Tally, progress: Progress | None) -> None:
        """Read and parse what is to do, and commit it batch by batch."""
        self._objects = self._view.object_ids(plan.todo)
        steps = _Steps(len(plan.todo), progress)
        rows: list[FileRow] = []
        batch: list[tuple[_Content, ParsedText]] = []
        n_chunks = n_bytes = 0
        for content, parsed in self._parse(self._read_all(plan, rows, tally, steps), plan):
            steps.take()
            self._analyzer.prepare(parsed.words)
            batch.append((content, parsed))
            n_chunks += len(parsed.keys)
            n_bytes += content.file.size
            if n_chunks >= self._limits.batch_chunks or n_bytes >= self._limits.batch_bytes:
                self._commit(view_id, batch, rows, plan, tally, steps.left)
                batch.clear()
                rows.clear()
                n_chunks = n_bytes = 0
        if batch or rows:
            self._commit(view_id, batch, rows, plan, tally, steps.left, last=True)

    def _parse(self, tasks: Iterator[Task[_Content]], plan: Plan) -> Iterator[tuple[_Content, ParsedText]]:
        if not self._limits.helpers or sum(file.size for file in plan.todo) < BESIDE_BYTES:
            return parse_here(tasks)
        return parse_beside(tasks, TEXT_JOB, self._limits)

    def _read_all(self, plan: Plan, rows: list[FileRow], tally: Tally, steps: _Steps) -> Iterator[Task[_Content]]:
        """Yield the files that need parsing; those that do not are added to `rows`."""
        for file in plan.todo:
            outcome = self._read(file, tally)
            if isinstance(outcome, Task):
                yield outcome
                continue
            steps.take()
            if outcome is not None:
                rows.append(outcome)

    def _read(self, file: FileStat, tally: Tally) -> FileRow | Task[_Content] | None:
        """Return a finished row for a file that needs no parsing, else what to parse, None for one that vanished."""
        racy = self._view.is_racy(file)
        origin = self._origin(file)
        if origin is not None and (blob_id := index_db.find_origin(self._connection, origin)) is not None:
            return FileRow.of(file, blob_id, racy=racy)
        try:
            raw = self._view.read(file.path)
        except FileNotFoundError:
            tally.skipped.append(Skipped(file.path, "vanished while indexing"))
            return None
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            tally.skipped.append(Skipped(file.path, reason))
            return FileRow.of(file, None, racy=True, reason=reason)
        racy = racy or len(raw) != file.size
        data = normalize(raw)
        if unsuitable := check_content(data, file.path):
            return FileRow.of(file, None, racy=racy, reason=unsuitable)
        language = detect_language(file.path, data[:HEAD_BYTES])
        content_hash = blake2b(data, digest_size=HASH_BYTES).digest()
        blob_id = index_db.find_blob(self._connection, content_hash, language.name)
        # The file may have changed since git was asked.
        origin = origin if origin is not None and is_content_of(origin.object_id, raw) else None
        if blob_id is not None:
            if origin is not None:
                self._origins[origin] = blob_id
            return FileRow.of(file, blob_id, racy=racy)
        return Task(data, language.name, _Content(file, content_hash, racy, origin))

    def _origin(self, file: FileStat) -> Origin | None:
        object_id = self._objects.get(file.path)
        return None if object_id is None else Origin(file.path, object_id, file.size)

    def _commit(
        self,
        view_id: int,
        batch: Sequence[tuple[_Content, ParsedText]],
        rows: list[FileRow],
        plan: Plan,
        tally: Tally,
        pending: int,
        *,
        last: bool = False,
    ) -> None:
        """Write one batch: first its derived file, then, in one transaction, all that refers to it."""
        unique: dict[tuple[bytes, str], ParsedText] = {}
        blob_ids: dict[tuple[bytes, str], int] = {}
        next_id = index_db.next_blob_id(self._connection)
        for content, text in batch:
            key = (content.content_hash, text.parsed.language)
            # The same content may have been committed while this file waited to be parsed.
            if key not in blob_ids and (stored := index_db.find_blob(self._connection, *key)) is not None:
                blob_ids[key] = stored
            elif key not in blob_ids:
                blob_ids[key] = next_id + len(unique)
                unique[key] = text
        name, segment, n_bytes = uuid4().hex, None, 0
        if any(text.keys for text in unique.values()):
            segment = self._segment(list(unique.values()), [blob_ids[key] for key in unique])
            n_bytes = segment.save(self._state.segment(name))
        for content, text in batch:
            file, blob_id = content.file, blob_ids[content.content_hash, text.parsed.language]
            if content.origin is not None:
                self._origins[content.origin] = blob_id
            rows.append(FileRow.of(file, blob_id, racy=content.racy))
        with transaction(self._connection):
            segment_id = 0
            if segment is not None:
                segment_id = index_db.put_segment(self._connection, name, len(segment), n_bytes)
                tally.embedded += len(segment)
            for key, text in unique.items():
                index_db.put_blob(self._connection, blob_ids[key], key[0], text.parsed, text.keys, segment_id)
            index_db.put_files(self._connection, view_id, rows)
            index_db.put_origins(self._connection, self._origins)
            self._origins.clear()
            tally.count(rows, plan)
            # What is committed is shown, unless it is too little. The last batch may wait, too, for the end is near.
            self._n_unshown += len(rows)
            shown = self._last_view()
            waits = shown is not None and (last or self._n_unshown < SHOWN_SHARE * len(shown.paths))
            if tally.touched and not waits:
                self._publish(view_id)
                self._n_unshown = 0
            index_db.set_pending(self._connection, view_id, pending + (self._n_unshown if tally.touched else 0))

    def _segment(self, items: Sequence[ParsedText], blob_ids: Sequence[int]) -> Segment:
        postings, vectors = self._analyzer.analyze([item.words for item in items])
        counts = [len(item.keys) for item in items]
        return Segment(
            blob_ids=np.array(blob_ids, dtype=np.int64),
            blob_start=np.r_[0, np.cumsum(counts)].astype(np.int64),
            forms=np.array([form_of(chunk) for item in items for chunk in item.parsed.chunks], dtype=np.uint8),
            vectors=vectors,
            postings=postings,
        )

    def _finish(self, view_id: int, plan: Plan, tally: Tally, verify: bool) -> None:
        """Drop what is gone, tidy the segments, and publish a generation if anything changed."""
        view = index_db.find_view(self._connection, self._view.name)
        tally.touched = tally.touched or bool(plan.removed) or view is None or not is_of(view, self._view)
        shown = is_published(self._state, view)
        if shown and verify:
            shown = self._last_view() is not None
        if shown and not tally.touched:
            return
        tally.renamed = self._count_renamed(view_id, plan)
        with transaction(self._connection):  # one, so that no interruption leaves a view that shows what is gone
            index_db.drop_files(self._connection, view_id, plan.removed)
            index_db.set_origin(self._connection, view_id, self._view.branch, self._view.revision)
            index_db.set_pending(self._connection, view_id, 0)
            self._merge_segments()
            self._publish(view_id)
        self._state.remove_unlisted(listed_files(self._connection, self._state))

    def _count_renamed(self, view_id: int, plan: Plan) -> int:
        """Count new paths that show the blob of a path that went: the same file under another name."""
        gone = {blob_id for path in plan.removed if (blob_id := plan.known[path].blob_id) is not None}
        if not gone:
            return 0
        new = {file.path for file in plan.todo} - plan.known.keys()
        return sum(row.path in new and row.blob_id in gone for row in index_db.iter_files(self._connection, view_id))

    def _merge_segments(self) -> None:
        """Merge segments when there are many, dropping blobs that no view shows once they outweigh the rest.

        Runs inside a transaction.
        """
        rows = index_db.read_segments(self._connection)
        n_live = index_db.count_live_chunks(self._connection)
        collect = sum(row.n_rows for row in rows) - n_live > max(n_live, self._settings.batch_chunks)
        if not collect and len(rows) <= MAX_SEGMENTS:
            return
        chosen = rows if collect else _small_ones(rows)
        segments = [Segment.load(self._state.segment(row.name)) for row in chosen]
        stored = {int(blob) for segment in segments for blob in segment.blob_ids}
        keep = stored & index_db.live_blob_ids(self._connection) if collect else stored
        merged = merge_segments(segments, keep)
        name = uuid4().hex
        n_bytes = merged.save(self._state.segment(name))
        if collect:
            index_db.drop_blobs(self._connection, stored - keep)
        new_id = index_db.put_segment(self._connection, name, len(merged), n_bytes)
        index_db.replace_segments(self._connection, [row.id for row in chosen], new_id)

    def _publish(self, view_id: int) -> None:
        """Start a new generation: write the view's arrays for it, then count it up. Runs inside a transaction."""
        generation = index_db.generation(self._connection) + 1
        languages = dict(index_db.blob_languages(self._connection, view_id))
        files = [
            ViewFile(row.path, row.blob_id, languages[row.blob_id])
            for row in index_db.iter_files(self._connection, view_id)
            if row.blob_id is not None
        ]
        last = self._last_view() or self._other_view()
        arrays = build_view(files, self._model.word_vectors, self._model.dimensions, last)
        published = self._view_files.save(arrays, view_id, generation)
        index_db.publish_view(self._connection, view_id, generation, published)

    def _last_view(self) -> ViewArrays | None:
        """Return the arrays that readers see now, None when there are none or they are damaged."""
        view = index_db.find_view(self._connection, self._view.name)
        return None if view is None else self._load_view(view)

    def _other_view(self) -> ViewArrays | None:
        """Return the arrays of the view that changed last: another branch or worktree has many of the same paths."""
        return next((arrays for row in index_db.read_views(self._connection) if (arrays := self._load_view(row))), None)

    def _load_view(self, view: ViewRow) -> ViewArrays | None:
        if not view.generation:
            return None
        try:
            return load_view(self._state, view)
        except DerivedFileError:
            return None


def _small_ones(rows: list[SegmentRow]) -> list[SegmentRow]:
    """Return the segments worth merging: without the largest, when it is so large that moving it would be the work."""
    *small, largest = sorted(rows, key=lambda row: row.n_rows)
    return small if largest.n_rows > LARGE_SEGMENT * sum(row.n_rows for row in small) else [*small, largest]


def _loads(path: Path) -> bool:
    """Tell whether the file of a segment is whole, to the last byte."""
    try:
        Segment.load(path)
    except DerivedFileError:
        return False
    return True
