"""Answers from the symbol graph of a project: who calls and imports what, and what a change may break."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from cairn.facets.project_index import ProjectIndex
from cairn.graph import questions
from cairn.graph.graph import Graph
from cairn.graph.references import references
from cairn.graph.values import (
    CallPath,
    Cycles,
    DeadCode,
    Impact,
    Importers,
    Links,
    References,
    RepositoryMap,
    TestChoice,
)
from cairn.search.ids import HitId

if TYPE_CHECKING:
    from cairn.answers import OutlineSymbol
    from cairn.facets.analyses import Analyses
    from cairn.index.limits import Progress
    from cairn.structure.context import ContextSection

_T = TypeVar("_T")


class GraphFacet:
    """The symbol graph of a project, with changed files as they are on disk; get it as `Workspace.graph`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    @cached_property
    def _analyses(self) -> Analyses:
        from cairn.facets.analyses import Analyses  # noqa: PLC0415 - start-up time: 15 ms that callers need not wait for

        return Analyses(self._index.root_on_disk, self._index.repository)

    def current(self, progress: Progress | None = None) -> Graph:
        """Return the current symbol graph; errors and arguments as for `ask`."""
        return self.ask(lambda graph: graph, progress)

    def ask(self, question: Callable[[Graph], _T], progress: Progress | None = None) -> _T:
        """Return the answer of the current graph: of the newest generation, with changed files read from disk.

        Args:
            question: called with the graph.
            progress: called with (files done, files to do) while files are read for the first time.

        Raises:
            IndexMissingError: if nothing is indexed yet.
        """

        def answer() -> _T:
            with self._index.open_graph(progress) as graph:
                return question(graph)

        return self._index.with_repair(answer)

    def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        """Go on with answers that were cut for want of time until they are whole; return whether there is more to do.

        Args:
            is_awaited: tells whether somebody asks something; then this ends soon.
        """
        opened = self._index.opened
        if opened is None or not opened.has_cut_answers:
            return False
        return is_awaited() or self.ask(lambda graph: graph.answers.go_on(is_awaited))

    def callers(self, symbol: str, *, limit: int = 0, progress: Progress | None = None) -> Links:
        """Return what calls a symbol directly, by file and line.

        Args:
            symbol: `name`, `Class.method`, `path:name`, `path:line`, a path, or the id of a hit. The same below.
            limit: how many at most, 0 for all. The same below.
            progress: as for `ask`. The same below.

        Raises:
            UnknownSymbolError: if nothing has this name. The same below.
            AmbiguousError: if several symbols have it. The same below.
        """
        return self.ask(lambda graph: questions.callers(graph, self._symbol(symbol), limit), progress)

    def callees(self, symbol: str, *, limit: int = 0, progress: Progress | None = None) -> Links:
        """Return what a symbol calls directly, in reading order."""
        return self.ask(lambda graph: questions.callees(graph, self._symbol(symbol), limit), progress)

    def references(
        self, symbol: str, *, kinds: Sequence[str] = (), limit: int = 0, progress: Progress | None = None
    ) -> References:
        """Return what refers to a symbol, or to a field as `TYPE.FIELD`: of some kinds, all by default."""
        return self.ask(lambda graph: references(graph, self._symbol(symbol), limit, kinds), progress)

    def subclasses(self, symbol: str, *, limit: int = 0, progress: Progress | None = None) -> Links:
        """Return what derives from a type or implements it, or overrides a method, nearest first."""
        return self.ask(lambda graph: questions.subclasses(graph, self._symbol(symbol), limit), progress)

    def call_path(self, source: str, target: str, *, progress: Progress | None = None) -> CallPath:
        """Return the shortest path of calls from one symbol to another; without steps when there is none."""
        return self.ask(lambda graph: questions.call_path(graph, self._symbol(source), self._symbol(target)), progress)

    def importers(self, target: str, *, progress: Progress | None = None) -> Importers:
        """Return the files that import a file, given by its path, a Python module's name, or a symbol in it."""
        return self.ask(lambda graph: questions.importers(graph, self._symbol(target)), progress)

    def impact(
        self, symbol: str | None = None, *, diff: str | None = None, limit: int = 0, progress: Progress | None = None
    ) -> Impact:
        """Return what may break when a symbol changes, or because of all changes since the revision `diff`.

        Raises:
            QueryError: unless one of `symbol` and `diff` is given.
            DiffError: if git cannot tell what changed.
        """
        return self.ask(lambda graph: self._analyses.impact(graph, self._place(symbol), diff, limit), progress)

    def choose_tests(
        self, symbol: str | None = None, *, diff: str | None = None, limit: int = 0, progress: Progress | None = None
    ) -> TestChoice:
        """Return the test files worth running for a change, best first; arguments and errors as for `impact`."""
        return self.ask(lambda graph: self._analyses.tests(graph, self._place(symbol), diff, limit), progress)

    def dead_code(self, *, limit: int = 0, progress: Progress | None = None) -> DeadCode:
        """Return the functions and types that no entry point seems to reach, surest first."""
        return self.ask(lambda graph: self._analyses.dead_code(graph, limit), progress)

    def import_cycles(self, *, progress: Progress | None = None) -> Cycles:
        """Return one import cycle for each set of files that reach each other by imports."""
        return self.ask(lambda graph: self._analyses.import_cycles(graph), progress)

    def map(
        self, *, max_tokens: int = 1_000, focus: Sequence[str] = (), progress: Progress | None = None
    ) -> RepositoryMap:
        """Return the most central files and definitions that fit `max_tokens`, as seen from the files of `focus`.

        Raises:
            UnknownSymbolError: if a path of `focus` is not indexed.
        """
        return self.ask(lambda graph: self._analyses.map(graph, max_tokens, focus), progress)

    def surroundings(
        self, path: str, symbol: OutlineSymbol, progress: Progress | None = None
    ) -> tuple[list[ContextSection], tuple[str, ...]]:
        """Return what a context shows of the graph around a definition, and notes; without an index, only a note."""
        return self._analyses.surroundings(partial(self._index.open_graph, progress), path, symbol)

    def _place(self, symbol: str | None) -> str | None:
        return None if symbol is None else self._symbol(symbol)

    def _symbol(self, text: str) -> str:
        """Return the place of a hit for its id, any other text as it is."""
        if HitId.parse(text) is None:
            return text
        hit = self._index.with_repair(lambda: self._index.fetch(text))
        return f"{hit.path}:{hit.start_line}"
