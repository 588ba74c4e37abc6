"""Answers from the commits of a project, and keeps them up to date."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path

from cairn.errors import CairnError, NotFoundError, StoreError
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint
from cairn.history.answers import PastAnswers
from cairn.history.build import CommitSource, update_past
from cairn.history.past import Extent, Past, load_past
from cairn.history.score import Weighted
from cairn.history.values import RelatedFiles, Solved, Subject
from cairn.index.state_files import past_file
from cairn.index.views import View
from cairn.memory.redaction import redact
from cairn.search.query import understand
from cairn.source.git import head_revision

_log = logging.getLogger("cairn.history")
# How long a question reads commits that are not known yet.
ANSWER_SECONDS = 3.0
# The same for a run of the index.
RUN_SECONDS = 10.0


class HistoryFacet:
    """What the commits of a project say; get it as `Workspace.history`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

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
        past = self._read(self._index.views.find(branch), seconds)
        return None if past is None else past.extent

    def follow(self, branch: str | None = None, seconds: float = RUN_SECONDS) -> Extent | None:
        """Do what `update` does where nobody waits for the history: what fails is logged, and tried again later."""
        try:
            return self.update(seconds, branch=branch)
        except (CairnError, OSError) as error:
            _log.info("the history was not read: %s", error)
            return None

    def solve(self, query: str, *, limit: int = 5, update: bool = True) -> Solved:
        """Return which commits and files solved something like a query, or shaped a file or folder.

        Args:
            query: prose, or a path.
            limit: how many commits, and how many files; 0 for all.
            update: read new commits first.

        Raises:
            QueryError: if the query is empty.
        """
        understood = understand(query, "hybrid")
        past, notes = self._past(update)
        if past is None:
            return Solved(query, "query", (), (), 0, 0, 0, notes)
        answers = self._answers(past)
        path = self._path(query)
        subject: Subject = "query"
        if path and answers.knows(path):
            subject, (commits, files, omitted) = "file", answers.of_paths([path], limit)
        else:
            terms = [Weighted(term.hashed, term.weight) for term in understood.terms]
            commits, files, omitted = answers.solve(terms, limit)
        extent = past.extent
        return Solved(query, subject, tuple(commits), tuple(files), omitted, extent.read, extent.listed, notes)

    def related(self, path: str, *, limit: int = 10, update: bool = True) -> RelatedFiles:
        """Return which files change together with a file.

        Args:
            path: relative to the project, or absolute.
            limit: how many at most; 0 for all.
            update: read new commits first.

        Raises:
            NotFoundError: if there is no such file.
        """
        own = self._path(path)
        if not own:
            raise NotFoundError(f"there is no file {path}", Hint.of("map"))
        past, notes = self._past(update)
        if past is None:
            return RelatedFiles(own, 0, (), 0, 0, 0, notes)
        files, commits, omitted = self._answers(past).related(own, limit)
        return RelatedFiles(own, commits, tuple(files), omitted, past.extent.read, past.extent.listed, notes)

    def _past(self, update: bool) -> tuple[Past | None, tuple[str, ...]]:
        """Return the history of the checkout, and what is to be said of it."""
        view = self._index.views.checkout
        failure: tuple[str, ...] = ()
        past = None
        if update:
            try:
                past = self._read(view, ANSWER_SECONDS)
            except StoreError as error:
                failure = (error.hint.after(f"The history could not be updated, so this is from before: {error}"),)
        if past is None and self._tip(view):
            past = load_past(self._file(view))
        return past, (*failure, *self._notes(past))

    def _notes(self, past: Past | None) -> tuple[str, ...]:
        settings = self._index.settings
        if not settings.history:
            return ("The setting history is false, so commits are not read.",)
        if self._index.repository is None:
            return ("There is no git repository here, so there is no history.",)
        if past is None:
            return (
                (Hint("No commits were read yet; read them", "index"),)
                if self._head()
                else ("Nothing is committed yet.",)
            )
        notes: list[str] = []
        if past.extent.read < past.extent.listed:
            words = f"{past.extent.read:,} of {past.extent.listed:,} commits were read so far; to go on"
            notes.append(Hint(words, "index"))
        if past.extent.boundary:
            notes.append("This clone is shallow: older commits are not here. To get them: git fetch --unshallow")
        if past.extent.is_cut:
            notes.append("git cannot read all commits; to see why: git fsck")
        return tuple(notes)

    def _answers(self, past: Past) -> PastAnswers:
        folder = self._index.views.folder
        return PastAnswers(past, self._index.root, f"{folder}/" if folder else "")

    def _read(self, view: View, seconds: float) -> Past | None:
        repository, settings, tip = self._index.repository, self._index.settings, self._tip(view)
        if repository is None or not tip:
            return None
        source = CommitSource(repository, settings.history_commits, lambda text: redact(text).text)
        return update_past(self._index.state, source, view.name, tip, seconds)

    def _file(self, view: View) -> Path:
        return past_file(self._index.state, view.name)

    def _tip(self, view: View) -> str:
        """Return the commit whose history counts; empty if there is none, or it is turned off."""
        return (view.revision or self._head()) if self._index.settings.history else ""

    def _head(self) -> str:
        if self._index.repository is None:
            return ""
        with suppress(CairnError):
            return head_revision(self._index.repository) or ""
        return ""

    def _path(self, text: str) -> str:
        """Return the path of what exists in the project, relative to it; empty for any other text."""
        try:
            whole = os.path.normpath(os.path.join(self._index.root, text))
            path = os.path.relpath(whole, self._index.root)
            is_there = os.path.lexists(whole)
        except ValueError:  # a NUL in it
            return ""
        return path if is_there and path not in (os.curdir, os.pardir) and not path.startswith("../") else ""
