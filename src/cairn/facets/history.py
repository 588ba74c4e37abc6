"""Answers from the commits of a project, and keeps them up to date."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from cairn.errors import CairnError, NotFoundError
from cairn.facets.former_lines import FormerLines
from cairn.facets.known_past import KnownPast
from cairn.facets.project_index import ProjectIndex
from cairn.facets.project_paths import path_there
from cairn.facets.shaped_lines import LineHistory
from cairn.hints import Hint
from cairn.history.answers import brief
from cairn.history.notes import on_choices
from cairn.history.past import Extent
from cairn.history.values import RelatedFiles, ShapedLines, Solved
from cairn.loading import load
from cairn.types import IndexReport

if TYPE_CHECKING:
    from cairn.facets.past_solver import PastSolver

_log = logging.getLogger("cairn.history")
# How long a run of the index reads commits that read no file. One that did reads them for a share of the time it took.
RUN_SECONDS = 10.0
_RUN_SHARE, _LEAST_RUN_SECONDS = 0.5, 0.1


class HistoryFacet:
    """What the commits of a project say; get it as `Workspace.history`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._known = KnownPast(index)
        self._lines = LineHistory(index, self._known)
        self._former = FormerLines(index, self._known)

    def update(self, seconds: float = RUN_SECONDS, *, branch: str | None = None) -> Extent | None:
        """Read the commits behind what is checked out that are not known yet; newest first, for a limited time.

        Args:
            seconds: how long.
            branch: those behind a branch or revision instead.

        Returns:
            how much is known now; None if there is no history, as outside git, or the settings turn it off.

        Raises:
            RevisionError: if there is no such branch.
            StoreError: if it cannot be written.
        """
        past = self._known.update(self._index.views.find(branch), seconds)
        return None if past is None else past.extent

    def follow_run(self, report: IndexReport, branch: str | None = None) -> Extent | None:
        """Do what `follow` does after a run of the index, for a share of the time that it took."""
        if not report.added and not report.changed:
            return self.follow(branch)
        return self.follow(branch, min(RUN_SECONDS, max(_LEAST_RUN_SECONDS, _RUN_SHARE * report.seconds)))

    def follow(self, branch: str | None = None, seconds: float = RUN_SECONDS) -> Extent | None:
        """Do what `update` does where nobody waits for the history: what fails is logged, and tried again later."""
        try:
            return self.update(seconds, branch=branch)
        except (CairnError, OSError) as error:
            _log.info("the history was not read: %s", error)
            return None

    def solve(self, query: str, *, limit: int = 5, update: bool = True) -> Solved:
        """Return which commits and files solved something like a query, or shaped a file, a folder or lines.

        Args:
            query: prose, a path, a name, or a place as for `why`.
            limit: how many commits, and how many files; 0 for all.
            update: read new commits first.

        Raises:
            QueryError: if the query is empty.
            NotFoundError: if it names a line that a file does not have.
        """
        solver: PastSolver = load("cairn.facets.past_solver:PastSolver")(self._index, self._known, self._lines)
        return solver.solve(query, limit, update=update)

    def related(self, path: str, *, limit: int = 10, update: bool = True) -> RelatedFiles:
        """Return which files change together with a file.

        Args:
            path: relative to the project, or absolute; of a file that is there, or was.
            limit: how many at most; 0 for all.
            update: read new commits first.

        Raises:
            NotFoundError: if there is no such file.
        """
        own = path_there(self._index.root_on_disk, path)
        if own and os.path.isdir(self._index.root_on_disk / own):
            raise NotFoundError(f"{path} is a folder; name a file", Hint.of("map"))
        past, notes = self._known.find(update=update)
        meant, on_name = self._known.files_meant(past, own or path) if past is not None else (None, ())
        if not own and (meant is None or not meant.numbers or meant.is_folder):
            choices = () if meant is None else meant.choices
            hint = on_choices(path, choices, "related", "file") if choices else Hint.of("map")
            raise NotFoundError(f"there is no file {path}", hint)
        if past is None:
            return RelatedFiles(own, 0, (), 0, 0, 0, notes)
        number = meant.numbers[0] if meant is not None else -1
        files, commits, omitted = self._known.answers(past).related(number, limit)
        if not files:
            on_name = (*on_name, *self._known.notes_on_nothing(own))
        read, listed = past.extent.read, past.extent.listed
        return RelatedFiles(own or path, commits, tuple(files), omitted, read, listed, (*notes, *on_name))

    def why(self, place: str, *, limit: int = 5, update: bool = True) -> ShapedLines:
        """Return the commits that shaped some lines of a file, newest first, with what else they changed.

        Args:
            place: `PATH:LINE` or `PATH:FIRST-LAST`, the path relative to the project, or absolute.
            limit: how many commits at most; 0 for all that are found in time.
            update: read new commits first.

        Raises:
            NotFoundError: if there is no such line.
        """
        lines = self._lines.lines_at(place)
        if lines is None:
            hint = Hint("for what shaped a whole file or a definition", "history", query=place)
            raise NotFoundError(f"{place} is not a line of a file, as PATH:LINE is", hint)
        if not lines.path:
            file = place.rpartition(":")[0]
            hint = Hint("for the commits that say this", "history", query=file)
            past, _ = self._known.find(update=update)
            raise self._former.error_on(past, place) or NotFoundError(f"there is no file {file}", hint)
        found = self._lines.find(lines)
        past, notes = self._known.find(update=update)
        hashes = found.hashes[: limit or None]
        commits = tuple(map(brief, self._known.describe(past, hashes, found.committed)))
        omitted = len(found.hashes) - len(commits)
        return ShapedLines(*found.lines, commits, omitted, (*notes, *found.notes), found.is_cut)
