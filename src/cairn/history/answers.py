"""Answers from the history of a checkout: what solved something similar, and what changes together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from cairn.history.meant import Meant, PathsOfPast
from cairn.history.messages import shown_subject
from cairn.history.past import Past
from cairn.history.score import CommitScores, Weighted, score_commits
from cairn.history.values import PastCommit, PastFile, RelatedFile
from cairn.source.commits import Commit

_MOST_FILES, _MOST_SOUGHT = 8, 1_000  # files of a commit to show, and to check for existence
_MAX_SUBJECT_CHARS = 1_000
# Smoothing added to the commits of a file, and to all, when rating how often files change together.
_RARE, _FEW = 8, 20
LEAST_SHARE = 0.25  # least share of the question that a commit must cover


class PastAnswers:
    """Answers from a history about the files of a project.

    Args:
        past: the history.
        root: the project's folder.
        folder: the project's path in its repository: empty for the top, else with a trailing `/`.
    """

    def __init__(self, past: Past, root: Path, folder: str) -> None:
        self._past = past
        self.paths = PathsOfPast(past, folder, cache(lambda path: os.path.lexists(root / path)))

    def solve(
        self, terms: Iterable[Weighted], limit: int, identified: Sequence[str] = ()
    ) -> tuple[list[PastCommit], list[PastFile], int]:
        """Return the best matching commits, the files they changed, and how many commits are left out.

        Args:
            terms: to look for.
            limit: how many commits, and files; 0 for all.
            identified: hashes of commits to put first, unless they have no weight.
        """
        kept = self._saying(terms)
        first = [number for one in identified if (number := self._past.number_of(one)) >= 0]
        rest = ~np.isin(kept.commits, first)
        kept = CommitScores(
            np.concatenate([np.array(first, np.int64), kept.commits[rest]]),
            np.concatenate([np.ones(len(first), np.float32), kept.shares[rest]]),
        )
        commits, shares = kept.commits[: limit or None], kept.shares[: limit or None]
        shown = [brief(self.show(*one)) for one in zip(commits.tolist(), shares.tolist(), strict=True)]
        return shown, self._files_of(kept, limit), len(kept.commits) - len(shown)

    def count_saying(self, terms: Iterable[Weighted]) -> int:
        """Return how many commits match well enough."""
        return len(self._saying(terms).commits)

    def of(self, meant: Meant, limit: int) -> tuple[list[PastCommit], list[PastFile], int]:
        """Return the commits that changed a file or folder, newest first, and what else they changed.

        Args:
            meant: the file or folder.
            limit: as for `solve`.
        """
        places = np.flatnonzero(np.isin(self._past.changes, meant.numbers))
        found = np.unique(np.searchsorted(self._past.change_start, places, side="right") - 1)
        kept = CommitScores(found, np.ones(len(found), np.float32))
        shown = [brief(self.show(one, 1.0)) for one in found[: limit or None].tolist()]
        own = set() if meant.is_folder else {self.paths.shown(number) for number in meant.numbers}
        others = [file for file in self._files_of(kept, 0) if file.path not in own]
        return shown, others[: limit or None], len(found) - len(shown)

    def related(self, number: int, limit: int) -> tuple[list[RelatedFile], int, int]:
        """Return what changes together with a file, the number of its commits, and how many files are left out.

        Commits of few files count more. Files that change with everything, or that have very few commits, count less.

        Args:
            number: of the file's path, -1 if no commit changed it.
            limit: how many files at most; 0 for all.
        """
        past = self._past
        commits = past.commits_of(number)
        own = (
            np.concatenate([past.paths_of(one) for one in commits.tolist()]) if len(commits) else np.zeros(0, np.int64)
        )
        weights = np.repeat(1 / np.sqrt(np.maximum(1, past.counts[commits] - 1)), past.counts[commits])
        total = np.bincount(past.changes, minlength=past.n_paths)
        together = np.bincount(own, minlength=past.n_paths)
        likeness = np.bincount(own, weights=weights, minlength=past.n_paths) / np.sqrt(
            (total + _RARE) * max(1, len(commits))
        )
        likeness *= 1 - total / (len(past) + _FEW)
        places = np.flatnonzero(together)
        found = [
            RelatedFile(other, int(together[place]), int(total[place]), round(float(likeness[place]), 3))
            for place in places[np.lexsort((places, -likeness[places]))].tolist()
            if place != number and (other := self.paths.shown(place))
        ]
        kept = found[: limit or None]
        return kept, len(commits), len(found) - len(kept)

    def show(self, commit: int, share: float, without: int = -1) -> PastCommit:
        """Return a commit with all of its files that still exist.

        Args:
            commit: its number.
            share: its relevance.
            without: the number of a path to leave out.
        """
        past = self._past
        paths = [number for number in past.paths_of(commit).tolist() if number != without]
        shown = [path for number in paths if (path := self.paths.shown(number))]
        return PastCommit(
            past.hash_of(commit)[:12],
            date_of(int(past.seconds[commit])),
            past.subject_of(commit),
            tuple(shown),
            len(paths) - len(shown),
            round(float(share), 3),
        )

    def find(self, commit: str, without: str = "") -> PastCommit | None:
        """Return a commit by its full hash, without one path; None if it is missing or has no weight."""
        number = self._past.number_of(commit)
        return None if number < 0 else self.show(number, 1.0, self._past.numbers.get(without, -1))

    def _saying(self, terms: Iterable[Weighted]) -> CommitScores:
        """Return the commits that match well enough, best first."""
        found = score_commits(self._past, terms, len(self._past))
        enough = int((found.shares >= LEAST_SHARE).sum())
        return CommitScores(found.commits[:enough], found.shares[:enough])

    def _files_of(self, found: CommitScores, limit: int) -> list[PastFile]:
        """Return the files that commits changed, best evidence first."""
        past = self._past
        counts: dict[int, int] = {}
        values: dict[int, float] = {}
        for commit, share in zip(found.commits.tolist(), found.shares.tolist(), strict=True):
            for number in past.paths_of(commit).tolist():
                counts[number] = counts.get(number, 0) + 1
                values[number] = values.get(number, 0.0) + share**2 * float(past.standing[commit])
        files: list[PastFile] = []
        for number in sorted(values, key=lambda one: (-values[one], one)):
            if limit and len(files) == limit:
                break
            if path := self.paths.shown(number):
                files.append(PastFile(path, counts[number], round(values[number] / (1 + values[number]), 3)))
        return files


def brief(commit: PastCommit) -> PastCommit:
    """Return a commit with the first few of its files."""
    rest = commit.files[_MOST_FILES:]
    return replace(commit, files=commit.files[:_MOST_FILES], omitted_files=commit.omitted_files + len(rest))


def date_of(seconds: int) -> str:
    """Return the day of a time, in seconds since the epoch, as in 2024-05-31."""
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def describe(
    commit: Commit, redact: Callable[[str], str], root: Path, folder: str, without: Collection[str]
) -> PastCommit:
    """Return a commit from git, with its files that still exist.

    Args:
        commit: the commit.
        redact: removes secrets from a text.
        root, folder: as for `PastAnswers`.
        without: paths, from the top of the repository, to leave out.
    """
    subject = shown_subject(redact(commit.message.strip().partition("\n")[0][:_MAX_SUBJECT_CHARS]))
    changed = [change.path for change in commit.changes if change.path not in without]
    paths = (path[len(folder) :] for path in changed[:_MOST_SOUGHT] if path.startswith(folder))
    shown = tuple(path for path in paths if os.path.lexists(root / path))
    return PastCommit(commit.hash[:12], date_of(commit.seconds), subject, shown, len(changed) - len(shown), 1.0)
