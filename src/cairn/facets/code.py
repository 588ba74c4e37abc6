"""Finds code and shows it: by a query, by likeness, by id, and file by file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cairn import waiting
from cairn.answers import Answer, Fetched, Outline, OutlineSymbol
from cairn.budget import fit_answer
from cairn.errors import NotFoundError
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint, HintStyle
from cairn.types import OutlineMode

if TYPE_CHECKING:
    from cairn.facets.files import Files
    from cairn.facets.flows import Flows
    from cairn.facets.graph import GraphFacet
    from cairn.facets.searcher import Searcher
    from cairn.index.limits import Progress
    from cairn.protocol.requests import SearchRequest, SimilarRequest
    from cairn.search.exact_answer import Effort
    from cairn.structure.context import ContextSection
    from cairn.structure.flow import FlowGraph, Slice

_MARKS_OF_PLACES = "#:(,"  # one of them is in each id of an outline, line or frame, and none in the id of a hit


class CodeFacet:
    """Finds and reads the code of a project; get it as `Workspace.code`.

    Args:
        graph: returns the facet that knows what is around a definition, for a context.
    """

    def __init__(self, index: ProjectIndex, graph: Callable[[], GraphFacet]) -> None:
        self._index = index
        self._graph = graph

    @cached_property
    def _searcher(self) -> Searcher:
        from cairn.facets.searcher import Searcher  # noqa: PLC0415 - start-up time: numpy; an outline needs no index

        return Searcher(self._index)

    @cached_property
    def _files(self) -> Files:
        from cairn.facets.files import Files  # noqa: PLC0415 - start-up time: a search needs no parser

        return Files(self._index.root_on_disk)

    @cached_property
    def _flows(self) -> Flows:
        from cairn.facets.flows import Flows  # noqa: PLC0415 - start-up time: an outline needs no flow (18 ms)

        return Flows(self._index.root_on_disk)

    def search(self, request: SearchRequest, progress: Progress | None = None) -> Answer:
        """Return what the index holds for a query, best first; nothing relevant gives an empty answer.

        Args:
            request: the caller handles its project, session and update.
            progress: called with (files done, files to do), only when the symbol graph is needed.

        Raises:
            QueryError: if the query is empty, too long, or an invalid pattern, or a kind or language is unknown.
            RevisionError: if there is no such branch.
            IndexMissingError: if nothing is indexed yet, or the branch is not.
        """
        return fit_answer(self._searcher.search(request, progress), request.max_tokens)

    def look(self, request: SearchRequest, effort: Effort) -> Answer:
        """Return what the index holds for a query that nobody typed, in the checkout.

        It carries no notice, which would be lost on whoever gets it.

        Args:
            request: as for `search`.
            effort: how much an exact search may do; if it read fewer files for that, `searched` tells how many.

        Raises:
            QueryError, IndexMissingError: as for `search`.
        """
        return self._searcher.look(request, effort)

    def similar(self, request: SimilarRequest) -> Answer:
        """Return code that does the same as the definition at a line, as the file is now, or as `code`; copies first.

        Args:
            request: the innermost definition at the line is taken, else the chunk; the file need not be indexed.

        Raises:
            NotFoundError: if there is no such file or line, or nothing is there.
            PathError: if the file is outside the root, not a regular file, too large, or not text.
            QueryError: if neither or both of `file` and `code` are given, `code` is empty, too long, or not text, or a
                kind or language is unknown.
            IndexMissingError: if nothing is indexed yet.
        """
        return fit_answer(self._searcher.similar(request), request.max_tokens)

    @property
    def lacks_vectors(self) -> bool:
        """Whether the configured models lacked vectors for the last answer."""
        return self._index.lacks_vectors

    def fetch(self, ids: Sequence[str], *, branch: str | None = None) -> list[Fetched]:
        """Return the full text of hits, and of definitions in an outline, in the order of `ids`.

        Args:
            ids: of hits; those that are not in the checkout are looked up in the indexed branches and revisions.
            branch: look only in this branch or revision.

        Raises:
            NotFoundError: if an id is malformed or no longer in the index, or `branch` is given with an id of an
                outline, which is about the file on disk.
            IndexMissingError: if nothing is indexed yet; the ids of an outline need no index.
        """
        if branch is not None and (outline_id := next((text_id for text_id in ids if "#" in text_id), None)):
            raise NotFoundError(
                f"{outline_id!r} names a definition of a file on disk, not of {branch}",
                Hint("fetch an id of a search", "search", query=None, branch=branch),
            )
        places = {text_id for text_id in ids if branch is None and any(mark in text_id for mark in _MARKS_OF_PLACES)}
        fetch_place = self._files.fetcher() if places else None

        def fetch_one(text_id: str) -> Fetched:
            waiting.check()
            found = fetch_place(text_id) if fetch_place is not None and text_id in places else None
            return self._index.fetch(text_id, branch) if found is None else found

        return self._index.with_repair(lambda: [fetch_one(text_id) for text_id in ids])

    def outline(
        self,
        path: str | Path,
        *,
        mode: OutlineMode = "structure",
        symbol: str | None = None,
        max_tokens: int | None = None,
        hints: HintStyle = "commands",
        progress: Progress | None = None,
    ) -> Outline:
        """Return what a file defines, as it is on disk now; nothing needs to be indexed.

        Args:
            path: relative to the root, or absolute.
            mode: `structure` lists definitions; `context` shows one with what is around it and, in an indexed project,
                its callers, callees and tests; `extract` says how control and data flow in each function.
            symbol: only this definition: a name, or the number of a line in it. `context` needs it.
            max_tokens: the limit of the text, estimated; what does not fit is counted in `omitted`. By default 8,000.
            hints: how the text says what to do next: with the commands of a terminal, or the tools of an agent.
            progress: as for `search`, for a context.

        Raises:
            NotFoundError: if there is no such file or symbol.
            AmbiguousError: if several definitions have this name.
            PathError: if the file is outside the root, not a regular file, too large, or not text.
            QueryError: if the mode needs a symbol and there is none.
        """

        def surroundings(path: str, symbol: OutlineSymbol) -> tuple[list[ContextSection], tuple[str, ...]]:
            return self._graph().surroundings(path, symbol, progress)

        return self._files.outline(path, mode, symbol, max_tokens, surroundings, hints)

    def flow(self, path: str | Path, function: str) -> FlowGraph:
        """Return how control and data flow in one function, as it is on disk now.

        Args:
            path: relative to the root, or absolute.
            function: its name, or the number of a line in it; `<module>` for the statements outside of functions.

        Raises:
            NotFoundError, AmbiguousError, PathError: as `outline`.
            QueryError: if the symbol is not a function, or flow is not supported for the language.
        """
        return self._flows.flow(path, function)

    def slice(self, path: str | Path, line: int, variable: str = "", *, forward: bool = False) -> Slice:
        """Return the lines of a function that a line depends on, or with `forward` those that depend on it.

        Args:
            path: relative to the root, or absolute.
            line: 1-based.
            variable: only this variable of the line; empty for all.
            forward: the other direction.

        Raises:
            NotFoundError: if there is no statement on the line, or no such variable.
            PathError, QueryError: as `flow`.
        """
        return self._flows.slice(path, line, variable, forward=forward)
