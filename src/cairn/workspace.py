"""One project, opened: indexing, search, structure and upkeep behind one object."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from cairn import waiting
from cairn.config import Loaded, Settings, load
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import (
    DerivedFileError,
    IndexDamagedError,
    IndexMissingError,
    IndexMovedError,
    NotFoundError,
    PathError,
    StoreError,
)
from cairn.hints import Hint
from cairn.index.project import check_state, checked_root, default_state, is_everything, project_root
from cairn.index.store import StateDir
from cairn.index.views import View, Views
from cairn.index.writer import Writer
from cairn.source.git import Repository, find_repository
from cairn.storage.connection import mapped_errors

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from cairn.embedding.static import StaticModel
    from cairn.graph.changes import Change
    from cairn.graph.graph import Graph
    from cairn.graph.values import (
        CallPath,
        Cycles,
        DeadCode,
        Impact,
        Importers,
        Links,
        RepositoryMap,
        TestChoice,
    )
    from cairn.index.gc import GarbageReport
    from cairn.index.health import Finding
    from cairn.index.limits import Progress
    from cairn.index.watch import Batch, Update, Watcher
    from cairn.model_choice import Asked
    from cairn.search.answer import Library
    from cairn.search.opened import OpenIndex
    from cairn.structure.context import ContextSection
    from cairn.structure.flow import FlowGraph, Slice
    from cairn.types import (
        Answer,
        EmbeddingReport,
        Estimate,
        Fetched,
        IndexReport,
        Mode,
        Outline,
        OutlineMode,
        OutlineSymbol,
    )

_T = TypeVar("_T")
_ATTEMPTS = 20  # to answer from an index that is written all the time
_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _is_known(root: Path) -> bool:
    """Tell whether the user indexed a folder before, by its name."""
    from cairn.registry import Registry  # noqa: PLC0415 - start-up time: few projects are a whole home folder
    from cairn.runtime import StateFolder  # noqa: PLC0415 - as above

    return Registry(StateFolder.of_user()).knows(root, "")


class Workspace:
    """The index of one folder. Open it with `Workspace.open`, and close it, best with `with`.

    Args:
        root: the folder, absolute.
        state: where its index lives.
        repository: the checkout it belongs to, None outside git.
    """

    def __init__(self, root: Path, state: StateDir, repository: Repository | None, settings: Settings) -> None:
        self.root = root
        self.state = state
        self.settings = settings
        self.asked: Asked | None = None  # what the project's file asks for, and the user did not answer yet
        self._repository = repository
        self._views = Views(root, repository, settings.max_file_bytes)
        self._writer = Writer(root, state, settings, lambda: self._model)
        self._opened: OpenIndex | None = None
        self._background: subprocess.Popen[bytes] | None = None
        self.is_unnamed = False  # whether it is a folder that is indexed only when it is named

    @classmethod
    def open(cls, path: str | Path, *, state_dir: str | Path | None = None, settings: Settings | None = None) -> Self:
        """Open the folder at `path`; nothing is read or written until a method is called.

        Args:
            path: the folder to index, with all below it.
            state_dir: where the index is kept; by default `.cairn` in the repository's main checkout.
            settings: by default what files and environment say.

        Raises:
            PathError: if `path` is missing, no folder, or cannot be read.
            ConfigError: if a settings file or variable cannot be used, or `state_dir` is the home folder or `/`.
        """
        root = checked_root(Path(path))
        return cls._of(root, find_repository(root), state_dir, settings)

    @classmethod
    def containing(cls, path: str | Path, *, state_dir: str | Path | None = None) -> Self:
        """Open the project that contains `path`, as the commands do.

        That is the nearest indexed folder up to the top of its git work tree, else that top, else `path` itself. The
        home folder and `/` are indexed only if `path` names them, or did so before: other than as `.`.

        Raises:
            PathError, ConfigError: as `open`.
        """
        start = checked_root(Path(path))
        repository = find_repository(start)
        root = project_root(start, repository)
        is_unnamed = False
        if is_everything(root) and not _is_known(root):
            is_unnamed, root = str(path) == os.curdir, start
        workspace = cls._of(root, repository, state_dir, None)
        workspace.is_unnamed = is_unnamed
        return workspace

    def _check_named(self) -> None:
        """Make sure that the home folder and `/` are not indexed by mistake.

        Raises:
            PathError: if this is one of them, and was not named.
        """
        if self.is_unnamed:
            raise PathError(
                f"{self.root} is indexed only when you name it, for it may hold much more than a project",
                Hint("name the folder you mean", "index", path=str(self.root)),
            )

    @classmethod
    def _of(
        cls, root: Path, repository: Repository | None, state_dir: str | Path | None, settings: Settings | None
    ) -> Self:
        settings, asked = load(root) if settings is None else Loaded(settings, None)
        if chosen := state_dir or settings.state_dir:
            check_state(Path(chosen))
        state = Path(chosen or default_state(root, repository))
        workspace = cls(root, StateDir(state.expanduser().absolute()), repository, settings)
        workspace.asked = asked
        return workspace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the database. The workspace can be used again: it reopens by itself."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    # -- indexing -----------------------------------------------------------------------------------------------------

    def index(
        self,
        *,
        branch: str | None = None,
        full: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        background: bool = False,
        wait_seconds: float | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the files on disk, or with those of a branch, and say what was done.

        Interrupted anywhere, the next run goes on from the last batch. Two processes may call it at once: the second
        waits for the first.

        Args:
            branch: index this branch or revision, from git's objects, instead of what is checked out.
            full: forget what is there and build from scratch.
            dry_run: only say what would be done.
            verify: read the derived files to the last byte first, and redo what is damaged.
            background: nobody waits for it, so it takes `Settings.background_cores` only.
            wait_seconds: how long to wait for another process; by default `Settings.lock_timeout_seconds`.
            progress: called with (files done, files to do) while files are read.

        Raises:
            RevisionError: if git knows no such branch.
        """
        self._check_named()
        with closing(self._views.named(branch)) as view:
            if dry_run:
                return self._writer.preview(view)
            return self._writer.update(
                view,
                full=full,
                verify=verify,
                background=background,
                wait_seconds=wait_seconds,
                progress=progress,
            )

    def refresh(self, progress: Progress | None = None, *, branch: str | None = None) -> str:
        """Bring the index up to date for an answer, and return a note when the answer has to do without that.

        That is so while another process is writing, for an answer waits 50 ms for that at most, and where nothing can
        be written. Without any index there is nothing to answer from, so the first part of one is waited for.

        Raises:
            RevisionError: if git knows no such branch.
        """
        self._check_named()
        with closing(self._views.named(branch)) as view:
            return self._writer.refresh(view, progress)

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
        self._check_named()
        from cairn.index.watch import watcher_of  # noqa: PLC0415 - start-up time, as in watch()

        return watcher_of(self.root, self._repository, self.settings, self.state.path)

    def collect(self, *, dry_run: bool = False) -> GarbageReport:
        """Drop what no branch and no worktree has shown for `Settings.garbage_days`.

        Args:
            dry_run: only say what would be dropped.

        Raises:
            IndexMissingError: if nothing was indexed yet.
        """
        return self._writer.collect(self._views.checkout, dry_run=dry_run)

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
        return self._writer.repair(self._views.checkout, findings)

    def build_graphs(self, progress: Progress | None = None) -> int:
        """Build what a large index is searched faster with, and return for how many chunks; until then search is exact.

        For an index of up to `Settings.exact_chunks` chunks there is nothing to do. Interrupted, the graph at hand is
        lost and nothing else.

        Args:
            progress: called with (chunks done, chunks to do); equal chunks count once.

        Raises:
            IndexMissingError: if nothing was indexed yet.
            NotAvailableError: if there is something to do, and the extra `large` is not installed.
        """
        from cairn.index.plan import missing_graphs  # noqa: PLC0415 - start-up time, as in index()

        with closing(self.state.open_for_reading()) as connection, mapped_errors(self.state.database):
            if not missing_graphs(connection, self.state, self.settings.exact_chunks):
                return 0
        from cairn.index.hnsw import build_graphs  # noqa: PLC0415 - start-up time: most indexes need none

        return build_graphs(self.state, self.settings.exact_chunks, self.settings.lock_timeout_seconds, progress)

    # -- other models -------------------------------------------------------------------------------------------------

    def embed(
        self,
        *,
        branch: str | None = None,
        full: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> tuple[EmbeddingReport, ...]:
        """Complete the vectors of the models that `Settings.embedding` names; the bundled model needs no such run.

        Every batch is committed, so an interruption loses one at most. A model that fails is reported, not raised.

        Args:
            branch: as for `index`.
            full: forget what these models have, and begin from nothing.
            progress: called with (model, chunks done, chunks to do).

        Raises:
            IndexMissingError: if nothing was indexed yet.
            IndexLockedError: if another process embeds already.
        """
        if not self.settings.chain:
            return ()
        from cairn.index.embed import embed_chain  # noqa: PLC0415 - start-up time: most projects need no other model

        with closing(self._views.named(branch)) as view:
            return embed_chain(view, self.state, self.settings, full=full, progress=progress)

    def estimate(self, branch: str | None = None) -> tuple[Estimate, ...]:
        """Return what `index` and then `embed` would take for each model, without asking or changing anything."""
        if not self.settings.chain:
            return ()
        from cairn.index.estimate import estimate_chain  # noqa: PLC0415 - start-up time, as in embed()

        with closing(self._views.named(branch)) as view:
            return estimate_chain(view, self.state, self.settings.chain)

    def complete_in_background(self) -> bool:
        """Start a process that completes what the last answer lacked, and tell whether that was done.

        See `cairn.index.background.start` for when it is not.
        """
        embedding = self.settings.embedding
        wanted = embedding is not None and embedding.background
        meanings = None if self._opened is None else self._opened.meanings
        wanted = wanted and meanings is not None and meanings.incomplete
        if not wanted or (self._background is not None and self._background.poll() is None):
            return False
        from cairn.index import background  # noqa: PLC0415 - start-up time, as in embed()

        self._background = background.start(self.root, self.state, self.settings)
        return self._background is not None

    @property
    def branch(self) -> str:
        """The branch that is checked out, a short revision when detached, empty outside git."""
        return self._views.checkout.branch

    @cached_property
    def _model(self) -> StaticModel:
        from cairn.embedding.static import StaticModel  # noqa: PLC0415 - start-up time: `status` needs no model

        return StaticModel.load()

    # -- answers ------------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        branch: str | None = None,
        limit: int = 10,
        mode: Mode = "auto",
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        globs: Sequence[str] = (),
        max_tokens: int | None = None,
        explain: bool = False,
        context: int = 0,
        expand: bool = False,
        progress: Progress | None = None,
    ) -> Answer:
        """Return what the index holds for a query, best first; nothing relevant gives an empty answer.

        Args:
            query: prose, a name, a quoted text, a regular expression, or a question such as `callers of NAME`.
            branch: search this branch or revision, as it was last indexed, instead of what is checked out.
            limit: how many hits at most; 0 gives all matches of an exact search, and all answers of the symbol graph.
            mode: `auto` decides from the query; see docs/guide.md.
            kinds: only definitions of these kinds, such as `function` or `class`.
            languages: only files in these languages.
            globs: only paths that match one of these; `!glob` leaves out.
            max_tokens: an estimate of what the hits may cost; the rest is counted in `omitted`.
            explain: give each hit the parts of its score.
            context: show this many lines around each hit's first line instead of its beginning.
            expand: give each hit its direct callers and callees, a few of each.
            progress: as for `graph`; only what asks the symbol graph needs it.

        Raises:
            QueryError: if the query is empty, too long, or an invalid pattern, or a kind or language is not known.
            RevisionError: if git knows no such branch.
            IndexMissingError: if nothing was indexed yet, or this branch was not.
        """
        from cairn.search.answer import (  # noqa: PLC0415 - start-up time: indexing does not search
            Request,
            respond,
            with_outdated_note,
        )
        from cairn.search.filters import Filters, check_names  # noqa: PLC0415 - as above
        from cairn.search.query import EXACT_MODES, understand  # noqa: PLC0415 - as above

        check_names(kinds, languages)
        understood = understand(query, mode)
        filters = Filters(tuple(kinds), tuple(languages), tuple(globs))
        request = Request(limit, filters, max_tokens, explain, context, expand)
        view = self._views.named(branch)
        guessed = mode == "auto"
        answer = self._answer(lambda library: respond(library, understood, request, guessed=guessed), view, progress)
        answer = with_outdated_note(answer, view)
        if self.asked is not None and answer.mode not in EXACT_MODES:
            answer = replace(answer, notes=(*answer.notes, self.asked.note))
        return self._noticed(answer)

    def similar(
        self,
        path: str | Path | None = None,
        line: int = 1,
        *,
        code: str | None = None,
        limit: int = 10,
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        globs: Sequence[str] = (),
    ) -> Answer:
        """Return code that does the same as the definition at a line, as the file is now, or as `code`; copies first.

        Args:
            path: relative to the root, or absolute; it need not be indexed.
            line: 1-based. The innermost definition there is taken, else the chunk.
            code: a text to be taken instead, in the first of `languages`; without, its language is guessed.
            limit: how many hits at most; 0 gives all that are similar.
            kinds, languages, globs: as for `search`.

        Raises:
            NotFoundError: if there is no such file or line, or nothing stands there.
            PathError: if the file is outside the root, no regular file, too large, or no text.
            QueryError: if neither or both of `path` and `code` are given, `code` is empty, too long, or no text, or a
                kind or language is not known.
            IndexMissingError: if nothing was indexed yet.
        """
        from cairn.search.answer import Request  # noqa: PLC0415 - start-up time: indexing does not search
        from cairn.search.filters import Filters, check_names  # noqa: PLC0415 - as above
        from cairn.search.sample import take_sample  # noqa: PLC0415 - as above
        from cairn.search.similar import find_similar  # noqa: PLC0415 - as above

        check_names(kinds, languages)
        place = None if path is None else (self.root, path, line)
        request = Request(limit, Filters(tuple(kinds), tuple(languages), tuple(globs)))

        def answer(library: Library) -> Answer:
            sample = take_sample(place, code, languages, library.snapshot, self._model, self.settings.max_file_bytes)
            return find_similar(library, sample, request)

        return self._noticed(self._answer(answer))

    def take_notice(self) -> str:
        """Return what there is to say of the state folder since the last answer or call, empty for nothing."""
        return self.state.take_notice()

    def _noticed(self, answer: Answer) -> Answer:
        notice = self.take_notice()
        return replace(answer, notes=(*answer.notes, notice)) if notice else answer

    def fetch(self, ids: Sequence[str], *, branch: str | None = None) -> list[Fetched]:
        """Return the full text of hits, and of definitions in an outline, in the order of `ids`.

        Args:
            ids: of hits; what is not in the checkout is looked for in the branches and revisions that were indexed.
            branch: look in this branch or revision only.

        Raises:
            NotFoundError: if an id is malformed, what it names is in the index no more, or `branch` is given with an id
                of an outline, which is of the file on disk.
            IndexMissingError: if nothing was indexed yet; the ids of an outline need no index.
        """
        if branch is not None and (ours := next((one for one in ids if "#" in one), None)):
            raise NotFoundError(
                f"{ours!r} names a definition of a file on disk, not of {branch}",
                Hint("fetch an id of a search", "search", query=None, branch=branch),
            )
        return self._mended(lambda: [self._fetch_one(one, branch) for one in ids])

    def _fetch_one(self, text_id: str, branch: str | None) -> Fetched:
        waiting.check()
        if "#" in text_id:
            from cairn.structure.locate import fetch_symbol  # noqa: PLC0415 - start-up time: hits need no parser

            if (found := fetch_symbol(self.root, text_id)) is not None:
                return found
        return self._open_index().fetch(text_id, branch)

    def outline(
        self,
        path: str | Path,
        *,
        mode: OutlineMode = "structure",
        symbol: str | None = None,
        max_tokens: int | None = None,
        progress: Progress | None = None,
    ) -> Outline:
        """Return what a file defines, as it is on disk now; nothing needs to be indexed.

        Args:
            path: relative to the root, or absolute.
            mode: `structure` lists definitions, `context` shows one with what is around it and, of an indexed project,
                its callers, callees and tests, `extract` tells of each function how control and data flow in it.
            symbol: only this definition: a name, or the number of a line in it. `context` needs it.
            max_tokens: what the text may cost, estimated; what does not fit is counted in `omitted`. By default 8,000.
            progress: as for `graph`, for a context.

        Raises:
            NotFoundError: if there is no such file or symbol.
            AmbiguousError: if several definitions have this name.
            PathError: if the file is outside the root, no regular file, too large, or no text.
            QueryError: if the mode needs a symbol and there is none.
        """
        from cairn.structure.answer import make_outline  # noqa: PLC0415 - start-up time: searching needs no parser

        return make_outline(self.root, path, mode, symbol, max_tokens, partial(self._surroundings, progress))

    def _surroundings(
        self, progress: Progress | None, path: str, symbol: OutlineSymbol
    ) -> tuple[list[ContextSection], tuple[str, ...]]:
        from cairn.graph.surroundings import surroundings  # noqa: PLC0415 - start-up time: only a context needs it

        return surroundings(partial(self._open_graph, progress), path, symbol)

    def flow(self, path: str | Path, function: str) -> FlowGraph:
        """Return how control and data flow in one function, as it is on disk now.

        Args:
            path: relative to the root, or absolute.
            function: its name, or the number of a line in it; `<module>` for the statements outside of functions.

        Raises:
            NotFoundError, AmbiguousError, PathError: as `outline`.
            QueryError: if the symbol is no function, or flow is not known for the language.
        """
        from cairn.structure.flow import flow_of  # noqa: PLC0415 - start-up time, as in outline()

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
        from cairn.structure.flow import slice_from  # noqa: PLC0415 - start-up time, as in outline()

        return slice_from(self.root, path, line, variable, forward=forward)

    def status(self) -> dict[str, object]:
        """Return what the index holds, as plain values for display."""
        from cairn.index.status import read_status  # noqa: PLC0415 - start-up time: searching does not need it

        status = read_status(self.root, self.state, self.settings, self._views.checkout)
        return {**status, "asks_for": "" if self.asked is None else self.asked.words}

    # -- the symbol graph ---------------------------------------------------------------------------------------------

    def graph(self, progress: Progress | None = None) -> Graph:
        """Return the symbol graph as of now: of the newest generation, with changed files read from disk.

        Args:
            progress: called with (files done, files to do) while files are read for the first time.

        Raises:
            IndexMissingError: if nothing was indexed yet.
        """
        return self._ask(lambda graph: graph, progress)

    def callers(self, symbol: str, *, limit: int = 0, progress: Progress | None = None) -> Links:
        """Return what calls a symbol directly, by file and line.

        Args:
            symbol: `name`, `Class.method`, `path:name`, `path:line`, a path, or the id of a hit. So below.
            limit: how many at most, 0 for all. So below.
            progress: as for `graph`. So below.

        Raises:
            UnknownSymbolError: if nothing is called so. So below.
            AmbiguousError: if several symbols are. So below.
        """
        from cairn.graph import questions  # noqa: PLC0415 - start-up time, as in graph()

        return self._ask(lambda graph: questions.callers(graph, self._symbol(symbol), limit), progress)

    def callees(self, symbol: str, *, limit: int = 0, progress: Progress | None = None) -> Links:
        """Return what a symbol calls directly, in reading order."""
        from cairn.graph import questions  # noqa: PLC0415 - start-up time, as in graph()

        return self._ask(lambda graph: questions.callees(graph, self._symbol(symbol), limit), progress)

    def call_path(self, source: str, target: str, *, progress: Progress | None = None) -> CallPath:
        """Return the shortest way of calls from one symbol to another; no steps when there is none."""
        from cairn.graph import questions  # noqa: PLC0415 - start-up time, as in graph()

        return self._ask(lambda graph: questions.call_path(graph, self._symbol(source), self._symbol(target)), progress)

    def importers(self, target: str, *, progress: Progress | None = None) -> Importers:
        """Return the files that import a file, given by its path, a Python module's name, or a symbol in it."""
        from cairn.graph import questions  # noqa: PLC0415 - start-up time, as in graph()

        return self._ask(lambda graph: questions.importers(graph, self._symbol(target)), progress)

    def impact(
        self, symbol: str | None = None, *, diff: str | None = None, limit: int = 0, progress: Progress | None = None
    ) -> Impact:
        """Return what a change of a symbol, or all that changed since the revision `diff`, may break.

        Raises:
            QueryError: unless one of `symbol` and `diff` is given.
            DiffError: if git cannot tell what changed.
        """
        from cairn.graph.impact import impact  # noqa: PLC0415 - start-up time, as in graph()

        def ask(graph: Graph) -> Impact:
            change = self._change(graph, symbol, diff)
            return impact(graph, change.nodes, limit, leftovers=change.leftovers)

        return self._ask(ask, progress)

    def choose_tests(
        self, symbol: str | None = None, *, diff: str | None = None, limit: int = 0, progress: Progress | None = None
    ) -> TestChoice:
        """Return the test files worth running for a change, best first; arguments and errors as for `impact`."""
        from cairn.graph.impact import choose_tests  # noqa: PLC0415 - start-up time, as in graph()

        def ask(graph: Graph) -> TestChoice:
            change = self._change(graph, symbol, diff)
            return choose_tests(graph, change.nodes, limit, change.leftovers)

        return self._ask(ask, progress)

    def dead_code(self, *, limit: int = 0, progress: Progress | None = None) -> DeadCode:
        """Return the functions and types that no entry point seems to reach, surest first."""
        from cairn.graph.dead import find_dead  # noqa: PLC0415 - start-up time, as in graph()

        return self._ask(lambda graph: find_dead(graph, limit), progress)

    def import_cycles(self, *, progress: Progress | None = None) -> Cycles:
        """Return a circle for each set of files that reach each other by imports."""
        from cairn.graph.cycles import find_cycles  # noqa: PLC0415 - start-up time, as in graph()

        return self._ask(find_cycles, progress)

    def map(
        self, *, max_tokens: int = 1_000, focus: Sequence[str] = (), progress: Progress | None = None
    ) -> RepositoryMap:
        """Return the most central files and definitions that fit `max_tokens`, as seen from the files of `focus`.

        Raises:
            UnknownSymbolError: if a path of `focus` is not indexed.
        """
        from cairn.graph.ranking import repository_map  # noqa: PLC0415 - start-up time, as in graph()
        from cairn.graph.symbols import file_named  # noqa: PLC0415 - as above

        return self._ask(
            lambda graph: repository_map(graph, max_tokens, [file_named(graph.code, path) for path in focus]), progress
        )

    def _symbol(self, text: str) -> str:
        """Return the place of a hit for its id, any other text as it is."""
        from cairn.search.ids import HitId  # noqa: PLC0415 - start-up time: indexing does not search

        if HitId.parse(text) is None:
            return text
        (hit,) = self.fetch([text])
        return f"{hit.path}:{hit.start_line}"

    def _change(self, graph: Graph, symbol: str | None, diff: str | None) -> Change:
        from cairn.graph.changes import find_change  # noqa: PLC0415 - start-up time, as in graph()

        place = None if symbol is None else self._symbol(symbol)
        return find_change(graph, place, diff, self.root, self._repository)

    # -- what is open -------------------------------------------------------------------------------------------------

    def _answer(
        self, answer: Callable[[Library], _T], view: View | None = None, progress: Progress | None = None
    ) -> _T:
        """Answer from one state of the index: the newest generation of a view, by default of the checkout."""

        def answer_once() -> _T:
            with self._reading(view or self._views.checkout, progress) as library:
                return answer(library)

        return self._mended(answer_once)

    def _ask(self, question: Callable[[Graph], _T], progress: Progress | None) -> _T:
        """Put a question to the symbol graph of the newest generation."""

        def answer() -> _T:
            with self._open_graph(progress) as graph:
                return question(graph)

        return self._mended(answer)

    @contextmanager
    def _open_graph(self, progress: Progress | None) -> Iterator[Graph]:
        with self._reading(self._views.checkout, progress) as library:
            assert library.open_graph is not None  # of a checkout there is one
            yield library.open_graph()

    @contextmanager
    def _reading(self, view: View, progress: Progress | None) -> Iterator[Library]:
        """Read one state of a view.

        Where another process has just begun to build the first index, its first part is waited for.
        """
        with ExitStack() as stack:
            try:
                library = stack.enter_context(self._open_index().reading(view, progress))
            except IndexMissingError:
                if view.revision or not self._writer.appears(view):
                    raise
                library = stack.enter_context(self._open_index().reading(view, progress))
            yield library

    def _open_index(self) -> OpenIndex:
        self.state.check_tracked()  # a pull may have brought other files since
        if self._opened is not None and self._opened.is_replaced:
            self.close()
        if self._opened is None:
            from cairn.search.opened import OpenIndex  # noqa: PLC0415 - start-up time: indexing does not search

            redo = partial(self._writer.update, verify=True)
            self._opened = OpenIndex(self.state, self.settings, self.root, self._views, lambda: self._model, redo)
        return self._opened

    def _mended(self, answer: Callable[[], _T]) -> _T:
        """Answer; when the database turns out to be damaged, move it aside, build a new one, and answer from that.

        Raises:
            IndexMovedError: if it is written all the time.
        """
        for _ in range(_ATTEMPTS):
            with suppress(IndexMovedError):
                return self._answered_or_mended(answer)
        return self._answered_or_mended(answer)

    def _answered_or_mended(self, answer: Callable[[], _T]) -> _T:
        try:
            with mapped_errors(self.state.database):
                return answer()
        except DerivedFileError:
            self.close()  # a writer may have replaced the file meanwhile; what is damaged is redone when it is opened
        except IndexDamagedError:
            self._replace_database()
        except _UNFIT:
            # What was stored is of the right kind. Where it is not, somebody altered it; else the mistake is ours.
            if not self._writer.is_damaged():
                raise
            self._replace_database()
        with mapped_errors(self.state.database):
            return answer()

    def _replace_database(self) -> None:
        """Move a damaged database aside, and build a new one."""
        self.close()
        self._writer.set_aside()
        self.index()
