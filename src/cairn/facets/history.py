"""Answers from the commits of a project, and keeps them up to date."""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.errors import CairnError, NotFoundError, PathError
from cairn.facets.known_past import KnownPast
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint
from cairn.history.notes import another_repository, git_failed
from cairn.history.past import Extent
from cairn.history.values import PastCommit, PastFile, RelatedFiles, ShapedLines, Solved, Subject
from cairn.loading import load
from cairn.source.commits import shallow_commits
from cairn.source.named_commits import named_commits
from cairn.source.shaping import content_in_commit, lines_in_commit, lines_of, shaped_by
from cairn.source.text import pluralize
from cairn.source.walk import read_file
from cairn.types import IndexReport

if TYPE_CHECKING:
    from cairn.facets.named_code import NamedCode
    from cairn.history.score import Weighted

_log = logging.getLogger("cairn.history")
# How long a run of the index reads commits that read no file. One that did reads them for a share of the time it took.
RUN_SECONDS = 10.0
_RUN_SHARE, _LEAST_RUN_SECONDS = 0.5, 0.1
# How long git may look for the commits that shaped some lines, and how many it is asked for.
WHY_SECONDS = 3.0
_MOST_SHAPINGS = 200
_MOST_NAMESAKES = 20  # definitions of one name that are counted
_PATH_ALONE = re.compile(r"[^\s/]*(?:/[^\s/]+)+/?")  # what can only be meant as a path
_PLACE = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)


