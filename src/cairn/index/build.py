"""Brings a view's index in line with the files on disk: what is new is parsed and embedded, what is gone is dropped."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

import numpy as np

from cairn.config import Settings
from cairn.embedding.static import StaticModel
from cairn.index.analysis import Analyzer
from cairn.index.segment import Segment, form_of, merge_segments
from cairn.index.store import StateDir
from cairn.index.view import ViewArrays, ViewFile, build_view
from cairn.source.chunking import chunk_file
from cairn.source.eligible import check_content, normalize
from cairn.source.languages import detect_language
from cairn.source.walk import Walk, read_file
from cairn.storage import index_db
from cairn.storage.arrays import DerivedFileError
from cairn.storage.connection import mapped_errors, transaction
from cairn.storage.index_db import FileRow, SegmentRow, ViewRow
from cairn.types import Chunk, FileStat, IndexReport, ParsedFile, Skipped

# Raised whenever parsing, analysis or a derived format changes what an index holds; older indexes are then rebuilt.
ANALYSIS_VERSION = "1"
HASH_BYTES = 16
HEAD_BYTES = 8_192
BATCH_BYTES = 8_000_000  # of source; a batch is committed at this size, or at `Settings.batch_chunks`
# Segments are merged when there are more than this many, or when more rows are dead than alive.
MAX_SEGMENTS = 6
# A file written less than this long before it was read may change again without a change of time.
RACY_NS = 2_000_000_000
CHUNK_KEY_BYTES = 5
MAX_BODY_TERMS_BYTES = 20_000  # of a chunk's text; only a single line can be longer

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Parsed:
    """A file read and parsed, waiting for its batch."""

    file: FileStat
    content_hash: bytes
    parsed: ParsedFile
    racy: bool
    texts: list[tuple[str, str, str, str]]
    keys: list[int]
    sizes: list[int]


@dataclass(slots=True)
class _Plan:
    """What a run has to do, from comparing the walk with the manifest."""

    todo: list[FileStat]
    removed: list[str]
    unchanged: int
    known: dict[str, FileRow]


@dataclass(slots=True)
class _Tally:
    added: int = 0
    changed: int = 0
    embedded: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    touched: bool = False
    new_blobs: set[int] = field(default_factory=set)
    blobs_of_removed: set[int] = field(default_factory=set)
    renamed: int = 0


class Builder:
    """Updates one view; holds the write connection for the length of a run.

    Args:
        root: the folder the view shows.
        view_name: the view's name in the index.
        connection: the database, whose write lock the caller holds.
    """

    def __init__(
        self,
        root: Path,
        state: StateDir,
        view_name: str,
        connection: sqlite3.Connection,
        model: StaticModel,
        settings: Settings,
    ) -> None:
        self._root = root
        self._state = state
        self._view_name = view_name
        self._connection = connection
        self._model = model
        self._settings = settings
        self._analyzer = Analyzer(model.word_vectors, model.dimensions)

    def plan(self, walk: Walk, view_id: int | None) -> _Plan:
        """Compare the walk with the manifest; size and time are hints, and files changed just before are read again."""
        known: dict[str, FileRow] = {}
        if view_id is not None:
            known = {row.path: row for row in index_db.iter_files(self._connection, view_id)}
        todo = []
        for file in walk.files:
            row = known.get(file.path)
            if row is None or row.racy or (row.size, row.mtime_ns) != (file.size, file.mtime_ns):
                todo.append(file)
        present = {file.path for file in walk.files}
        removed = [path for path in known if path not in present]
        return _Plan(todo, removed, len(walk.files) - len(todo), known)

    def preview(self, walk: Walk, started: float) -> IndexReport:
        """Say what a run would do, without reading a file or writing anything."""
        view = index_db.find_view(self._connection, self._view_name)
        plan = self.plan(walk, view[0] if view else None)
        changed = sum(file.path in plan.known for file in plan.todo)
        tally = _Tally(added=len(plan.todo) - changed, changed=changed, skipped=list(walk.skipped))
        return self._report(view[0] if view else -1, plan, tally, started, dry_run=True)

    def run(
        self, walk: Walk, *, branch: str, started: float, full: bool, verify: bool, progress: Progress | None
    ) -> IndexReport:
        """Bring the view up to date and return what was done; `verify` checks every derived file to the last byte."""
        with mapped_errors(self._state.database):
            self._prepare(full)
            view_id = self._view_id()
            self._forget_lost_segments(verify)
            plan = self.plan(walk, view_id)
            tally = _Tally(skipped=list(walk.skipped))
            self._update(view_id, plan, tally, progress)
            self._finish(view_id, plan, tally, branch, verify)
            return self._report(view_id, plan, tally, started)

    def _prepare(self, full: bool) -> None:
        """Empty the index when asked to, or when it was made by another analysis or model."""
        wanted = {"analysis": ANALYSIS_VERSION, "model": self._model.fingerprint}
        meta = index_db.read_meta(self._connection)
        if not full and all(meta.get(key) == value for key, value in wanted.items()):
            return
        with transaction(self._connection):
            index_db.clear(self._connection)
            index_db.write_meta(self._connection, wanted)

    def _view_id(self) -> int:
        if view := index_db.find_view(self._connection, self._view_name):
            return view[0]
        with transaction(self._connection):
            return index_db.ensure_view(self._connection, self._view_name)

    def _forget_lost_segments(self, verify: bool) -> None:
        rows = index_db.read_segments(self._connection)
        lost = [row.id for row in rows if not self._is_intact(row, verify)]
        if lost:
            with transaction(self._connection):
                index_db.drop_segment_blobs(self._connection, lost)

    def _is_intact(self, row: SegmentRow, verify: bool) -> bool:
        path = self._state.segment(row.name)
        try:
            if verify:
                Segment.load(path)
            return path.stat().st_size == row.n_bytes
        except (DerivedFileError, FileNotFoundError):
            return False

    # -- one run ------------------------------------------------------------------------------------------------------

    def _update(self, view_id: int, plan: _Plan, tally: _Tally, progress: Progress | None) -> None:
        batch: list[_Parsed] = []
        rows: list[FileRow] = []
        n_chunks = n_bytes = 0
        for done, file in enumerate(plan.todo):
            if progress is not None:
                progress(done, len(plan.todo))
            outcome = self._read(file, tally)
            if isinstance(outcome, FileRow):
                rows.append(outcome)
            elif outcome is not None:
                batch.append(outcome)
                n_chunks += len(outcome.keys)
                n_bytes += file.size
            if n_chunks >= self._settings.batch_chunks or n_bytes >= BATCH_BYTES:
                self._commit(view_id, batch, rows, plan, tally)
                batch, rows, n_chunks, n_bytes = [], [], 0, 0
        if batch or rows:
            self._commit(view_id, batch, rows, plan, tally)
        if progress is not None:
            progress(len(plan.todo), len(plan.todo))

    def _read(self, file: FileStat, tally: _Tally) -> FileRow | _Parsed | None:
        """Return a finished row for a file that needs no parsing, else the parsed file, None for one that vanished."""
        now = time.time_ns()
        racy = now - file.mtime_ns < RACY_NS
        try:
            raw = read_file(self._root, file.path, self._settings.max_file_bytes)
        except FileNotFoundError:
            tally.skipped.append(Skipped(file.path, "vanished while indexing"))
            return None
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            tally.skipped.append(Skipped(file.path, reason))
            return FileRow(file.path, None, file.size, file.mtime_ns, True, reason)
        racy = racy or len(raw) != file.size
        data = normalize(raw)
        if unsuitable := check_content(data, file.path):
            return FileRow(file.path, None, file.size, file.mtime_ns, racy, unsuitable)
        language = detect_language(file.path, data[:HEAD_BYTES])
        content_hash = blake2b(data, digest_size=HASH_BYTES).digest()
        blob_id = index_db.find_blob(self._connection, content_hash, language.name)
        if blob_id is not None:
            return FileRow(file.path, blob_id, file.size, file.mtime_ns, racy)
        parsed = chunk_file(data, language)
        return _Parsed(file, content_hash, parsed, racy, *_chunk_texts(data, parsed))

    def _commit(self, view_id: int, batch: Sequence[_Parsed], rows: list[FileRow], plan: _Plan, tally: _Tally) -> None:
        """Write one batch: first its derived file, then, in one transaction, all that refers to it."""
        unique: dict[tuple[bytes, str], _Parsed] = {}
        for item in batch:
            unique.setdefault((item.content_hash, item.parsed.language), item)
        first_id = index_db.next_blob_id(self._connection)
        blob_ids = {key: first_id + number for number, key in enumerate(unique)}
        segment = self._segment(list(unique.values()), list(blob_ids.values()))
        name = uuid4().hex
        n_bytes = segment.save(self._state.segment(name)) if len(segment) else 0
        for item in batch:
            file, blob_id = item.file, blob_ids[item.content_hash, item.parsed.language]
            rows.append(FileRow(file.path, blob_id, file.size, file.mtime_ns, item.racy))
        with transaction(self._connection):
            segment_id = index_db.put_segment(self._connection, name, len(segment), n_bytes) if n_bytes else 0
            for key, item in unique.items():
                index_db.put_blob(
                    self._connection, blob_ids[key], item.content_hash, item.parsed, item.keys, segment_id
                )
            index_db.put_files(self._connection, view_id, rows)
            self._count(rows, plan, tally)
            tally.new_blobs.update(blob_ids.values())
            tally.embedded += len(segment)
            if tally.touched:
                self._publish(view_id)

    def _count(self, rows: Iterable[FileRow], plan: _Plan, tally: _Tally) -> None:
        """Count files whose content is not what it was; a touched file with the same bytes is no change."""
        for row in rows:
            before = plan.known.get(row.path)
            if before is None and row.blob_id is None:
                continue  # skipped for what it holds
            if before is None:
                tally.added += 1
            elif before.blob_id != row.blob_id:
                tally.changed += 1
            else:
                plan.unchanged += 1
                continue
            tally.touched = True

    def _segment(self, items: Sequence[_Parsed], blob_ids: Sequence[int]) -> Segment:
        postings, vectors = self._analyzer.analyze([text for item in items for text in item.texts])
        counts = [len(item.keys) for item in items]
        return Segment(
            blob_ids=np.array(blob_ids, dtype=np.int64),
            blob_start=np.r_[0, np.cumsum(counts)].astype(np.int64),
            sizes=np.array([size for item in items for size in item.sizes], dtype=np.int32),
            forms=np.array([form_of(chunk) for item in items for chunk in item.parsed.chunks], dtype=np.uint8),
            vectors=vectors,
            postings=postings,
        )

    def _finish(self, view_id: int, plan: _Plan, tally: _Tally, branch: str, verify: bool) -> None:
        """Drop what is gone, tidy the segments, and publish a generation if anything changed."""
        view = index_db.find_view(self._connection, self._view_name)
        tally.touched = tally.touched or bool(plan.removed) or view is None or view.branch != branch
        if self._is_published(view, verify) and not tally.touched:
            return
        removed_blobs = {plan.known[path].blob_id for path in plan.removed}
        # A new path that shows the blob of a path that went is the same file under another name.
        paths = {file.path for file in plan.todo} - plan.known.keys()
        rows = (
            [row for row in index_db.iter_files(self._connection, view_id) if row.path in paths]
            if removed_blobs
            else []
        )
        tally.renamed = sum(row.blob_id is not None and row.blob_id in removed_blobs for row in rows)
        with transaction(self._connection):  # one, so that no interruption leaves a view that shows what is gone
            index_db.drop_files(self._connection, view_id, plan.removed)
            index_db.set_branch(self._connection, view_id, branch)
            self._merge_segments()
            self._publish(view_id)
        self._remove_unlisted()

    def _merge_segments(self) -> None:
        """Merge segments when there are many, dropping blobs that no view shows once they outweigh the rest.

        Runs inside a transaction.
        """
        rows = index_db.read_segments(self._connection)
        segments = [Segment.load(self._state.segment(row.name)) for row in rows]
        live = index_db.live_blob_ids(self._connection)
        n_rows = sum(len(segment) for segment in segments)
        n_live = sum(
            int(np.diff(segment.blob_start)[np.isin(segment.blob_ids, list(live))].sum()) for segment in segments
        )
        collect = n_rows - n_live > max(n_live, self._settings.batch_chunks)
        if len(segments) <= MAX_SEGMENTS and not collect:
            return
        stored = {int(blob) for segment in segments for blob in segment.blob_ids}
        keep = stored & live if collect else stored
        merged = merge_segments(segments, keep)
        name = uuid4().hex
        n_bytes = merged.save(self._state.segment(name))
        index_db.drop_blobs(self._connection, stored - keep)
        new_id = index_db.put_segment(self._connection, name, len(merged), n_bytes)
        index_db.replace_segments(self._connection, [row.id for row in rows], new_id)

    def _publish(self, view_id: int) -> None:
        """Start a new generation: write the view's arrays for it, then count it up. Runs inside a transaction."""
        generation = index_db.generation(self._connection) + 1
        languages = dict(index_db.blob_languages(self._connection, view_id))
        files = [
            ViewFile(row.path, row.blob_id, languages[row.blob_id])
            for row in index_db.iter_files(self._connection, view_id)
            if row.blob_id is not None
        ]
        arrays = build_view(files, self._model.word_vectors, self._model.dimensions)
        n_bytes = arrays.save(self._state.view(view_id, generation))
        index_db.publish_view(self._connection, view_id, generation, n_bytes)

    def _is_published(self, view: ViewRow | None, verify: bool) -> bool:
        if view is None or not view.generation:
            return False
        path = self._state.view(view.id, view.generation)
        try:
            if verify:
                ViewArrays.load(path)
            n_bytes = index_db.published_views(self._connection)[view.id, view.generation]
            return path.stat().st_size == n_bytes
        except (DerivedFileError, FileNotFoundError):
            return False

    def _remove_unlisted(self) -> None:
        rows = index_db.read_segments(self._connection)
        keep = {self._state.segment(row.name) for row in rows}
        keep |= {self._state.view(*view) for view in index_db.published_views(self._connection)}
        self._state.remove_unlisted(keep)

    def _report(
        self, view_id: int, plan: _Plan, tally: _Tally, started: float, *, dry_run: bool = False
    ) -> IndexReport:
        files, chunks, languages = index_db.count_totals(self._connection, view_id)
        stored = [
            Skipped(row.path, row.reason)
            for row in index_db.iter_files(self._connection, view_id)
            if row.blob_id is None and row.reason
        ]
        seen = {skip.path for skip in tally.skipped}
        return IndexReport(
            files=files,
            chunks=chunks,
            added=tally.added - tally.renamed,
            changed=tally.changed,
            removed=len(plan.removed) - tally.renamed,
            renamed=tally.renamed,
            unchanged=plan.unchanged,
            embedded_chunks=tally.embedded,
            skipped=(*tally.skipped, *(skip for skip in stored if skip.path not in seen)),
            seconds=time.perf_counter() - started,
            generation=index_db.generation(self._connection),
            dry_run=dry_run,
            languages=languages,
        )


