"""The names that files of older commits have now: renames, also those that a branch did not have yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cairn.storage.history.commit_db import NOT_KNOWN, StoredCommit

_MOST_BESIDE = 2_000  # renames that are looked for beside commits, the newest
Parents = dict[bytes, list[bytes]]


class _Rename(NamedTuple):
    """A path that a commit took away and a newer one changed: their numbers, the path, and the file's path now."""

    newer: int
    commit: int
    before: int
    today: int


class Followed(NamedTuple):
    """Files of commits by the paths they have now.

    Attributes:
        changed: by each commit.
        renamed: the path that a file has now, for each that it had before.
        doubtful: those that may have had another name before.
    """

    changed: list[list[int]]
    renamed: dict[int, int]
    doubtful: set[int]


def follow_renames(commits: Sequence[StoredCommit], parents: Parents) -> Followed:
    """Return the files that commits changed, by the paths they have now.

    A path that several files had before is that of the last of them. A commit that is newer than a rename, on a branch
    that did not have it yet, changed the file that was renamed; one that has the rename behind it, another file.

    Args:
        commits: newest first.
        parents: of these commits, and of the merges between them, newest first; what is not there counts as unknown.
    """
    now: dict[int, int] = {}
    last: dict[int, int] = {}
    changed: list[list[int]] = []
    unclear: set[int] = set()
    unmoved: dict[int, list[int]] = {}  # the commits that changed a path which no newer one took away
    beside: list[_Rename] = []
    for number, commit in enumerate(commits):
        numbers = np.frombuffer(commit.paths, np.int32).tolist()
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        today = [now.get(path, path) for path, _ in pairs]
        for path, _ in pairs:
            if path not in now:
                unmoved.setdefault(path, []).append(number)
        for place, (_, before) in enumerate(pairs):
            if before == NOT_KNOWN:
                unclear.add(today[place])
            elif before:
                beside += (_Rename(newer, number, before, today[place]) for newer in unmoved.pop(before, ()))
                now[before] = today[place]
                last.setdefault(before, today[place])
        changed.append(list(dict.fromkeys(today)))
    for rename in _not_behind(beside, commits, parents):
        files = changed[rename.newer]
        changed[rename.newer] = list(dict.fromkeys(rename.today if file == rename.before else file for file in files))
    return Followed(changed, last, unclear)


def _not_behind(renames: Collection[_Rename], commits: Sequence[StoredCommit], parents: Parents) -> list[_Rename]:
    """Return the renames that the newer commits do not have behind them."""
    marks = {one: 1 << place for place, one in enumerate(sorted({one.commit for one in renames})[:_MOST_BESIDE])}
    behind = _marks_behind(parents, {commits[one].hash: mark for one, mark in marks.items()})
    return [
        one
        for one in renames
        if one.commit in marks and not behind.get(commits[one.newer].hash, marks[one.commit]) & marks[one.commit]
    ]


def _marks_behind(parents: Parents, marks: Mapping[bytes, int]) -> dict[bytes, int]:
    """Return the marks of each commit and of all that lie behind it, as the bits of a number."""
    behind: dict[bytes, int] = {}
    for commit in reversed(parents) if marks else ():
        found = marks.get(commit, 0)
        for parent in parents[commit]:
            found |= behind.get(parent, 0)
        behind[commit] = found
    return behind