class HistoryFacet:
    """What the commits of a project say; get it as `Workspace.history`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._known = KnownPast(index)

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
        """Return which commits and files solved something like a query, or shaped a file or folder.

        Args:
            query: prose, or a path.
            limit: how many commits, and how many files; 0 for all.
            update: read new commits first.

        Raises:
            QueryError: if the query is empty.
        """
        terms = self._named_code.terms_of(query)
        path = self._path(query)
        note = self._index.refresh() if update and not path and self._named_code.may_name(query) else ""
        solved = self._solve(query, terms, path, limit, update)
        return replace(solved, notes=(*solved.notes, note)) if note else solved

    def _solve(self, query: str, terms: list[Weighted], path: str, limit: int, update: bool) -> Solved:
        shaped = None if path else self._shaped(query.strip(), limit, update)
        if shaped is not None and shaped.commits:
            return _solved_by(query, shaped)
        if not path and (named := self._named(query.strip(), limit, update)) is not None:
            return named
        past, notes = self._known.find(update)
        if past is None:
            return Solved(query, "query", (), (), 0, 0, 0, notes)
        answers = self._known.answers(past)
        if not path and answers.knows_file(query.strip()):  # one that is gone
            path = query.strip()
        subject: Subject = "query"
        if path and (answers.knows(path) or not (self._index.root_on_disk / path).is_dir()):
            subject, (commits, files, omitted) = "file", answers.of_paths([path], limit)
        else:
            commits, files, omitted = answers.solve(terms, limit)
        if not commits and path and (moved := self._known.moved_from(path)):
            commits, files, omitted = answers.of_paths([moved], limit)
            notes = (*notes, _was_called(path, moved))
        if not commits:
            notes = (*notes, *self._known.notes_on_nothing(past, path))
        if not path and _PATH_ALONE.fullmatch(query.strip()):
            these = "; these have its words" if commits else ""
            notes = (f"There is no file {query.strip()}, here or in the commits read{these}.", *notes)
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
        if (self._index.root_on_disk / own).is_dir():
            raise NotFoundError(f"{path} is a folder; name a file", Hint.of("map", path=own))
        past, notes = self._known.find(update)
        if past is None:
            return RelatedFiles(own, 0, (), 0, 0, 0, notes)
        files, commits, omitted = self._known.answers(past).related(own, limit)
        if not files and (moved := self._known.moved_from(own)):
            files, commits, omitted = self._known.answers(past).related(moved, limit)
            notes = (*notes, _was_called(own, moved))
        if not files:
            notes = (*notes, *self._known.notes_on_nothing(past, own))
        return RelatedFiles(own, commits, tuple(files), omitted, past.extent.read, past.extent.listed, notes)

    def why(self, place: str, *, limit: int = 5, update: bool = True) -> ShapedLines:
        """Return the commits that shaped some lines of a file, newest first, with what else they changed.

        Args:
            place: `PATH:LINE` or `PATH:FIRST-LAST`, the path relative to the project, or absolute.
            limit: how many commits at most; 0 for all that are found in time.
            update: read new commits first.

        Raises:
            NotFoundError: if there is no such line.
        """
        match = _PLACE.fullmatch(place)
        path = self._path(match["path"]) if match else ""
        if match is None:
            raise NotFoundError(f"{place} is not a line of a file, as PATH:LINE is", Hint.of("map"))
        if not path:
            raise NotFoundError(f"there is no file {match['path']}", Hint.of("map"))
        first, last = sorted((int(match["first"]), int(match["last"] or match["first"])))
        return self._why(path, first, last, limit, update)

    def _why(self, path: str, first: int, last: int, limit: int, update: bool) -> ShapedLines:
        try:
            content = read_file(self._index.root_on_disk, path, self._index.settings.max_file_bytes)
        except OSError as error:
            raise NotFoundError(f"{path} cannot be read: {error.strerror}", Hint.of("map")) from error
        n_lines = len(lines_of(content))
        if not 0 < first <= n_lines:
            hint = Hint.of("why", place=f"{path}:{n_lines}") if n_lines else Hint.of("map")
            raise NotFoundError(f"{path} has {pluralize(n_lines, 'line')}", hint)
        last = min(last, n_lines)
        past, notes = self._known.find(update)
        repository, head = self._index.repository, self._known.head()
        if repository is None or not head or not self._index.settings.history:
            return ShapedLines(path, first, last, (), 0, notes)
        inner, before, about = self._in_commit(repository.work_tree, head, path)
        notes = (*notes, *about)
        if before is None:
            return ShapedLines(path, first, last, (), 0, notes)
        lines = lines_in_commit(before, content, first, last)
        if lines is None:
            return ShapedLines(path, first, last, (), 0, (*notes, "These lines are not committed yet."))
        if lines.n_new:
            notes = (*notes, f"{lines.n_new:,} of these {last - first + 1:,} lines are not committed yet.")
        found = shaped_by(repository.work_tree, head, inner, (lines.first, lines.last), _MOST_SHAPINGS, WHY_SECONDS)
        if found.is_cut:
            notes = (*notes, "The time was up: there may be older commits.")
        if found.has_failed:
            notes = (*notes, git_failed(path, lines.first, lines.last))
        shown = found.commits[: limit or None]
        ends = shallow_commits(repository) & {one.hash for one in shown}
        notes = (
            *notes,
            *(f"This clone ends at {one[:12]}, which need not have changed these lines." for one in sorted(ends)),
        )
        commits = self._known.describe(past, [one.hash for one in shown], path)
        return ShapedLines(path, first, last, tuple(commits), len(found.commits) - len(shown), notes)

    def _in_commit(self, top: Path, head: str, path: str) -> tuple[str, bytes | None, list[str]]:
        """Return the path of a file in a commit, what it holds there, None if it is not there, and notes on that."""
        folder = self._index.views.folder
        inner, moved = os.path.join(folder, path), ""
        try:
            before = content_in_commit(top, head, inner)
            if before is None and (moved := self._known.moved_from(path)):
                inner = os.path.join(folder, moved)
                before = content_in_commit(top, head, inner)
        except (OSError, PathError) as error:
            return inner, None, [f"{error}."]
        if before is None:
            return inner, None, [another_repository(top, inner) or f"{path} is not in the last commit."]
        return inner, before, [_was_called(path, moved)] if moved else []

    @cached_property
    def _named_code(self) -> NamedCode:
        found: NamedCode = load("cairn.facets.named_code:NamedCode")(self._index)  # runs of the index need no search
        return found

    def _shaped(self, name: str, limit: int, update: bool) -> ShapedLines | None:
        """Return what shaped the definition that a query names; None if it names none, or nothing is indexed."""
        found = self._named_code.definitions_of(name, _MOST_NAMESAKES)
        if not found.definitions:
            return None
        first, *others = found.definitions
        shaped = self._why(first.path, first.start_line, first.end_line, limit, update)
        if not others:
            return shaped
        here, there = (f"{hit.path}:{hit.start_line}" for hit in (first, others[0]))
        count = f"{len(others) + 1}{' or more' if found.is_cut else ''}"
        note = Hint(f"{count} definitions have this name; these commits shaped {here}. For another", "why", place=there)
        return replace(shaped, notes=(*shaped.notes, note))

    def _named(self, query: str, limit: int, update: bool) -> Solved | None:
        """Return the commits that a query names by a hash or a number; None if it names none."""
        repository, head = self._index.repository, self._known.head()
        if repository is None or not head or not self._index.settings.history:
            return None
        found = named_commits(repository.work_tree, head, query, _MOST_SHAPINGS, WHY_SECONDS)
        if not found.hashes and not found.is_cut:
            return None
        past, notes = self._known.find(update)
        shown = found.hashes[: limit or None]
        commits = self._known.describe(past, shown, "")
        late = ("The time was up before all commits were looked at.",) if found.is_cut else ()
        read, listed = (past.extent.read, past.extent.listed) if past is not None else (0, 0)
        rest = len(found.hashes) - len(shown)
        return Solved(query, "query", tuple(commits), _files_of(commits, limit), rest, read, listed, (*notes, *late))

    def _path(self, text: str) -> str:
        """Return the path of what exists in the project, relative to it; empty for any other text."""
        try:
            root = self._index.root_on_disk
            whole = os.path.normpath(os.path.join(root, text))
            path = os.path.relpath(whole, root)
            is_there = os.path.lexists(whole)
        except ValueError:  # a NUL in it
            return ""
        return path if is_there and path not in (os.curdir, os.pardir) and not path.startswith("../") else ""


def _was_called(path: str, moved: str) -> str:
    """Return a note for a file that was moved and not committed yet."""
    return f"{path} was {moved} in the last commit."


def _solved_by(query: str, shaped: ShapedLines) -> Solved:
    """Return what shaped a definition as an answer to a query for it."""
    n_commits = len(shaped.commits) + shaped.omitted
    return Solved(
        query,
        "symbol",
        shaped.commits,
        _files_of(shaped.commits, len(shaped.commits)),
        shaped.omitted,
        n_commits,
        n_commits,
        shaped.notes,
    )


def _files_of(commits: Sequence[PastCommit], limit: int) -> tuple[PastFile, ...]:
    """Return the files that commits changed, those of most commits first."""
    counts = Counter(file for commit in commits for file in commit.files)
    return tuple(PastFile(file, count, 1.0) for file, count in counts.most_common(limit or None))
