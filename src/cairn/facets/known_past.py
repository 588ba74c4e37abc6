"""The commits behind what is checked out: brought up to date when a question asks, and shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cairn.errors import CairnError, StoreError
from cairn.facets.project_index import ProjectIndex
from cairn.facets.project_paths import is_from_here, path_within
from cairn.history.answers import PastAnswers, describe
from cairn.history.build import CommitSource, update_past
from cairn.history.meant import Meant
from cairn.history.notes import ON_DOUBTFUL, another_repository, not_counted, notes_on, notes_without_past, was_called
from cairn.history.past import Past, load_past
from cairn.history.values import PastCommit
from cairn.index.past_files import mark_complete, past_file, when_head_moved
from cairn.index.views import View
from cairn.memory.redaction import redact
from cairn.source.commits import read_commits, shallow_commits
from cairn.source.git import head_revision
from cairn.source.renames import moved_from, moved_to
from cairn.source.shaping import is_in_commit

# How long a question reads commits that are not known yet, and waits for whoever reads them.
ANSWER_SECONDS = 3.0


class KnownPast:
    """What is known of the commits of a project."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    def head(self) -> str:
        """Return the full hash of the commit that is checked out, empty if there is none."""
        if self._index.repository is None:
            return ""
        with suppress(CairnError):
            return head_revision(self._index.repository) or ""
        return ""

    def update(self, view: View, seconds: float, wait_seconds: float = 0.0) -> Past | None:
        """Read the commits behind a view that are not known yet, and return what is known then; see `update_past`."""
        repository, settings = self._index.repository, self._index.settings
        moved_ns = None if repository is None else when_head_moved(repository)  # before HEAD is read
        if repository is None or not (tip := self._tip(view)):
            return None
        source = CommitSource(repository, settings.history_commits, _redacted)
        past = update_past(self._index.state, source, view.name, tip, seconds, wait_seconds)
        if past is None or moved_ns is None or view.revision:
            return past
        if past.extent.tip == tip and past.extent.read == past.extent.listed:
            mark_complete(self._file(view), moved_ns, settings.history_commits)
        return past

    def find(self, *, update: bool) -> tuple[Past | None, tuple[str, ...]]:
        """Return the history of the checkout, and what is to be said of it.

        Args:
            update: read new commits first.
        """
        view = self._index.views.checkout
        failure: tuple[str, ...] = ()
        past = None
        if update:
            try:
                past = self.update(view, ANSWER_SECONDS, ANSWER_SECONDS)
            except StoreError as error:
                failure = (error.hint.after(f"The history could not be updated, so this is from before: {error}"),)
        if past is None and (self._index.repository is None or self._tip(view)):
            past = load_past(self._file(view))  # without a repository, one that was brought here with the files
        return past, (*failure, *self._notes(past))

    def notes_on_nothing(self, path: str) -> tuple[str, ...]:
        """Return why no commit may have been found, for a path or for words."""
        repository, head = self._index.repository, self.head()
        if not path or repository is None or not head:
            return (not_counted(path),)
        inner = os.path.join(self._index.views.folder, path)
        if elsewhere := another_repository(repository.work_tree, inner):
            return (elsewhere,)
        is_new = path.isprintable() and not is_in_commit(repository.work_tree, head, inner)
        return (f"{path} is not in the last commit.",) if is_new else (not_counted(path),)

    def moved_from(self, path: str) -> str:
        """Return what a file of the project was called in the last commit, if it was moved since; else nothing."""
        repository, folder = self._index.repository, self._index.views.folder
        if repository is None or not (head := self.head()):
            return ""
        inner = moved_from(repository.work_tree, head, os.path.join(folder, path))
        return inner.removeprefix(f"{folder}/") if folder else inner

    def moved_to(self, path: str) -> str:
        """Return what a file of the last commit is called now, if it was moved in the project since; else nothing."""
        repository = self._index.repository
        if repository is None or not path or not (head := self.head()):
            return ""
        inner = moved_to(repository.work_tree, head, self._prefix + path)
        return inner.removeprefix(self._prefix) if inner.startswith(self._prefix) else ""

    def files_meant(self, past: Past, text: str) -> tuple[Meant | None, tuple[str, ...]]:
        """Return which files a path or another text means, None if no commit changed such, and notes on that."""
        paths = self.answers(past).paths
        is_path = is_from_here(text)
        path = path_within(self._index.root_on_disk, text) if is_path else text
        if meant := paths.meant_by(path, is_path=is_path):
            on_renames = ON_DOUBTFUL if set(meant.numbers).intersection(past.doubtful.tolist()) else ""
            return meant, tuple(filter(None, (meant.note, on_renames)))
        if (moved := self.moved_from(path)) and (meant := paths.meant_by(moved)):
            return meant, (was_called(path, moved),)
        return None, ()

    def answers(self, past: Past) -> PastAnswers:
        """Return what answers from a history."""
        return PastAnswers(past, self._index.root_on_disk, self._prefix)

    def describe(self, past: Past | None, hashes: Sequence[str], path: str = "") -> list[PastCommit]:
        """Return commits with all of their files, without one path; what the history leaves out is read from git.

        Args:
            past: the history.
            hashes: of the commits.
            path: the one that is left out, as it is called in the last commit.
        """
        repository, folder = self._index.repository, self._prefix
        if repository is None:  # then no commit is known by its hash
            return []
        answers = None if past is None else self.answers(past)
        known = {} if answers is None else {one: found for one in hashes if (found := answers.find(one, folder + path))}
        own = {folder + path} if answers is None else answers.paths.names_of(path)
        shallow = shallow_commits(repository)  # all of their files look new
        read = {
            one.hash: one._replace(changes=()) if one.hash in shallow else one
            for one in read_commits(repository.work_tree, [one for one in hashes if one not in known])
        }
        root = self._index.root_on_disk
        return [known.get(one) or describe(read[one], _redacted, root, folder, own) for one in hashes]

    @property
    def _prefix(self) -> str:
        """Where the project is in its repository: empty for the top, else with a `/` at the end."""
        folder = self._index.views.folder
        return f"{folder}/" if folder else ""

    def _notes(self, past: Past | None) -> tuple[str, ...]:
        if not self._index.settings.history:
            return ("The setting history is false, so commits are not read.",)
        repository, head = self._index.repository, self.head()
        return notes_without_past(repository, head) if past is None else notes_on(past, repository, head)

    def _file(self, view: View) -> Path:
        return past_file(self._index.state, view.name)

    def _tip(self, view: View) -> str:
        """Return the commit whose history counts; empty if there is none, or it is turned off."""
        return (view.revision or self.head()) if self._index.settings.history else ""


def _redacted(text: str) -> str:
    return redact(text).text