def _chunk_texts(data: bytes, parsed: ParsedFile) -> tuple[list[tuple[str, str, str, str]], list[int], list[int]]:
    """Return the (name, signature, doc, body) texts, the stable keys and the sizes in bytes of a file's chunks."""
    line_starts = [0]
    position = data.find(b"\n")
    while position >= 0:
        line_starts.append(position + 1)
        position = data.find(b"\n", position + 1)
    line_starts.append(len(data))
    texts, keys, sizes = [], [], []
    occurrences: dict[int, int] = {}
    for chunk in parsed.chunks:
        ((first, last),) = chunk.lines
        own = data[line_starts[first - 1] : line_starts[min(last, len(line_starts) - 1)]]
        texts.append(_fields(chunk, parsed, own))
        key = _key(chunk, parsed, own)
        occurrences[key] = occurrences.get(key, -1) + 1
        if occurrences[key]:
            key = _hash_key(key.to_bytes(8, "little") + occurrences[key].to_bytes(4, "little"))
        keys.append(key)
        sizes.append(chunk.span.end_byte - chunk.span.start_byte)
    return texts, keys, sizes


def _fields(chunk: Chunk, parsed: ParsedFile, own: bytes) -> tuple[str, str, str, str]:
    definitions = parsed.definitions[slice(*chunk.definitions)]
    names = [one.name for one in definitions]
    if chunk.owner >= 0:
        owner = parsed.definitions[chunk.owner].qualified_name
        opens = chunk.definitions[0] <= chunk.owner < chunk.definitions[1]
        names.append(owner.rpartition(".")[0] if opens else owner)
    signatures = [one.signature for one in definitions]
    docs = [one.doc for one in definitions]
    body = own[:MAX_BODY_TERMS_BYTES].decode("utf-8", "replace")
    return "\n".join(names), "\n".join([chunk.header, *signatures]), "\n".join(docs), body


def _key(chunk: Chunk, parsed: ParsedFile, own: bytes) -> int:
    owner = parsed.definitions[chunk.owner].qualified_name if chunk.owner >= 0 else ""
    return _hash_key(f"{parsed.language}\0{chunk.kind}\0{owner}\0".encode("utf-8", "replace") + own)


def _hash_key(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=CHUNK_KEY_BYTES).digest(), "big")
