"""One project, opened: indexing, search and fetch behind a few methods."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from cairn.config import Settings, load_settings
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import (
    CairnError,
    DerivedFileError,
    IndexDamagedError,
    IndexLockedError,
    IndexMissingError,
    IndexVersionError,
    PathError,
    QueryError,
    StoreError,
)
from cairn.index.store import StateDir
from cairn.source.git import Repository, current_branch, find_repository, head_revision
from cairn.storage import garbage_db, index_db
from cairn.storage.connection import mapped_errors
from cairn.storage.lock import write_lock
from cairn.types import Answer, EmbeddingReport, Estimate, Fetched, IndexReport, Mode, Outline, OutlineMode

if TYPE_CHECKING:
    import sqlite3
    import subprocess
    from collections.abc import Callable

    from cairn.embedding.static import StaticModel
    from cairn.graph.flow import FlowGraph, Slice
    from cairn.index.build import Progress
    from cairn.index.gc import GarbageReport
    from cairn.index.health import Finding
    from cairn.index.plan import Plan
    from cairn.index.snapshot import Snapshot
    from cairn.index.watch import Batch, Update, Watcher
    from cairn.search.answer import Library
    from cairn.search.hits import Reader
    from cairn.search.meaning import Meanings
    from cairn.source.walk import Walk

STATE_FOLDER = ".cairn"

# How long an answer waits for another process that is writing.
READER_WAIT_SECONDS = 0.05

_T = TypeVar("_T")


class Workspace:
    """The index of one folder. Open it with `Workspace.open`, and close it, best with `with`.

    Args:
        root: the folder, absolute.
        state: where its index lives.
    """

    def __init__(self, root: Path, state: StateDir, repository: Repository | None, settings: Settings) -> None:
        self.root = root
        self.state = state
        self.settings = settings
        self._repository = repository
        self._connection: sqlite3.Connection | None = None
        self._snapshot: Snapshot | None = None
        self._files: Reader | None = None
        self._meanings: Meanings | None = None
        self._background: subprocess.Popen[bytes] | None = None

    @classmethod
    def open(cls, path: str | Path, *, state_dir: str | Path | None = None, settings: Settings | None = None) -> Self:
        """Open the folder at `path`; nothing is read or written until a method is called.

        Args:
            path: the folder to index, with all below it.
            state_dir: where the index is kept; by default `.cairn` in the repository's main checkout.
            settings: by default what files and environment say.

        Raises:
            PathError: if `path` is missing, no folder, or cannot be read.
            ConfigError: if a settings file or variable cannot be used.
        """
        root = _checked_root(Path(path))
        return cls._opened(root, find_repository(root), state_dir, settings)

    @classmethod
    def containing(cls, path: str | Path, *, state_dir: str | Path | None = None) -> Self:
        """Open the project that contains `path`, as the commands do.

        That is the nearest indexed folder up to the top of its git work tree, else that top, else `path` itself.

        Raises:
            PathError, ConfigError: as `open`.
        """
        start = _checked_root(Path(path))
        repository = find_repository(start)
        return cls._opened(_project_root(start, repository), repository, state_dir, None)

    @classmethod
    def _opened(
        cls, root: Path, repository: Repository | None, state_dir: str | Path | None, settings: Settings | None
    ) -> Self:
        settings = settings or load_settings(root)
        state = Path(state_dir or settings.state_dir or _default_state(root, repository))
        return cls(root, StateDir(state.expanduser().absolute()), repository, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the database. The workspace can be used again: it reopens by itself."""
        if self._connection is not None:
            self._connection.close()
        if self._meanings is not None:
            self._meanings.close()
        self._connection = self._snapshot = self._meanings = None

    # -- indexing -----------------------------------------------------------------------------------------------------

    def index(
        self,
        *,
        full: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        background: bool = False,
        wait_seconds: float | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the files on disk, and say what was done.

        Interrupted anywhere, the next run goes on from the last batch. Two processes may call it at once: the second
        waits for the first.

        Args:
            full: forget what is there and build anew.
            dry_run: only say what would be done.
            verify: read the derived files to the last byte first, and redo what is damaged.
            background: nobody waits for it, so it takes `Settings.background_cores` only.
            wait_seconds: how long to wait for another process; by default `Settings.lock_timeout_seconds`.
            progress: called with (files done, files to do) while files are read.
        """
        try:
            report = self._index(full, dry_run, verify, background, wait_seconds, progress)
        except IndexLockedError:  # another run is at work, and says itself when it fails
            raise
        except CairnError as error:
            if not dry_run:
                self.state.record_error(error)
            raise
        if not dry_run:
            self.state.clear_error()
        return report

    def refresh(self, progress: Progress | None = None) -> str:
        """Bring the index up to date for an answer, and return a note when the answer has to do without that.

        That is so while another process is writing, for an answer waits 50 ms for that at most, and where nothing can
        be written. Without any index there is nothing to answer from, so that is waited for.
        """
        known = self._is_indexed()
        try:
            self.index(wait_seconds=READER_WAIT_SECONDS if known else None, progress=progress)
        except (IndexMissingError, IndexVersionError, IndexDamagedError):
            raise
        except IndexLockedError:
            if not known:
                raise
            return "another process is updating the index: this is what it holds so far"
        except StoreError as error:
            if not known:
                raise
            return f"the index could not be updated, so this is from before: {error}; try: {error.hint}"
        return ""

    def _is_indexed(self) -> bool:
        try:
            with closing(self.state.open_for_reading()) as connection, mapped_errors(self.state.database):
                view = index_db.find_view(connection, self._view_name)
                return view is not None and view.generation > 0
        except StoreError:
            return False

    def _index(
        self,
        full: bool,
        dry_run: bool,
        verify: bool,
        background: bool,
        wait_seconds: float | None,
        progress: Progress | None,
    ) -> IndexReport:
        from cairn.index import plan  # noqa: PLC0415 - start-up time: searching does not need it
        from cairn.source.walk import walk  # noqa: PLC0415 - as above

        started = time.perf_counter()
        found = walk(self.root, repository=self._repository, max_file_bytes=self.settings.max_file_bytes)
        if dry_run and not self.state.database.exists():
            skipped, seconds = tuple(found.skipped), time.perf_counter() - started
            return IndexReport(0, 0, len(found.files), 0, 0, 0, 0, 0, skipped, seconds, 0, dry_run=True)
        if dry_run:
            with closing(self.state.open_for_reading()) as connection:
                return plan.preview(connection, found, self._view_name, started)
        self.state.create()
        wait_seconds = self.settings.lock_timeout_seconds if wait_seconds is None else wait_seconds
        with write_lock(self.state.lock, wait_seconds):
            todo = None if full or verify else self._compare(found, started)
            if isinstance(todo, IndexReport):
                return todo
            try:
                return self._build(found, started, full, verify, background, progress, todo)
            except DerivedFileError:  # damage that shows only when all of a file is read
                return self._build(found, started, full, True, background, progress)
            except IndexDamagedError:  # the same, of a page of the database
                self.state.set_aside()
                return self._build(found, started, full, verify, background, progress)

    def _compare(self, found: Walk, started: float) -> IndexReport | Plan | None:
        """Return the report of a run with nothing to do, else what there is to do, None for an index to be mended."""
        from cairn.index import plan  # noqa: PLC0415 - start-up time, as in index()

        try:
            with closing(self.state.open_for_reading()) as connection, mapped_errors(self.state.database):
                fingerprint = bundled_fingerprint()
                todo = plan.plan_update(connection, self.state, self._view_name, found, self.branch, fingerprint)
                if todo is None or todo.todo or todo.removed:
                    return todo
                return plan.make_report(connection, todo, plan.Tally(skipped=list(found.skipped)), started)
        except (IndexMissingError, IndexDamagedError):
            return None  # building makes a new one

    def _build(
        self,
        found: Walk,
        started: float,
        full: bool,
        verify: bool,
        background: bool,
        progress: Progress | None,
        todo: Plan | None = None,
    ) -> IndexReport:
        from cairn.index import gc  # noqa: PLC0415 - start-up time: numpy
        from cairn.index.build import Builder  # noqa: PLC0415 - as above, and all that parses

        with closing(self.state.open_for_writing(replace_newer=full)) as connection:
            builder = Builder(
                self.root, self.state, self._view_name, connection, self._model, self.settings, background=background
            )
            report = builder.run(found, todo, self.branch, started, full=full, verify=verify, progress=progress)
            if gc.is_due(connection, time.time()):
                gc.collect(connection, self.state, self.settings, quiet=True)
            return report

    def watch(self, watcher: Watcher) -> Iterator[Update]:
        """Keep the index up to date until the watcher is stopped, and yield what was done; see `watcher`.

        Edits are followed at once; what may take longer, as after the start or a switch of the branch, is done at low
        priority on some of the cores (see `Settings`).

        Raises:
            PathError: if the folder is gone.
        """
        from cairn.index.limits import run_behind  # noqa: PLC0415 - start-up time: most commands do not watch
        from cairn.index.watch import follow  # noqa: PLC0415 - as above

        def update(batch: Batch) -> IndexReport:
            if batch.is_edit:
                return self.index(background=True)
            return run_behind(self.settings, lambda progress: self.index(background=True, progress=progress))

        return follow(watcher, update, StoreError, PathError)

    def watcher(self) -> Watcher:
        """Return what tells when files of this project change, as the settings want it."""
        from cairn.index.health import is_remote  # noqa: PLC0415 - start-up time, as in watch()
        from cairn.index.limits import on_battery  # noqa: PLC0415 - as above
        from cairn.index.watch import Watcher  # noqa: PLC0415 - as above

        return Watcher(
            self.root,
            self._repository,
            polling=self.settings.watch_polling or is_remote(self.root),
            poll_seconds=self.settings.watch_poll_seconds,
            is_paused=on_battery if self.settings.pause_on_battery else lambda: False,
            state=self.state.path,
        )

    def collect(self, *, dry_run: bool = False) -> GarbageReport:
        """Drop what no branch and no worktree has shown for `Settings.garbage_days`.

        Args:
            dry_run: only say what would be dropped.

        Raises:
            IndexMissingError: if nothing was indexed yet.
        """
        from cairn.index import gc  # noqa: PLC0415 - start-up time: numpy

        self.state.open_for_reading().close()
        with write_lock(self.state.lock, self.settings.lock_timeout_seconds):
            try:
                with closing(self.state.open_for_writing()) as connection:
                    return gc.collect(connection, self.state, self.settings, dry_run=dry_run)
            except DerivedFileError:
                pass
        self.index(verify=True)
        with (
            write_lock(self.state.lock, self.settings.lock_timeout_seconds),
            closing(self.state.open_for_writing()) as connection,
        ):
            return gc.collect(connection, self.state, self.settings, dry_run=dry_run)

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """Examine the index and what it stands on, from the disk to every row and file.

        Args:
            fix: mend what can be, and examine again. A damaged database is kept beside the new one.

        Returns:
            what was looked at; what was mended is marked as `fixed`.
        """
        from cairn.index import health  # noqa: PLC0415 - start-up time: numpy

        findings = health.examine(self.state, bundled_fingerprint())
        if not fix or not any(one.repair for one in findings):
            return findings
        self.close()
        fixed: list[Finding] = []
        for _ in range(3):  # what is in the way hides what is behind
            health.repair(self.state, findings, self.index, partial(self.index, verify=True))
            left = health.examine(self.state, bundled_fingerprint())
            repairs = {one.repair for one in left}
            fixed += [one._replace(fixed=True) for one in findings if one.repair and one.repair not in repairs]
            findings = left
            if not any(repairs):
                break
        return [*fixed, *findings]

    def build_graphs(self, progress: Progress | None = None) -> int:
        """Build what a large index is searched faster with, and return for how many chunks; until then search is exact.

        For an index of up to `Settings.exact_chunks` chunks there is nothing to do. Interrupted, the graph at hand is
        lost and nothing else.

        Args:
            progress: called with (chunks done, chunks to do); equal chunks count once.

        Raises:
            IndexMissingError: if nothing was indexed yet.
        """
        from cairn.index.plan import missing_graphs  # noqa: PLC0415 - start-up time, as in index()

        with closing(self.state.open_for_reading()) as connection, mapped_errors(self.state.database):
            if not missing_graphs(connection, self.state, self.settings.exact_chunks):
                return 0
        from cairn.index.hnsw import build_graphs  # noqa: PLC0415 - start-up time: most indexes need none

        return build_graphs(self.state, self.settings.exact_chunks, self.settings.lock_timeout_seconds, progress)

    # -- other models -------------------------------------------------------------------------------------------------

    def embed(
        self, *, anew: bool = False, progress: Callable[[str, int, int], None] | None = None
    ) -> tuple[EmbeddingReport, ...]:
        """Complete the vectors of the models that `Settings.embedding` names; the bundled model needs no such run.

        Every batch is committed, so an interruption loses one at most. A model that fails is reported, not raised.

        Args:
            anew: forget what these models have, and begin from nothing.
            progress: called with (model, chunks done, chunks to do).

        Raises:
            IndexMissingError: if nothing was indexed yet.
            IndexLockedError: if another process embeds already.
        """
        if not self.settings.chain:
            return ()
        from cairn.index.embed import embed_chain  # noqa: PLC0415 - start-up time: most projects need no other model

        return embed_chain(self.root, self.state, self._view_name, self.settings, anew=anew, progress=progress)

    def estimate(self) -> tuple[Estimate, ...]:
        """Return what `index` and then `embed` would take for each model, without asking or changing anything."""
        if not self.settings.chain:
            return ()
        from cairn.index.estimate import estimate  # noqa: PLC0415 - start-up time, as in embed()
        from cairn.index.plan import Plan, make_plan  # noqa: PLC0415 - as above
        from cairn.source.walk import walk  # noqa: PLC0415 - as above

        found = walk(self.root, repository=self._repository, max_file_bytes=self.settings.max_file_bytes)
        with ExitStack() as stack:
            connection = view = None
            if self.state.database.exists():
                connection = stack.enter_context(closing(self.state.open_for_reading()))
                view = index_db.find_view(connection, self._view_name)
            plan = Plan(list(found.files), [], 0, {})
            if connection is not None:
                plan = make_plan(connection, found, view)
            chain = self.settings.chain
            return tuple(estimate(connection, self._view_name, plan, one) for one in chain)

    def complete_in_background(self) -> bool:
        """Start a process that completes what the last answer lacked, and tell whether that was done.

        See `cairn.index.background.start` for when it is not.
        """
        embedding = self.settings.embedding
        wanted = embedding is not None and embedding.background
        wanted = wanted and self._meanings is not None and self._meanings.incomplete
        if not wanted or (self._background is not None and self._background.poll() is None):
            return False
        from cairn.index import background  # noqa: PLC0415 - start-up time, as in embed()

        self._background = background.start(self.root, self.state, self.settings)
        return self._background is not None

    @property
    def branch(self) -> str:
        """The branch that is checked out, a short revision when detached, empty outside git."""
        if self._repository is None:
            return ""
        name = current_branch(self._repository) or (head_revision(self._repository) or "")[:12]
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    @property
    def _view_name(self) -> str:
        """One view a folder: linked worktrees share the index, each with its own files."""
        return os.fsencode(self.root).decode("utf-8", "backslashreplace")

    @cached_property
    def _model(self) -> StaticModel:
        from cairn.embedding.static import StaticModel  # noqa: PLC0415 - start-up time: `status` needs no model

        return StaticModel.load()

    # -- answers ------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "auto",
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        globs: Sequence[str] = (),
        max_tokens: int | None = None,
        explain: bool = False,
        context: int = 0,
    ) -> Answer:
        """Return what the index holds for a query, best first; nothing relevant gives an empty answer.

        Args:
            query: prose, a name, a quoted text or a regular expression.
            limit: how many hits at most; 0 gives all matches of an exact search.
            mode: `auto` decides from the query; see docs/guide.md.
            kinds: only definitions of these kinds, such as `function` or `class`.
            languages: only files in these languages.
            globs: only paths that match one of these; `!glob` leaves out.
            max_tokens: an estimate of what the hits may cost; the rest is counted in `omitted`.
            explain: give each hit the parts of its score.
            context: show this many lines around each hit's first line instead of its beginning.

        Raises:
            QueryError: if the query is empty, too long, or an invalid pattern.
            IndexMissingError: if nothing was indexed yet.
        """
        from cairn.search.answer import Request, respond  # noqa: PLC0415 - start-up time: indexing does not search
        from cairn.search.filters import Filters  # noqa: PLC0415 - as above
        from cairn.search.query import understand  # noqa: PLC0415 - as above
        from cairn.source.languages import BY_NAME  # noqa: PLC0415 - as above

        if unknown := sorted(set(languages) - BY_NAME.keys()):
            raise QueryError(f"no language is called {', '.join(unknown)}", f"known are: {', '.join(sorted(BY_NAME))}")
        understood = understand(query, mode)
        request = Request(limit, Filters(tuple(kinds), tuple(languages), tuple(globs)), max_tokens, explain, context)
        return self._mended(lambda: respond(self._library(), understood, request, guessed=mode == "auto"))

    def fetch(self, ids: Sequence[str]) -> list[Fetched]:
        """Return the full text of hits, and of definitions in an outline, in the order of `ids`.

        Raises:
            NotFoundError: if an id is malformed, or what it names is in the index no more.
            IndexMissingError: if nothing was indexed yet; the ids of an outline need no index.
        """
        return self._mended(lambda: [self._fetch_definition(one) or self._fetch_hit(one) for one in ids])

    def _fetch_hit(self, text_id: str) -> Fetched:
        from cairn.search.fetch import fetch_one  # noqa: PLC0415 - start-up time: indexing does not search

        library = self._library()
        return fetch_one(library.snapshot, library.connection, library.view_name, library.reader, text_id)

    def _fetch_definition(self, text_id: str) -> Fetched | None:
        if "#" not in text_id:
            return None
        from cairn.graph.locate import fetch_symbol  # noqa: PLC0415 - start-up time: hits need no parser

        return fetch_symbol(self.root, text_id)

    def outline(
        self,
        path: str | Path,
        *,
        mode: OutlineMode = "structure",
        symbol: str | None = None,
        max_tokens: int | None = None,
    ) -> Outline:
        """Return what a file defines, as it is on disk now; nothing needs to be indexed.

        Args:
            path: relative to the root, or absolute.
            mode: `structure` lists definitions, `context` shows one with what is around it, `extract` tells of each
                function how control and data flow in it.
            symbol: only this definition: a name, or the number of a line in it. `context` needs it.
            max_tokens: what the text may cost, estimated; what does not fit is counted in `omitted`. By default 8,000.

        Raises:
            NotFoundError: if there is no such file or symbol.
            AmbiguousError: if several definitions have this name.
            PathError: if the file is outside the root, no regular file, too large, or no text.
            QueryError: if the mode needs a symbol and there is none.
        """
        from cairn.graph.answer import make_outline  # noqa: PLC0415 - start-up time: searching needs no parser

        return make_outline(self.root, path, mode, symbol, max_tokens)

    def flow(self, path: str | Path, function: str) -> FlowGraph:
        """Return how control and data flow in one function, as it is on disk now.

        Args:
            path: relative to the root, or absolute.
            function: its name, or the number of a line in it; `<module>` for the statements outside of functions.

        Raises:
            NotFoundError, AmbiguousError, PathError: as `outline`.
            QueryError: if the symbol is no function, or flow is not known for the language.
        """
        from cairn.graph.flow import flow_of  # noqa: PLC0415 - start-up time, as in outline()

        return flow_of(self.root, path, function)

    def slice(self, path: str | Path, line: int, variable: str = "", *, forward: bool = False) -> Slice:
        """Return the lines of a function that a line depends on, or `forward` those that depend on it.

        Args:
            path: relative to the root, or absolute.
            line: 1-based.
            variable: only this variable of the line; empty for all.
            forward: the other direction.

        Raises:
            NotFoundError: if there is no statement on the line, or no such variable.
            PathError, QueryError: as `flow`.
        """
        from cairn.graph.flow import slice_from  # noqa: PLC0415 - start-up time, as in outline()

        return slice_from(self.root, path, line, variable, forward=forward)

    def status(self) -> dict[str, object]:
        """Return what the index holds, as plain values for display."""
        from cairn.index.models import chain_status  # noqa: PLC0415 - start-up time: searching does not need it
        from cairn.index.plan import make_plan  # noqa: PLC0415 - as above
        from cairn.source.walk import walk  # noqa: PLC0415 - as above

        with closing(self.state.open_for_reading()) as connection, mapped_errors(self.state.database):
            view = index_db.find_view(connection, self._view_name)
            if view is None:
                raise IndexMissingError("this project is not indexed yet", "cairn index")
            found = walk(self.root, repository=self._repository, max_file_bytes=self.settings.max_file_bytes)
            plan = make_plan(connection, found, view)
            files, chunks, languages = index_db.count_totals(connection, view.id)
            skipped = [*found.skipped, *index_db.read_skipped(connection, view.id)]
            return {
                "root": str(self.root),
                "state_dir": str(self.state.path),
                "branch": view.branch,
                "generation": index_db.generation(connection),
                "files": files,
                "chunks": chunks,
                "pending": len(plan.changed()) + len(plan.removed),
                "languages": languages,
                "skipped": {skip.path: skip.reason for skip in skipped},
                "model": index_db.read_meta(connection).get("model", ""),
                "embedding": [one._asdict() for one in chain_status(connection, view.id, self.settings.chain)],
                "views": [one._asdict() | {"gone": one.is_gone} for one in garbage_db.read_views(connection)],
                "sizes": (sizes := self.state.sizes()),
                "disk_bytes": sum(sizes.values()),
                "last_error": self.state.read_error(),
            }

    def _mended(self, answer: Callable[[], _T]) -> _T:
        """Answer; when the database turns out to be damaged, move it aside, build a new one, and answer from that."""
        try:
            with mapped_errors(self.state.database):
                return answer()
        except DerivedFileError:
            raise
        except IndexDamagedError:
            self.close()
            with write_lock(self.state.lock, self.settings.lock_timeout_seconds):
                self.state.set_aside()
            self.index()
        with mapped_errors(self.state.database):
            return answer()

    def _library(self) -> Library:
        """Open the newest generation, unless it is the one already open."""
        from cairn.search.answer import Library  # noqa: PLC0415 - start-up time: indexing does not search
        from cairn.search.hits import Reader  # noqa: PLC0415 - as above

        if self._files is None:
            self._files = Reader(self.root, self.settings.max_file_bytes)
        if self._connection is None:
            self._connection = self.state.open_for_reading()
        with mapped_errors(self.state.database):
            current = index_db.generation(self._connection)
            if self._snapshot is None or self._snapshot.generation != current:
                self._snapshot = self._open_snapshot(self._connection)
        if self._meanings is None and self.settings.chain:
            from cairn.search.meaning import Meanings  # noqa: PLC0415 - start-up time, as in embed()

            self._meanings = Meanings(self.settings.chain, self.state)
        return Library(self._snapshot, self._connection, self._view_name, self._files, self._model, self._meanings)

    def _open_snapshot(self, connection: sqlite3.Connection) -> Snapshot:
        """Open the newest generation; a damaged derived file is rebuilt on the spot, for it can be."""
        from cairn.index.snapshot import Snapshot  # noqa: PLC0415 - start-up time: indexing does not search

        try:
            return Snapshot.open(connection, self.state, self._view_name)
        except DerivedFileError:
            self.index(verify=True)
            return Snapshot.open(connection, self.state, self._view_name)


def _project_root(start: Path, repository: Repository | None) -> Path:
    top = repository.work_tree if repository is not None else None
    for folder in (start, *start.parents):
        if (folder / STATE_FOLDER / "index.db").is_file():
            return folder
        if folder == top:
            return folder
    return start


def _checked_root(path: Path) -> Path:
    try:
        root = path.expanduser().resolve(strict=True)
        if not root.is_dir():
            raise PathError(f"{path} is no folder", "name a folder: cairn index -C FOLDER")
        with os.scandir(root) as entries:
            next(entries, None)
    except FileNotFoundError as error:
        raise PathError(f"{path} does not exist", "name an existing folder: cairn index -C FOLDER") from error
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}", "check its permissions with: ls -ld") from error
    except RuntimeError as error:  # an unknown user behind `~`; before Python 3.13 a loop of links, too
        raise PathError(
            f"{path} cannot be resolved: {error}", "name an existing folder: cairn index -C FOLDER"
        ) from error
    return root


def _default_state(root: Path, repository: Repository | None) -> Path:
    """Return `.cairn` in the main checkout when `root` is a work tree, so that linked worktrees share it."""
    if repository is None or repository.work_tree != root:
        return root / STATE_FOLDER
    common = repository.common_dir
    main = common.parent if common.name == ".git" else repository.work_tree
    return main / STATE_FOLDER
