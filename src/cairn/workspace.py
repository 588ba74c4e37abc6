"""An open project: updates its index, and has the facets that answer from it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Self

from cairn.config import Loaded, Settings
from cairn.config import load as load_with_consent
from cairn.facets.project_index import ProjectIndex
from cairn.index.project import check_state, default_state, is_everything, project_root, resolve_root
from cairn.index.state_dir import StateDir
from cairn.loading import load
from cairn.memory.handles import is_handle
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.source.git import Repository, find_repository
from cairn.storage.memory.schema import MEMORY
from cairn.types import Mode, SearchType

if TYPE_CHECKING:
    from cairn.answers import Answer, Fetched
    from cairn.facets.code import CodeFacet
    from cairn.facets.graph import GraphFacet
    from cairn.facets.history import HistoryFacet
    from cairn.facets.memory import MemoryFacet
    from cairn.facets.tuning import TuningFacet
    from cairn.facets.upkeep import UpkeepFacet
    from cairn.index.limits import Progress
    from cairn.protocol.requests import SearchRequest
    from cairn.types import IndexReport


class WorkspaceFacets:
    """The facets of an open project, each loaded at its first use."""

    _index: ProjectIndex

    @cached_property
    def code(self) -> CodeFacet:
        """Finds and shows code."""
        from cairn.facets.code import CodeFacet  # noqa: PLC0415 - start-up time: numpy, after the index is up to date

        return CodeFacet(self._index, lambda: self.graph)

    @cached_property
    def graph(self) -> GraphFacet:
        """Answers from the symbol graph."""
        from cairn.facets.graph import GraphFacet  # noqa: PLC0415 - start-up time: few commands ask it

        return GraphFacet(self._index)

    @cached_property
    def upkeep(self) -> UpkeepFacet:
        """Watches, examines, repairs and embeds."""
        from cairn.facets.upkeep import UpkeepFacet  # noqa: PLC0415 - start-up time: a search needs none of it

        return UpkeepFacet(self._index, lambda: self.memory)  # few uses need it

    @cached_property
    def memory(self) -> MemoryFacet:
        """Keeps and recalls what sessions learn."""
        from cairn.facets.memory import MemoryFacet  # noqa: PLC0415 - start-up time: a search of code needs none of it

        return MemoryFacet(self._index)

    @cached_property
    def tuning(self) -> TuningFacet:
        """Tunes answers to the project's history and use."""
        facet: TuningFacet = load("cairn.facets.tuning:TuningFacet")(self._index, self.memory)
        return facet

    @cached_property
    def history(self) -> HistoryFacet:
        """Answers from the project's commits."""
        facet: HistoryFacet = load("cairn.facets.history:HistoryFacet")(self._index)  # loaded only now, for numpy
        return facet


