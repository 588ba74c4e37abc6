"""Answers from the commits behind a checkout: what solved something like a question, and what changes together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from cairn.history.messages import shown_subject
from cairn.history.past import Past
from cairn.history.score import CommitScores, Weighted, score_commits
from cairn.history.values import PastCommit, PastFile, RelatedFile
from cairn.source.commits import Commit

_MOST_SCORED = 1_000  # commits, of which the files are counted
_MOST_FILES, _MOST_SOUGHT = 8, 1_000  # of a commit, that are shown, and among which those are sought that are there
_MAX_SUBJECT_CHARS = 1_000
# What is added to the commits of a file, and to all, before it is said how often files change together: chance counts.
_RARE, _FEW = 8, 20
LEAST_SHARE = 0.25  # of what was asked for; a commit that says less of it is no answer


class PastAnswers:
    """Answers from a history about the files of a project.

    Args:
        past: the history.
        root: the project's folder.
        folder: where that is in its repository: empty for the top, else with a `/` at the end.
    """

    def __init__(self, past: Past, root: Path, folder: str) -> None:
        self._past = past
        self._folder = folder
        self._exists = cache(lambda path: os.path.lexists(root / path))

    def solve(self, terms: Iterable[Weighted], limit: int) -> tuple[list[PastCommit], list[PastFile], int]:
        """Return the commits that say most of what is looked for, the files they changed, and how many are left out.

        Args:
            terms: what is looked for.
            limit: how many commits, and files; 0 for all.
        """
        found = score_commits(self._past, terms, _MOST_SCORED)
        enough = int((found.shares >= LEAST_SHARE).sum())
        kept = CommitScores(found.commits[:enough], found.shares[:enough])
        commits, shares = kept.commits[: limit or None], kept.shares[: limit or None]
        shown = [self.show(int(one), share) for one, share in zip(commits.tolist(), shares.tolist(), strict=True)]
        return shown, self._files_of(kept, limit), enough - len(shown)

    def of_paths(self, paths: Sequence[str], limit: int) -> tuple[list[PastCommit], list[PastFile], int]:
        """Return the commits that changed a file, or something in a folder, newest first, and what else they changed.

        Args:
            paths: relative to the project.
            limit: as for `solve`.
        """
        numbers = [number for path in paths for number in self._numbers_at(path)]
        places = np.flatnonzero(np.isin(self._past.changes, numbers))
        found = np.unique(np.searchsorted(self._past.change_start, places, side="right") - 1)
        kept = CommitScores(found, np.ones(len(found), np.float32))
        shown = [self.show(one, 1.0) for one in found[: limit or None].tolist()]
        others = [file for file in self._files_of(kept, 0) if file.path not in paths]
        return shown, others[: limit or None], len(found) - len(shown)

    def knows(self, path: str) -> bool:
        """Tell whether any commit changed a file, or something in a folder."""
        return bool(self._numbers_at(path))

    def knows_file(self, path: str) -> bool:
        """Tell whether any commit changed a file, which may be gone."""
        return self._folder + path in self._past.numbers

    def related(self, path: str, limit: int) -> tuple[list[RelatedFile], int, int]:
        """Return what changed in the same commits as a file, how many commits changed it, and how many are left out.

        A commit of few files counts more; a file that changes with everything less, as one of very few commits.

        Args:
            path: relative to the project.
            limit: how many files at most; 0 for all.
        """
        past = self._past
        number = past.numbers.get(self._folder + path, -1)
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
            if place != number and (other := self._shown(place))
        ]
        kept = found[: limit or None]
        return kept, len(commits), len(found) - len(kept)

    def show(self, commit: int, share: float) -> PastCommit:
        """Return a commit as it is shown."""
        past = self._past
        paths = past.paths_of(commit).tolist()
        shown = [path for number in paths if (path := self._shown(number))][:_MOST_FILES]
        return PastCommit(
            past.hash_of(commit)[:12],
            date_of(int(past.seconds[commit])),
            past.subject_of(commit),
            tuple(shown),
            len(paths) - len(shown),
            round(float(share), 3),
        )

    def find(self, commit: str) -> PastCommit | None:
        """Return a commit by its full hash, None if it is not in the history or counts for nothing."""
        number = self._past.number_of(commit)
        return None if number < 0 else self.show(number, 1.0)

    def _files_of(self, found: CommitScores, limit: int) -> list[PastFile]:
        """Return the files that commits changed, those with the best evidence first."""
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
            if path := self._shown(number):
                files.append(PastFile(path, counts[number], round(values[number] / (1 + values[number]), 3)))
        return files

    def _numbers_at(self, path: str) -> list[int]:
        numbers = self._past.numbers
        whole = self._folder + path.rstrip("/")
        if whole in numbers:
            return [numbers[whole]]
        return [number for one, number in numbers.items() if one.startswith(f"{whole}/")]

    def _shown(self, number: int) -> str:
        """Return the path of a file from the project's folder; empty if it is outside or gone."""
        path = self._past.path_of(number)
        own = path[len(self._folder) :] if path.startswith(self._folder) else ""
        return own if own and self._exists(own) else ""


def date_of(seconds: int) -> str:
    """Return the day of a time, in seconds since the epoch, as in 2024-05-31."""
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def describe(commit: Commit, redact: Callable[[str], str], root: Path, folder: str) -> PastCommit:
    """Return a commit as it is shown, as git has it; of its files those that are still there.

    Args:
        commit: the commit.
        redact: takes secrets out of a text.
        root, folder: as for `PastAnswers`.
    """
    subject = shown_subject(redact(commit.message.strip().partition("\n")[0][:_MAX_SUBJECT_CHARS]))
    changed = commit.changes[:_MOST_SOUGHT]
    paths = (change.path[len(folder) :] for change in changed if change.path.startswith(folder))
    shown = list(islice((path for path in paths if os.path.lexists(root / path)), _MOST_FILES))
    rest = len(commit.changes) - len(shown)
    return PastCommit(commit.hash[:12], date_of(commit.seconds), subject, tuple(shown), rest, 1.0)