class Workspace(WorkspaceFacets):
    """The index of one folder. Open it with `Workspace.open` in a `with` block, or close it yourself.

    Most methods are in its facets `code`, `graph`, `history`, `memory` and `upkeep`, each loaded at first use.
    Threads may share a workspace; the graph that `graph.current` returns is for one thread only.

    Attributes:
        root: the folder, absolute.
        state: the folder of its index.
        settings: this project's.
        consent_request: what the project's file asks for, if the user has not answered yet.
        is_unnamed: whether this is the home folder or `/`, which are only indexed if the user names them.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self.root, self.state, self.settings = index.root, index.state, index.settings
        self.consent_request, self.is_unnamed = index.consent_request, index.is_unnamed
        self._index = index

    @classmethod
    def open(cls, path: str | Path, *, state_dir: str | Path | None = None, settings: Settings | None = None) -> Self:
        """Open the folder at `path`; nothing is read or written until a method is called.

        Args:
            path: the folder to index, with everything below it.
            state_dir: where the index is kept; by default `.cairn` in the repository's main checkout.
            settings: by default from the files and the environment.

        Raises:
            PathError: if `path` is missing, is not a directory, or cannot be read.
            ConfigError: if a settings file or variable cannot be used, or `state_dir` is the home folder or `/`.
        """
        root = resolve_root(Path(path))
        return cls(_open_index(root, find_repository(root), state_dir, settings))

    @classmethod
    def containing(cls, path: str | Path, *, state_dir: str | Path | None = None) -> Self:
        """Open the project that contains `path`, as the commands do.

        That is the nearest indexed folder up to the top of the git work tree, else that top, else `path` itself. The
        home folder and `/` are only indexed if `path` names them, other than as `.`, now or earlier.

        Raises:
            PathError, ConfigError: as `open`.
        """
        start = resolve_root(Path(path))
        repository = find_repository(start)
        root = project_root(start, repository)
        is_unnamed = False
        if is_everything(root) and not Registry(StateFolder.of_user()).knows(root, ""):
            is_unnamed, root = str(path) == os.curdir, start
        index = _open_index(root, repository, state_dir, None)
        index.is_unnamed = is_unnamed
        return cls(index)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the database. The workspace stays usable: it reopens the database."""
        self._index.close()
        if "memory" in self.__dict__:
            self.memory.close()

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def branch(self) -> str:
        """The branch that is checked out, a short revision when detached, empty outside git."""
        return self._index.views.checkout.branch

    def take_notice(self) -> str:
        """Return a notice about the state folder that no answer has carried yet, empty if there is none."""
        return self._index.state.take_notice()

    @property
    def has_memory(self) -> bool:
        """Whether anything was ever remembered here, or may have been shared with it."""
        return os.path.lexists(self.state.file_of(MEMORY)) or os.path.isdir(f"{self.root}/.cairn/shared")

    # -- the promised surface -----------------------------------------------------------------------------------------

    def index(
        self,
        *,
        branch: str | None = None,
        full: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        background: bool = False,
        wait_seconds: float | None = None,
        history: bool = True,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the files on disk or of a branch, and report what was done.

        Afterwards unknown commits are read, for half as long and at most ten seconds, while the index can already be
        searched.

        After an interruption, the next run continues from the last batch. If two processes call this at once, the
        second one waits for the first.

        Args:
            branch: index this branch or revision, from git's objects, instead of what is checked out.
            full: discard the index and build it from scratch.
            dry_run: only report what would be done.
            verify: first read every byte of the derived files, and rebuild what is damaged.
            background: nobody is waiting, so use only `Settings.background_cores`.
            wait_seconds: how long to wait for another process; by default `Settings.lock_timeout_seconds`.
            history: whether to read commits as well.
            progress: called with (files done, files to do) while files are read.

        Raises:
            RevisionError: if there is no such branch.
        """
        self._index.check_named()
        with closing(self._index.views.find(branch)) as view:
            if dry_run:
                return self._index.writer.preview(view)
            report = self._index.writer.update(
                view,
                full=full,
                verify=verify,
                background=background,
                wait_seconds=wait_seconds,
                progress=progress,
            )
        if history and self.settings.history:
            self.history.follow_run(report, branch)
        return report

    def refresh(self, progress: Progress | None = None, *, branch: str | None = None) -> str:
        """Bring the index up to date for an answer, or return a note that says why it is not.

        It is not up to date while another process is writing, for which an answer waits at most 50 ms, while another
        thread is, for which it waits a second, and if the index cannot be written. If there is no index yet, this waits
        for the first part of it.

        Raises:
            RevisionError: if there is no such branch.
        """
        return self._index.refresh(progress, branch=branch)

    @property
    def is_indexed(self) -> bool:
        """Whether any part of the checkout is indexed; answers at once, without looking at files."""
        return self._index.writer.is_indexed(self._index.views.checkout)

    def search(
        self,
        query: str,
        *,
        type: SearchType = "all",
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
        """Return what the index holds for a query, best first; the arguments are the fields of a `SearchRequest`.

        Args:
            query: prose, a name, a quoted text, a regular expression, or a question such as `callers of NAME`.
            type: `code`, `memory`, or both; then memories are only included for questions without filters.
            branch: search this branch or revision, as last indexed, instead of the checkout.
            limit: how many hits at most; 0 gives all matches of an exact search, and all answers of the symbol graph.
            mode: `auto` decides from the query; see docs/guide.md.
            kinds: only definitions of these kinds, such as `function` or `class`.
            languages: only files in these languages.
            globs: only paths that match one of these; `!glob` excludes.
            max_tokens: the size limit of the answer as JSON; `omitted` counts what does not fit (see docs/guide.md).
            explain: add the parts of the score to each hit.
            context: show this many lines around each hit's first line instead of its beginning.
            expand: add a few direct callers and callees to each hit.
            progress: as for `CodeFacet.search`.

        Raises:
            CairnError: as `CodeFacet.search`.
        """
        request = _requests().SearchRequest(
            query=query,
            type=type,
            branch=branch,
            limit=limit,
            mode=mode,
            kinds=tuple(kinds),
            languages=tuple(languages),
            globs=tuple(globs),
            max_tokens=max_tokens,
            explain=explain,
            context=context,
            expand=expand,
        )
        return self.answer(request, progress)

    def answer(self, request: SearchRequest, progress: Progress | None = None) -> Answer:
        """Return the answer from code and memories; see `search`."""
        if request.type == "memory":
            return self.memory.answers.answer(request, self.branch)
        if request.type == "code" or not self.has_memory:
            return self.code.search(request, progress)
        return self.memory.answers.complete(self.code.search(replace(request, max_tokens=None), progress), request)

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
        """Return code similar to the definition at a line of a file as it is now, or to `code`; copies first.

        Args:
            path: relative to the root, or absolute; it need not be indexed.
            line: 1-based. Its innermost definition is compared, else its chunk.
            code: a text to compare instead, in the first of `languages`, else in a guessed language.
            limit: how many hits at most; 0 gives all that are similar.
            kinds, languages, globs: as for `search`.

        Raises:
            CairnError: as `CodeFacet.similar`.
        """
        request = _requests().SimilarRequest(
            file=None if path is None else str(path),
            line=line,
            code=code,
            limit=limit,
            kinds=tuple(kinds),
            languages=tuple(languages),
            globs=tuple(globs),
        )
        return self.code.similar(request)

    def fetch(self, ids: Sequence[str], *, branch: str | None = None) -> list[Fetched]:
        """Return the full text of hits, of definitions in an outline, and of memories; see `CodeFacet.fetch`."""
        memories = {id: self.memory.answers.fetch(id) for id in ids if is_handle(id)}
        others = iter(self.code.fetch([id for id in ids if id not in memories], branch=branch))
        return [memories[id] if id in memories else next(others) for id in ids]


def _requests() -> ModuleType:
    from cairn.protocol import requests  # noqa: PLC0415 - start-up time: 10 ms that indexing does not need

    return requests


def _open_index(
    root: Path, repository: Repository | None, state_dir: str | Path | None, settings: Settings | None
) -> ProjectIndex:
    settings, consent_request = load_with_consent(root) if settings is None else Loaded(settings, None)
    if chosen := state_dir or settings.state_dir:
        check_state(Path(chosen))
    state = Path(chosen or default_state(root, repository))
    files = StateDir(state.expanduser().absolute(), is_in_project=not chosen)
    return ProjectIndex(root, files, repository, settings, consent_request)
